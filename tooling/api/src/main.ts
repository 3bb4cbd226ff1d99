// The `api` script of a package: one report a door, from the built declarations. Without arguments it writes
// etc/<door>.api.md; with --check it compares and fails on a difference. The reports are reviewed like code.

import { globSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { doorsOf } from "./doors.ts";
import { reportDoor } from "./report.ts";

const folder = process.cwd();
const isCheck = process.argv.includes("--check");

let isSame = true;
const doors = doorsOf(folder);
for (const door of doors) {
  const outcome = reportDoor(folder, door, isCheck);
  const path = join("etc", `${door.name}.api.md`);
  if (outcome.problems.length > 0) isSame = false;
  for (const problem of outcome.problems) console.error(`${path}: ${problem}`);
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
process.exitCode = isSame ? 0 : 1;
