// A registry on loopback: verdaccio in this process, on a free port, with its storage in a temporary folder. It knows the
// packages that are published to it and asks no other: a project that installs from it takes all others where npm takes them
// on this machine, by that machine's settings.

import { writeFileSync } from "node:fs";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { runServer } from "verdaccio";

/** A running registry. */
export interface Registry extends AsyncDisposable {
  /** `http://127.0.0.1:<port>/`. */
  readonly url: string;
  /** Where its files are, of this run alone. */
  readonly folder: string;
  /** The scopes of the packages that are its own. */
  readonly scopes: readonly string[];
  /** What npm and pnpm read in a project: where these scopes are, and the token by which to publish there. */
  readonly npmrc: string;
  /** The manifest of a version as it was published. @throws {Error} There is none. */
  manifestOf(name: string, version: string): Promise<PublishedManifest>;
}

/** A published manifest, as far as it is read here. */
export interface PublishedManifest {
  readonly version: string;
  readonly scripts?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
}

const ANSWER_MS = 30_000;

/** Starts it with its files in `folder`, for the packages of these scopes (`@memory`). */
export async function startRegistry(folder: string, scopes: readonly string[]): Promise<Registry> {
  const rules = { access: "$all", publish: "$authenticated" };
  const config = {
    storage: join(folder, "storage"),
    configPath: join(folder, "config.yaml"),
    self_path: folder,
    uplinks: {},
    auth: { htpasswd: { file: join(folder, "htpasswd"), algorithm: "bcrypt", rounds: 4, max_users: 1 } },
    packages: Object.fromEntries(scopes.map((scope) => [`${scope}/*`, rules])),
    web: { enable: false },
    log: { type: "file", path: join(folder, "verdaccio.log"), format: "json", level: "warn" },
  };
  writeFileSync(config.configPath, JSON.stringify(config));
  const server: Server = await runServer(config.configPath);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject).listen(0, "127.0.0.1", resolve);
  });
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}/`;
  const token = await addUser(url);
  return {
    url,
    folder,
    scopes,
    npmrc: [...scopes.map((scope) => `${scope}:registry=${url}`), `//127.0.0.1:${port}/:_authToken=${token}`, ""].join(
      "\n",
    ),
    manifestOf: async (name, version) => {
      const answer = await fetch(`${url}${name.replace("/", "%2f")}/${version}`, {
        signal: AbortSignal.timeout(ANSWER_MS),
      });
      if (!answer.ok) throw new Error(`${name}@${version} is not in the registry: ${answer.status}`);
      return (await answer.json()) as PublishedManifest;
    },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function addUser(url: string): Promise<string> {
  const answer = await fetch(`${url}-/user/org.couchdb.user:publisher`, {
    method: "PUT",
    headers: { "content-type": "application/json" },
    signal: AbortSignal.timeout(ANSWER_MS),
    body: JSON.stringify({ name: "publisher", password: "of-this-run-only" }),
  });
  const { token }: { token?: string } = JSON.parse(await answer.text());
  if (token === undefined) throw new Error(`the registry made no user: ${answer.status}`);
  return token;
}
