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
const MESSAGE_LINES = 12;
/** What failed, by name: the log of a whole run is long, and its end is what is read first. */
const failures = [];

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
      const unloaded = report.testResults.filter(isFailedWithoutTest);
      failed += report.numFailedTests + unloaded.length;
      for (const file of report.testResults) {
        if (unloaded.includes(file)) failures.push(`${file.name}\n${indent(file.message)}`);
        for (const { status, fullName, failureMessages } of file.assertionResults) {
          if (status === "failed") failures.push(`${file.name}: ${fullName}\n${indent(failureMessages.join("\n"))}`);
        }
      }
    }
    let ran = vitest === undefined ? 0 : JSON.parse(vitest).numTotalTests;
    const tap = readReport(join(folder, "node-test.tap"));
    if (tap !== undefined) {
      passed += readTapTotal(tap, "pass");
      failed += readTapTotal(tap, "fail") + readTapTotal(tap, "cancelled");
      skipped += readTapTotal(tap, "skipped");
      for (const [, name] of tap.matchAll(/^\s*not ok \d+ - (.*)$/gm)) failures.push(`${group}/${member}: ${name}`);
      ran += readTapTotal(tap, "tests");
    }
    if (group === "packages" && ran === 0) {
      console.log(`packages/${member}: no test ran, which counts as a failure`);
      failed += 1;
    }
  }
}

for (const failure of failures) console.log(`failed test: ${failure}`);
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

/** The head of a message, under its test. */
function indent(message = "") {
  const lines = message.split("\n").slice(0, MESSAGE_LINES);
  return lines.map((line) => `    ${line}`).join("\n");
}

function isFailedWithoutTest(file) {
  return file.status === "failed" && file.assertionResults.every(({ status }) => status !== "failed");
}

function readTapTotal(tap, name) {
  return Number(new RegExp(`^# ${name} (\\d+)$`, "m").exec(tap)?.[1] ?? 0);
}
