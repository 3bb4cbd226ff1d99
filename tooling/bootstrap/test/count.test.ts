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

function count(
  lanesPassed: number,
  lanesFailed: number,
): {
  text: string;
  last: string | undefined;
  status: number | null;
} {
  const result = spawnSync(process.execPath, [script, String(lanesPassed), String(lanesFailed), folder], {
    encoding: "utf8",
  });
  return { text: result.stdout, last: result.stdout.trimEnd().split("\n").at(-1), status: result.status };
}

test("tests of both runners and lanes are added up on the last line", () => {
  member("packages/core", { "vitest.json": vitestReport(5, 0) });
  member("packages/testing", { "vitest.json": vitestReport(2, 0), "node-test.tap": "# tests 3\n# pass 3\n# fail 0\n" });
  member("tooling/checks", { "vitest.json": vitestReport(4, 0) });
  expect(count(9, 0)).toMatchObject({ last: "23 passed, 0 failed", status: 0 });
});

test.each([
  ["a failed test", { "vitest.json": vitestReport(1, 1) }, 0],
  ["a failed node:test", { "vitest.json": vitestReport(1, 0), "node-test.tap": "# pass 0\n# fail 1\n" }, 0],
  ["a file that does not load", { "vitest.json": vitestReport(1, 0, [{ status: "failed", assertionResults: [] }]) }, 0],
  ["a failed lane", { "vitest.json": vitestReport(1, 0) }, 1],
])("%s fails the whole", (_, reports, lanesFailed) => {
  member("packages/core", reports);
  expect(count(0, lanesFailed)).toMatchObject({ last: "1 passed, 1 failed", status: 1 });
});

test.each([{}, { "vitest.json": vitestReport(0, 0) }])("a package in which nothing ran fails the whole", (reports) => {
  member("packages/core", reports);
  expect(count(1, 0)).toMatchObject({ last: "1 passed, 1 failed", status: 1 });
});

test("what failed is told by name right before the total", () => {
  const failed = { status: "failed", fullName: "keeps a row", failureMessages: ["expected 1\nto be 2"] };
  const passed = { status: "passed", fullName: "reads a row", failureMessages: [] };
  const file = { name: "a.test.ts", status: "failed", assertionResults: [passed, failed] };
  const unloaded = { name: "b.test.ts", status: "failed", message: "no such module", assertionResults: [] };
  member("packages/core", { "vitest.json": vitestReport(1, 1, [file, unloaded]) });
  member("packages/testing", { "node-test.tap": "# tests 1\nnot ok 1 - under node\n# pass 0\n# fail 1\n" });
  expect(count(0, 0).text).toBe(
    [
      "failed test: a.test.ts: keeps a row\n    expected 1\n    to be 2",
      "failed test: b.test.ts\n    no such module",
      "failed test: packages/testing: under node",
      "2 test reports read, 0 tests skipped (each said why)",
      "1 passed, 3 failed\n",
    ].join("\n"),
  );
});

test("a tooling package without tests is no failure", () => {
  member("tooling/tsconfig", {});
  expect(count(1, 0)).toMatchObject({ last: "1 passed, 0 failed", status: 0 });
});
