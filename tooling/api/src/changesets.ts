// Changesets, and the sizes that they announce. Only their front matter is read.

import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";

/** How much of the version a change moves. */
export type ChangeSize = "none" | "patch" | "minor" | "major";

const sizes: readonly ChangeSize[] = ["none", "patch", "minor", "major"];

/** The larger of two sizes. */
export function larger(left: ChangeSize, right: ChangeSize): ChangeSize {
  return sizes.indexOf(right) > sizes.indexOf(left) ? right : left;
}

/** The texts of the pending changesets in a folder; none where there is no such folder. */
export function readChangesets(folder: string): readonly string[] {
  return globSync("*.md", { cwd: folder })
    .filter((path) => basename(path) !== "README.md")
    .map((path) => readFileSync(join(folder, path), "utf8"));
}

/** The largest size that each package is given by the changesets. */
export function announcedSizes(changesets: readonly string[]): ReadonlyMap<string, ChangeSize> {
  const announced = new Map<string, ChangeSize>();
  for (const text of changesets) {
    const frontMatter = /^---\r?\n([\s\S]*?)\r?\n---/.exec(text)?.[1] ?? "";
    for (const match of frontMatter.matchAll(/^["']?([^"'\n]+?)["']?:\s*(patch|minor|major)\s*$/gm)) {
      const [, name = "", word] = match;
      const size = sizes.find((candidate) => candidate === word) ?? "none";
      announced.set(name, larger(announced.get(name) ?? "none", size));
    }
  }
  return announced;
}

/** The size of the step from one version to a later one: of versions that were bumped already. */
export function stepBetween(released: string, version: string): ChangeSize {
  const before = released.split(".").map(Number);
  const part = version.split(".").findIndex((text, index) => Number.parseInt(text, 10) !== before[index]);
  return part === -1 ? "none" : ([...sizes].reverse()[part] ?? "none");
}

/** The version that a step of this size leads to. */
export function nextVersion(released: string, size: ChangeSize): string {
  const [major = 0, minor = 0, patch = 0] = released.split(".").map((text) => Number.parseInt(text, 10));
  if (size === "major") return `${major + 1}.0.0`;
  if (size === "minor") return `${major}.${minor + 1}.0`;
  return size === "patch" ? `${major}.${minor}.${patch + 1}` : released;
}
