// Writes etc/cases.json anew, after a case was added. To be run in this package:
// `node --conditions=@memory/source test/docs/write-case-register.ts`. Refuses what would change a released case.

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { conformanceCases } from "../../src/cases.ts";
import { registerOf, registerProblems } from "./case-register.ts";

const path = new URL("../../etc/cases.json", import.meta.url);
const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
const before = existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : {};
const after = registerOf(conformanceCases);
const problems = registerProblems(before, after, version);
for (const problem of problems) console.error(problem);
if (problems.length === 0) writeFileSync(path, `${JSON.stringify(after, undefined, 2)}\n`);
else process.exitCode = 1;
