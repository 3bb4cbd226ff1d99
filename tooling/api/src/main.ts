// The `api` script of a package: one report a door, from the built declarations. Without arguments it writes
// etc/<door>.api.md; with --check it compares and fails on a difference. The reports are reviewed like code.

import { join } from "node:path";
import { doorsOf } from "./doors.ts";
import { reportDoor } from "./report.ts";

const folder = process.cwd();
const isCheck = process.argv.includes("--check");

let isSame = true;
for (const door of doorsOf(folder)) {
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
process.exitCode = isSame ? 0 : 1;
