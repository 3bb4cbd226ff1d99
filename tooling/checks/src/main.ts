// Runs every check of this repository over the working tree and prints what it found. Exit code 1 on any finding. With
// --write the generated page of deprecations is written before it is compared.

import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { checkArrows } from "./arrows.ts";
import { readDeprecations } from "./deprecations.ts";
import { deprecationsPath, renderDeprecations } from "./deprecations-page.ts";
import { checkFields } from "./fields.ts";
import { readMembers, readText } from "./repository.ts";
import { checkSources } from "./sources.ts";

const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..", "..");
const members = readMembers(root);
const deprecations = readDeprecations(members);
const page = renderDeprecations(deprecations);
if (process.argv.includes("--write")) writeFileSync(join(root, deprecationsPath), page);
const isPageStale = readText(root, deprecationsPath) !== page;

const checks: readonly (readonly [name: string, problems: readonly string[]])[] = [
  ["arrows between packages and layers", checkArrows(members)],
  ["package fields and files", checkFields(members)],
  ["source files", checkSources(members)],
  ["deprecations", deprecations.problems],
  [deprecationsPath, isPageStale ? ["the sources say otherwise; `npm run check -- --write` writes it anew"] : []],
];

for (const [name, problems] of checks) {
  console.log(`${problems.length === 0 ? "passed" : "failed"}  ${name}`);
  for (const problem of problems) console.error(`        ${problem}`);
}
process.exitCode = checks.every(([, problems]) => problems.length === 0) ? 0 : 1;
