// Packs every published package as the registry would get it: workspace ranges and catalog names replaced.

import { spawnSync } from "node:child_process";
import { globSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";

/** A packed package: its name, its folder, and where its tarball lies. */
export interface Packed {
  readonly name: string;
  readonly folder: string;
  readonly tarball: string;
}

/** A package could not be packed; `findings` says what came of it, and what to do. */
export class PackError extends Error {
  override readonly name = "PackError";
  readonly packageName: string;
  readonly findings: readonly string[];
  constructor(packageName: string, findings: readonly string[]) {
    super(`${packageName} could not be packed`);
    this.packageName = packageName;
    this.findings = findings;
  }
}

/**
 * Packs the packages under `root` into `destination`, whose tarballs of before go. They have to be built.
 *
 * @throws {PackError} One of them could not be packed.
 */
export function packAll(root: string, destination: string): readonly Packed[] {
  mkdirSync(destination, { recursive: true });
  for (const old of globSync("*.tgz", { cwd: destination })) rmSync(join(destination, old));
  return globSync("packages/*/package.json", { cwd: root })
    .sort()
    .map((path) => {
      const folder = join(root, dirname(path));
      const { name, version }: { name: string; version: string } = JSON.parse(readFileSync(join(root, path), "utf8"));
      const tarball = join(destination, `${name.replace("@", "").replace("/", "-")}-${version}.tgz`);
      const shell = process.platform === "win32"; // where pnpm is a .cmd file
      const result = spawnSync("pnpm", ["pack", "--out", tarball], { cwd: folder, encoding: "utf8", shell });
      if (result.status !== 0) throw new PackError(name, findingsOf(result));
      return { name, folder, tarball };
    });
}

function findingsOf({ error, stdout, stderr }: ReturnType<typeof spawnSync>): readonly string[] {
  if (error !== undefined) {
    return [`pnpm did not start (${error.message})`, "run it by `npm run pack`, which finds or fetches pnpm"];
  }
  const said = `${stdout}${stderr}`.trim().split("\n").slice(-20);
  return ["`pnpm pack` failed and said:", ...said, "run `npm run build`, then `pnpm pack` in the package's folder"];
}
