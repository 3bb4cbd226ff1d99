// The family in a repository of its own: a copy of this one's files in a temporary folder, with a history that begins there,
// changed and released by the same commands by which this one is.

import { cpSync, existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Ended, must, run } from "./command.ts";
import type { Registry } from "./registry.ts";

/** The copy. */
export interface Family {
  readonly folder: string;
  /** The version that its packages have now. */
  version(): string;
  /** Replaces a text in a file. @throws {Error} It is not there: the example has to be brought up to date. */
  replace(path: string, before: string | RegExp, after: string): void;
  /** Writes a file. */
  write(path: string, text: string): void;
  read(path: string): string;
  /** Runs a script of its root (`check`, `api`), whichever way it ends. */
  script(name: string, ...args: readonly string[]): Promise<Ended>;
  /** The same for one that has to succeed. @throws {CommandError} It did not. */
  mustScript(name: string, ...args: readonly string[]): Promise<Ended>;
  /** Takes back everything since the last commit. */
  takeBack(): Promise<void>;
  commit(text: string): Promise<void>;
  /** Turns the pending changesets into a version and publishes it. Gives the version. */
  release(): Promise<string>;
}

/** Copies what git knows or would take of the repository at `root` into `folder`, and makes a repository of it. */
export async function copyFamily(root: string, folder: string, registry: Registry): Promise<Family> {
  const listed = await must("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], { cwd: root });
  for (const path of listed.stdout.split("\0").filter((one) => one !== "" && existsSync(join(root, one)))) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    cpSync(join(root, path), join(folder, path));
  }
  writeFileSync(join(folder, ".npmrc"), registry.npmrc);
  beginAnew(folder);
  const git = (...args: readonly string[]) => must("git", args, { cwd: folder });
  await git("init", "--quiet", "--initial-branch=main");
  const settings = { "user.name": "upgrade", "user.email": "upgrade@localhost", "commit.gpgsign": "false" };
  for (const [name, value] of Object.entries({ ...settings, "tag.gpgsign": "false" })) await git("config", name, value);

  const path = (name: string) => join(folder, name);
  const read = (name: string) => readFileSync(path(name), "utf8");
  const argsOf = (name: string, args: readonly string[]) => [path("tooling/bootstrap/main.mjs"), name, "--", ...args];
  const family: Family = {
    folder,
    version: () => (JSON.parse(read("packages/core/package.json")) as { version: string }).version,
    read,
    write: (name, text) => writeFileSync(path(name), text),
    replace: (name, before, after) => {
      const text = read(name);
      const replaced = text.replaceAll(before, after);
      if (replaced === text)
        throw new Error(`${name} has no ${before}: bring the example in src/example.ts up to date`);
      writeFileSync(path(name), replaced);
    },
    script: (name, ...args) => run(process.execPath, argsOf(name, args), { cwd: folder }),
    mustScript: (name, ...args) => must(process.execPath, argsOf(name, args), { cwd: folder }),
    takeBack: async () => {
      await git("reset", "--quiet", "--hard");
      await git("clean", "--quiet", "-d", "--force");
    },
    commit: async (text) => {
      await git("add", "--all");
      await git("commit", "--quiet", "--allow-empty", "--message", text);
    },
    release: async () => {
      await family.mustScript("bump");
      await family.commit(`release ${family.version()}`);
      // Only the machine of the workflow that publishes can sign.
      const env = { pnpm_config_provenance: "false" };
      await must(process.execPath, argsOf("release", []), { cwd: folder, env });
      return family.version();
    },
  };
  await family.commit("as it is");
  return family;
}

// As if nothing had been released: no floor of a peer and no surface of a release that this repository knows nothing of, and
// something to release.
function beginAnew(folder: string): void {
  for (const name of globSync("packages/*/package.json", { cwd: folder })) {
    const text = readFileSync(join(folder, name), "utf8");
    const anew = text.replace(/("peerDependencies": \{\s*"@memory\/core": ">=)\d+\.\d+\.\d+/, "$10.0.0");
    writeFileSync(join(folder, name), anew);
    rmSync(join(folder, dirname(name), "etc", "released"), { recursive: true, force: true });
  }
  writeFileSync(join(folder, ".changeset/upgrade.md"), '---\n"@memory/core": minor\n---\n\nAs it is.\n');
}
