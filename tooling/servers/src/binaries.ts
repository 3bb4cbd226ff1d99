// Server binaries installed on this machine: on the path, and where packages put them beside it.

import { spawnSync } from "node:child_process";
import { accessSync, constants, existsSync, readdirSync } from "node:fs";
import { delimiter, join } from "node:path";

/** A server binary and the version it names itself. */
export interface Binary {
  readonly path: string;
  readonly version: string;
}

const usualFolders = [
  "/usr/bin",
  "/usr/local/bin",
  "/usr/sbin",
  "/opt/homebrew/bin",
  "/opt/redis/bin",
  "/opt/valkey/bin",
];
const postgresRoots = ["/usr/lib/postgresql", "/usr/local/lib/postgresql"];

/** The first executable file of that name on the path or in the usual folders. */
export function findOnPath(name: string): string | undefined {
  const folders = [...(process.env["PATH"] ?? "").split(delimiter), ...usualFolders];
  return folders.map((folder) => join(folder, name)).find(isExecutable);
}

/** The Redis (or Valkey) server of this machine. */
export function findRedisBinary(flavour: "redis" | "valkey"): Binary | undefined {
  const path = findOnPath(`${flavour}-server`);
  if (path === undefined) return undefined;
  const text = spawnSync(path, ["--version"], { encoding: "utf8" }).stdout ?? "";
  // Debian's valkey package can stand in for redis-server by a link, which must not pass for Redis.
  const version = new RegExp(`${flavour}\\b.*\\bv=([\\d.]+)`, "i").exec(text)?.[1];
  return version === undefined ? undefined : { path, version };
}

/** The folder of PostgreSQL's programs: of that major version, or of the newest. */
export function findPostgresFolder(major?: number): (Binary & { readonly major: number }) | undefined {
  const onPath = findOnPath("postgres");
  const folders = [
    ...postgresRoots
      .filter((root) => existsSync(root))
      .flatMap((root) => readdirSync(root).map((name) => join(root, name, "bin"))),
    ...(onPath === undefined ? [] : [join(onPath, "..")]),
  ];
  return folders
    .filter((folder) => isExecutable(join(folder, "postgres")) && isExecutable(join(folder, "initdb")))
    .map((path) => {
      const text = spawnSync(join(path, "postgres"), ["--version"], { encoding: "utf8" }).stdout ?? "";
      const version = /(\d+(?:\.\d+)?)/.exec(text)?.[1] ?? "0";
      return { path, version, major: Number.parseInt(version, 10) };
    })
    .filter((found) => major === undefined || found.major === major)
    .sort((left, right) => right.major - left.major)[0];
}

/** Whether `CREATE EXTENSION` of that name can work with these programs. */
export function hasExtension(folder: Binary, name: string): boolean {
  const { stdout } = spawnSync(join(folder.path, "pg_config"), ["--sharedir"], { encoding: "utf8" });
  return existsSync(join((stdout ?? "").trim(), "extension", `${name}.control`));
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
