// The packages of one side of a comparison, as a folder holds them: a workspace's packages/, a node_modules/, or one
// package alone. What belongs to one family is resolved within it, so that old adapters meet the old core.

import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { doorsOf } from "./doors.ts";

/** A door as a file: its name (`index` for the main one) and the absolute path of its declarations. */
export interface DoorFile {
  readonly name: string;
  readonly path: string;
}

/** One package of a family, its folder absolute. */
export interface FamilyPackage {
  readonly name: string;
  readonly version: string;
  readonly folder: string;
  readonly doors: readonly DoorFile[];
}

/** All packages of one side, by name. */
export type Family = readonly FamilyPackage[];

/** A family could not be read: a door is not built, a declaration has errors. `findings` says what, one a line. */
export class FamilyError extends Error {
  override readonly name = "FamilyError";
  readonly findings: readonly string[];
  constructor(findings: readonly string[]) {
    super(findings.join("\n"));
    this.findings = findings;
  }
}

/**
 * Reads every package with typed doors in `folder` itself, in its subfolders, and in those of a scope (`@name/`). With
 * `within`, a package stands in that subfolder of its own (`etc/released`). A folder without any is an empty family.
 *
 * @throws {FamilyError} The declarations of a door are not there.
 */
export function readFamily(folder: string, within = "."): Family {
  const root = resolve(folder);
  const packages = ["", "*/", "@*/*/"]
    .flatMap((prefix) => globSync(join(`${prefix}${within}`, "package.json").replaceAll("\\", "/"), { cwd: root }))
    .map((path) => readPackage(join(root, dirname(path))))
    .filter(({ doors }) => doors.length > 0)
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  const missing = packages.flatMap(({ doors }) => doors.filter(({ path }) => !existsSync(path)));
  if (missing.length > 0) throw new FamilyError(missing.map(({ path }) => `${path} is not built`));
  return packages;
}

function readPackage(folder: string): FamilyPackage {
  const {
    name = folder,
    version = "0.0.0",
    exports,
  }: { name?: string; version?: string; exports?: unknown } = JSON.parse(
    readFileSync(join(folder, "package.json"), "utf8"),
  );
  const doors = typeof exports === "object" && exports !== null ? doorsOf(folder) : [];
  return { name, version, folder, doors: doors.map((door) => ({ name: door.name, path: join(folder, door.types) })) };
}
