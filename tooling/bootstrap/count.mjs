// Adds up what the test runs left in reports/ (Vitest's JSON, node:test's TAP) and what the lanes of .ci/run ended
// with, and prints the one line of totals. Usage: count.mjs <lanes passed> <lanes failed> [folder of the repository]

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root as ownRoot } from "./environment.mjs";

const [lanesPassed = "0", lanesFailed = "0", root = ownRoot] = process.argv.slice(2);
let passed = Number(lanesPassed);
let failed = Number(lanesFailed);
let skipped = 0;
let reportsRead = 0;

for (const group of ["packages", "tooling"]) {
  for (const member of readdirSync(join(root, group))) {
    if (!existsSync(join(root, group, member, "package.json"))) continue;
    const folder = join(root, group, member, "reports");
    const vitest = readReport(join(folder, "vitest.json"));
    if (vitest !== undefined) {
      const report = JSON.parse(vitest);
      passed += report.numPassedTests;
      skipped += report.numPendingTests + report.numTodoTests;
      // A file that could not be loaded fails without a test in it.
      failed += report.numFailedTests + report.testResults.filter(isFailedWithoutTest).length;
    }
    let ran = vitest === undefined ? 0 : JSON.parse(vitest).numTotalTests;
    const tap = readReport(join(folder, "node-test.tap"));
    if (tap !== undefined) {
      passed += readTapTotal(tap, "pass");
      failed += readTapTotal(tap, "fail") + readTapTotal(tap, "cancelled");
      skipped += readTapTotal(tap, "skipped");
      ran += readTapTotal(tap, "tests");
    }
    if (group === "packages" && ran === 0) {
      console.log(`packages/${member}: no test ran, which counts as a failure`);
      failed += 1;
    }
  }
}

console.log(`${reportsRead} test reports read, ${skipped} tests skipped (each said why)`);
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 ? 1 : 0;

function readReport(path) {
  try {
    const text = readFileSync(path, "utf8");
    reportsRead += 1;
    return text;
  } catch (error) {
    if (error.code !== "ENOENT") throw error;
    return undefined;
  }
}

function isFailedWithoutTest(file) {
  return file.status === "failed" && file.assertionResults.every(({ status }) => status !== "failed");
}

function readTapTotal(tap, name) {
  return Number(new RegExp(`^# ${name} (\\d+)$`, "m").exec(tap)?.[1] ?? 0);
}
