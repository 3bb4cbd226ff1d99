// The pages of this repository: everything in Markdown that a person is meant to read. Changelogs and API reports are
// written by tools and stand elsewhere.

import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** The repository's root. */
export const root: string = fileURLToPath(new URL("../../..", import.meta.url));

/** A page and where it stands. */
export interface Page {
  /** From the root, with `/`. */
  readonly path: string;
  readonly markdown: string;
}

/** Every page, by path. */
export function readPages(): readonly Page[] {
  return globSync(["README.md", "docs/**/*.md", "packages/*/README.md", "tooling/*/README.md"], { cwd: root })
    .map((path) => path.replaceAll("\\", "/"))
    .sort()
    .map((path) => ({ path, markdown: readFileSync(join(root, path), "utf8") }));
}
