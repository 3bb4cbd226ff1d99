// Packs every published package as the registry would get it: workspace ranges and catalog names replaced.

import { execFileSync } from "node:child_process";
import { globSync, mkdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** A packed package: its name, its folder, and where its tarball lies. */
export interface Packed {
  readonly name: string;
  readonly folder: string;
  readonly tarball: string;
}

/** Packs the packages under `root` into `destination`. They have to be built. */
export function packAll(root: string, destination: string): readonly Packed[] {
  mkdirSync(destination, { recursive: true });
  return globSync("packages/*/package.json", { cwd: root })
    .sort()
    .map((path) => {
      const folder = join(root, dirname(path));
      const { name, version }: { name: string; version: string } = JSON.parse(readFileSync(join(root, path), "utf8"));
      const tarball = join(destination, `${name.replace("@", "").replace("/", "-")}-${version}.tgz`);
      execFileSync("pnpm", ["pack", "--out", tarball], { cwd: folder, stdio: ["ignore", "ignore", "inherit"] });
      return { name, folder, tarball };
    });
}
