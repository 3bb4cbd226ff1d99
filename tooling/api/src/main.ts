// Without a command it is the `api` script of a package: the reports of the package in the working folder, written, or
// compared with --check. The commands are about a release: what a change is (`classify`), whether it may be released
// (`check`), and keeping what was (`release`). Exit codes: 0 as it should be; 1 a finding, or a change that breaks;
// 2 nothing could be compared.

import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { readChangesets } from "./changesets.ts";
import { classify } from "./classify.ts";
import { FamilyError, readFamily } from "./families.ts";
import { judgeRelease } from "./judge.ts";
import { readReleased, writeReleased } from "./released.ts";

const usage = `usage: main.ts [--check]
       main.ts classify --before DIR --after DIR
       main.ts check [--before DIR] [--after DIR] [--changesets DIR]
       main.ts release [--packages DIR]
A DIR holds packages with built declarations: packages/, node_modules/@memory, or one package.`;

const root = fileURLToPath(new URL("../../../", import.meta.url));

try {
  process.exitCode = await run(process.argv.slice(2));
} catch (error) {
  const findings = error instanceof FamilyError ? error.findings : readUsageError(error);
  for (const finding of findings) console.error(finding);
  process.exitCode = 2;
}

async function run(args: readonly string[]): Promise<number> {
  const { positionals, values } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      check: { type: "boolean" },
      before: { type: "string" },
      after: { type: "string" },
      changesets: { type: "string" },
      packages: { type: "string" },
    },
  });
  const [command, ...rest] = positionals;
  if (rest.length > 0) return sayUsage();
  if (command === undefined) {
    // API Extractor brings a compiler of its own, which the commands do without.
    const { reportPackage } = await import("./reports.ts");
    return reportPackage(process.cwd(), values.check === true) ? 0 : 1;
  }
  if (command === "release") return release(values.packages ?? join(root, "packages"));
  if (command === "check") return check(values);
  if (command !== "classify" || values.before === undefined || values.after === undefined) return sayUsage();
  return sayClass(values.before, values.after);
}

function sayClass(before: string, after: string): number {
  const classification = classify(readFamily(before), readFamily(after));
  console.log(JSON.stringify(classification, undefined, 2));
  return classification.change === "breaking" ? 1 : 0;
}

function check(folders: { before?: string; after?: string; changesets?: string }): number {
  const packages = folders.after ?? join(root, "packages");
  const before = folders.before === undefined ? readReleased(packages) : readFamily(folders.before);
  const after = readFamily(packages);
  const classification = classify(before, after);
  const changesets = readChangesets(folders.changesets ?? join(root, ".changeset"));
  const problems = judgeRelease({ before, after, classification, changesets });
  for (const problem of problems) console.error(problem);
  const count = classification.findings.length;
  console.log(`${count} difference${count === 1 ? "" : "s"} from the last release: ${classification.size}`);
  return problems.length === 0 ? 0 : 1;
}

function release(packages: string): number {
  for (const { name, version } of writeReleased(packages)) console.log(`${name}: etc/released is ${version}`);
  return 0;
}

function sayUsage(): number {
  console.error(usage);
  return 2;
}

function readUsageError(error: unknown): readonly string[] {
  const isUsage = error instanceof TypeError && "code" in error && String(error.code).startsWith("ERR_PARSE_ARGS");
  if (!isUsage) throw error;
  return [error.message, usage];
}
