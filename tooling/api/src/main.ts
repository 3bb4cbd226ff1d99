// The `api` script of a package: one report a door, from the built declarations. Without arguments it writes
// etc/<door>.api.md; with --check it compares and fails on a difference. The reports are reviewed like code. A type
// that a door shows has to be exported by one of the package's doors, or nobody could name it.

import { globSync, readFileSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { doorsOf } from "./doors.ts";
import { reportDoor } from "./report.ts";

const folder = process.cwd();
const isCheck = process.argv.includes("--check");

let isSame = true;
const shown = new Map<string, string>();
const doors = doorsOf(folder);
for (const door of doors) {
  const outcome = reportDoor(folder, door, isCheck);
  const path = join("etc", `${door.name}.api.md`);
  if (outcome.problems.length > 0) isSame = false;
  for (const problem of outcome.problems) console.error(`${path}: ${problem}`);
  for (const symbol of outcome.unexported) shown.set(symbol, path);
  if (isCheck && outcome.isChanged) {
    isSame = false;
    console.error(`${path}: the public API differs from its report; \`npm run api\` writes it anew`);
  } else {
    console.log(`${path}: ${outcome.isChanged ? "written" : "unchanged"}`);
  }
}

for (const path of globSync("etc/*.api.md")) {
  if (doors.some(({ name }) => basename(path) === `${name}.api.md`)) continue;
  if (isCheck) {
    isSame = false;
    console.error(`${path}: there is no such door; \`npm run api\` removes its report`);
  } else {
    rmSync(path);
    console.log(`${path}: removed, there is no such door`);
  }
}

const exported = new Set(
  globSync("etc/*.api.md").flatMap((path) =>
    [...readFileSync(path, "utf8").matchAll(/^export .*?\b(?:class|const|function|interface|type) (\w+)/gm)].map(
      (match) => match[1] ?? "",
    ),
  ),
);
for (const [symbol, path] of shown) {
  if (exported.has(symbol)) continue;
  isSame = false;
  console.error(`${path}: it shows ${symbol}, which no door exports`);
}
process.exitCode = isSame ? 0 : 1;
