// PgBouncer before a PostgreSQL server, in transaction mode: no statement may count on the connection that the last one had.

import { execFileSync, spawnSync } from "node:child_process";
import { chownSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findOnPath } from "./binaries.ts";
import { createHome, removeHome } from "./home.ts";
import { isRequired, MissingServerError, sayOnce } from "./missing.ts";
import { reservePort } from "./ports.ts";
import { type ServerProcess, startProcess } from "./process.ts";

/** A running pooler. */
export interface PgBouncer extends AsyncDisposable {
  /** `postgres://` URL of the same database, by way of the pooler. */
  readonly url: string;
  readonly port: number;
  readonly version: string;
  readonly isRunning: boolean;
  /** The last 8 KiB that it logged since its start. */
  log(): string;
  /** Starts it again on the same port; kills it first where it still runs. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** Where the pooler stands. */
export interface PgBouncerOptions {
  /** URL of the server's database. A password in it is used towards the server; clients need none. */
  readonly target: string;
  /** How many connections to the server it keeps; 5 by default, less than a store's pool. */
  readonly poolSize?: number;
}

/** A pooler that can be started here, or why there is none. */
export interface PgBouncerLane {
  readonly isMissing: boolean;
  readonly description: string;
  /** @throws {MissingServerError} when the lane is missing. */
  start(options: PgBouncerOptions): Promise<PgBouncer>;
}

const host = "127.0.0.1";

/**
 * Looks for PgBouncer without starting it, and prints once what was found.
 *
 * @throws {MissingServerError} when there is none and CI=true.
 */
export function findPgBouncer(): PgBouncerLane {
  const path = findOnPath("pgbouncer");
  if (path === undefined) {
    const description = "no pgbouncer: not installed here";
    if (isRequired()) throw new MissingServerError(description);
    sayOnce(`${description}. Its tests are skipped`);
    return { isMissing: true, description, start: () => Promise.reject(new MissingServerError(description)) };
  }
  const text = spawnSync(path, ["--version"], { encoding: "utf8" }).stdout ?? "";
  const version = /PgBouncer ([\d.]+)/.exec(text)?.[1] ?? "unknown";
  const description = `pgbouncer ${version} from ${path}`;
  sayOnce(description);
  return { isMissing: false, description, start: (options) => startPooler(path, version, options) };
}

async function startPooler(
  path: string,
  version: string,
  { target, poolSize = 5 }: PgBouncerOptions,
): Promise<PgBouncer> {
  const folder = createHome();
  const port = await reservePort();
  const { hostname, port: targetPort, username, password, pathname } = new URL(target);
  const secret = password === "" ? "" : ` password=${decodeURIComponent(password)}`;
  const file = join(folder, "pgbouncer.ini");
  writeFileSync(
    file,
    [
      "[databases]",
      `* = host=${hostname} port=${targetPort} user=${decodeURIComponent(username)}${secret}`,
      "[pgbouncer]",
      `listen_addr = ${host}`,
      `listen_port = ${port}`,
      "unix_socket_dir =",
      "auth_type = any",
      "pool_mode = transaction",
      `default_pool_size = ${poolSize}`,
      "max_client_conn = 200",
      "server_reset_query_always = 0",
      // A server that comes back is found soon; by default it is looked for every 15 s.
      "server_login_retry = 1",
      "",
    ].join("\n"),
  );
  // It does not run as root.
  const owner = process.getuid?.() === 0 ? idsOf("postgres") : undefined;
  if (owner !== undefined) chownSync(file, owner.uid, owner.gid);
  const start = (): Promise<ServerProcess> =>
    startProcess({
      command: path,
      args: [file],
      cwd: folder,
      ready: /process up/,
      onExit: () => removeHome(folder),
      ...(owner === undefined ? {} : { user: owner }),
    });
  try {
    let server = await start();
    const end = async (): Promise<void> => {
      if (server.isRunning) server.signal("SIGKILL");
      await server.waitForEnd();
    };
    const stop = async (): Promise<void> => {
      await end();
      removeHome(folder);
    };
    return {
      url: `postgres://${username}@${host}:${port}${pathname}`,
      port,
      version,
      get isRunning() {
        return server.isRunning;
      },
      log: () => server.output(),
      restart: async () => {
        await end();
        server = await start();
      },
      stop,
      [Symbol.asyncDispose]: stop,
    };
  } catch (error) {
    removeHome(folder);
    throw error;
  }
}

function idsOf(name: string): { readonly uid: number; readonly gid: number } {
  const idOf = (flag: string) => Number(execFileSync("id", [flag, name], { encoding: "utf8" }));
  return { uid: idOf("-u"), gid: idOf("-g") };
}
