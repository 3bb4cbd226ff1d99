// The declarations of the last release, committed: etc/released/ of each package holds what its doors reach, as it was built.
// So what was promised is known without a network, a tag or a registry, and a release shows in review what it promises.

import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { type Family, type FamilyPackage, readFamily } from "./families.ts";
import { readSurface, type Surface } from "./surface.ts";

/** Where a package keeps the declarations of its last release. */
const releasedFolder = "etc/released";

/** Reads what the packages in `folder` promised at their last release; empty before the first. */
export function readReleased(folder: string): Family {
  return readFamily(folder, releasedFolder);
}

/**
 * Writes the built declarations of every package in `folder` as those of its last release, in place of the ones before.
 * Gives the packages. The version step calls it, after the versions were set.
 *
 * @throws {FamilyError} A package is not built.
 */
export function writeReleased(folder: string): Family {
  const family = readFamily(folder);
  const surface = readSurface([family]);
  for (const member of family) writePackage(surface, member);
  return family;
}

function writePackage({ program, packageOf }: Surface, member: FamilyPackage): void {
  const target = join(member.folder, releasedFolder);
  rmSync(target, { recursive: true, force: true });
  const [first] = member.doors;
  if (first === undefined) return;
  const built = dirname(first.path);
  const place = (path: string) => relative(built, path).replaceAll(sep, "/");
  for (const file of program.getSourceFiles()) {
    if (packageOf(file.fileName) !== member) continue;
    const path = join(target, place(file.fileName));
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, file.text.replace(/\s*\/\/# sourceMappingURL=.*\s*$/, "\n"));
  }
  const exports = member.doors.map(({ name, path }) => [
    name === "index" ? "." : `./${name}`,
    { types: `./${place(path)}` },
  ]);
  const manifest = {
    name: member.name,
    version: member.version,
    private: true,
    type: "module",
    exports: Object.fromEntries(exports),
  };
  writeFileSync(join(target, "package.json"), `${JSON.stringify(manifest, undefined, 2)}\n`);
}
