// Small packages on disk, as a build leaves them, for tests of everything that reads folders.

import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** The declarations of a package's doors and of what they import, by path without `.d.ts`. */
export type Declarations = Readonly<Record<string, string>>;

/** Writes a built package into `folder`; `index` and what stands in `doors` are its doors. */
export function writePackage(
  folder: string,
  name: string,
  version: string,
  declarations: Declarations,
  doors: readonly string[] = [],
): void {
  const exports = Object.fromEntries([
    [".", { types: "./dist/index.d.ts", default: "./dist/index.js" }],
    ...doors.map((door) => [`./${door}`, { types: `./dist/${door}.d.ts`, default: `./dist/${door}.js` }]),
    ["./package.json", "./package.json"],
  ]);
  for (const [path, text] of Object.entries(declarations)) {
    const file = join(folder, "dist", `${path}.d.ts`);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, `${text}\n//# sourceMappingURL=${path}.d.ts.map\n`);
  }
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name, version, type: "module", exports }));
}
