// The doors of a package: what its `exports` lets a caller import, without the manifest itself.

import { readFileSync } from "node:fs";
import { join } from "node:path";

/** One door: its report's name (`index` for the main one) and its built declarations, relative to the package. */
export interface Door {
  readonly name: string;
  readonly types: string;
}

/** Lists the doors of the package in `folder`, in the order of its `exports`. */
export function doorsOf(folder: string): readonly Door[] {
  const manifest: { exports: Record<string, string | { types: string }> } = JSON.parse(
    readFileSync(join(folder, "package.json"), "utf8"),
  );
  return Object.entries(manifest.exports).flatMap(([path, target]) =>
    typeof target === "string" ? [] : [{ name: path === "." ? "index" : path.slice(2), types: target.types }],
  );
}
