// The files of docs/conformance.md: its blocks marked `ts file NAME`, each of which stands in a file of that name.

import { readFileSync } from "node:fs";
import { readFences } from "@tooling/snippets/markdown";

/** The page as it is written. */
export function readPage(): string {
  return readFileSync(new URL("../../../docs/conformance.md", import.meta.url), "utf8");
}

/** The files of a page, by name. @throws {Error} Two have one name. */
export function filesOf(markdown: string): ReadonlyMap<string, string> {
  const files = new Map<string, string>();
  for (const { marks, text } of readFences(markdown)) {
    const [mark, name] = marks;
    if (mark !== "file" || name === undefined) continue;
    if (files.has(name)) throw new Error(`two files of the page are called ${name}`);
    files.set(name, `${text}\n`);
  }
  return files;
}
