// The totals line over small hand-written reports.

import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";

const script = join(dirname(fileURLToPath(import.meta.url)), "..", "count.mjs");
let folder = "";

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "memory-count-"));
  for (const group of ["packages", "tooling"]) mkdirSync(join(folder, group));
});

afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

function member(path: string, reports: Readonly<Record<string, string>>): void {
  mkdirSync(join(folder, path, "reports"), { recursive: true });
  writeFileSync(join(folder, path, "package.json"), "{}");
  for (const [name, text] of Object.entries(reports)) writeFileSync(join(folder, path, "reports", name), text);
}

function vitestReport(passed: number, failed: number, testResults: readonly object[] = []): string {
  return JSON.stringify({
    numTotalTests: passed + failed,
    numPassedTests: passed,
    numFailedTests: failed,
    numPendingTests: 0,
    numTodoTests: 0,
    testResults,
  });
}

function count(lanesPassed: number, lanesFailed: number): { last: string | undefined; status: number | null } {
  const result = spawnSync(process.execPath, [script, String(lanesPassed), String(lanesFailed), folder], {
    encoding: "utf8",
  });
  return { last: result.stdout.trimEnd().split("\n").at(-1), status: result.status };
}

test("tests of both runners and lanes are added up on the last line", () => {
  member("packages/core", { "vitest.json": vitestReport(5, 0) });
  member("packages/testing", { "vitest.json": vitestReport(2, 0), "node-test.tap": "# tests 3\n# pass 3\n# fail 0\n" });
  member("tooling/checks", { "vitest.json": vitestReport(4, 0) });
  expect(count(9, 0)).toEqual({ last: "23 passed, 0 failed", status: 0 });
});

test.each([
  ["a failed test", { "vitest.json": vitestReport(1, 1) }, 0],
  ["a failed node:test", { "vitest.json": vitestReport(1, 0), "node-test.tap": "# pass 0\n# fail 1\n" }, 0],
  ["a file that does not load", { "vitest.json": vitestReport(1, 0, [{ status: "failed", assertionResults: [] }]) }, 0],
  ["a failed lane", { "vitest.json": vitestReport(1, 0) }, 1],
])("%s fails the whole", (_, reports, lanesFailed) => {
  member("packages/core", reports);
  expect(count(0, lanesFailed)).toEqual({ last: "1 passed, 1 failed", status: 1 });
});

test.each([{}, { "vitest.json": vitestReport(0, 0) }])("a package in which nothing ran fails the whole", (reports) => {
  member("packages/core", reports);
  expect(count(1, 0)).toEqual({ last: "1 passed, 1 failed", status: 1 });
});

test("a tooling package without tests is no failure", () => {
  member("tooling/tsconfig", {});
  expect(count(1, 0)).toEqual({ last: "1 passed, 0 failed", status: 0 });
});
