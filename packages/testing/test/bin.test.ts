// What `memory-conformance` prints of reports, and what it ends with, so that a CI job can insist on conformance.

import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { conformanceCases } from "../src/cases.ts";
import { conformanceDocument } from "../src/document.ts";
import { faultyDriver } from "../src/faulty-driver.ts";
import { formatDocument } from "../src/markdown.ts";
import { conformanceReport } from "../src/report.ts";
import { inMemoryTarget } from "./in-memory-target.ts";

const folder = mkdtempSync(join(tmpdir(), "memory-bin-"));
const [sound, broken, other] = ["sound.json", "broken.json", "other.json"].map((name) => join(folder, name));
const run = (...args: readonly (string | undefined)[]) =>
  spawnSync(
    process.execPath,
    ["--conditions=@memory/source", fileURLToPath(new URL("../src/bin.ts", import.meta.url)), ...args.map(String)],
    { encoding: "utf8" },
  );
let markdown: readonly string[] = [];

beforeAll(async () => {
  const cases = conformanceCases.filter(({ id }) => id.startsWith("events/"));
  const fatal = inMemoryTarget({}, (driver) => faultyDriver(driver, [{ fault: "fatal", times: 1_000 }]).driver);
  const documents = await Promise.all(
    [inMemoryTarget(), fatal].map(async (target) => conformanceDocument(await conformanceReport(target, { cases }))),
  );
  for (const [at, path] of [sound, broken].entries()) writeFileSync(String(path), JSON.stringify(documents[at]));
  writeFileSync(String(other), JSON.stringify({ numPassedTests: 3 }));
  markdown = documents.map(formatDocument);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("prints a report as Markdown, and ends with 0 where the adapter conforms", () => {
  expect(run(sound)).toMatchObject({ status: 0, stdout: markdown[0], stderr: "" });
  expect(run("--quiet", sound)).toMatchObject({ status: 0, stdout: "", stderr: "" });
});

test("ends with 1 where one of the adapters does not conform", () => {
  expect(run(sound, broken)).toMatchObject({ status: 1, stdout: markdown.join("\n"), stderr: "" });
});

test("ends with 2 and says why where it is given no report", () => {
  const hollow = join(folder, "hollow.json");
  const { kept: _, ...rest } = JSON.parse(readFileSync(String(sound), "utf8"));
  writeFileSync(hollow, JSON.stringify(rest));
  for (const args of [[], [other], [hollow], ["--quiet", hollow], [join(folder, "missing.json")], ["--loud", sound]]) {
    const { status, stdout, stderr } = run(...args);
    expect([status, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(/.+\nmemory-conformance \[--quiet\] REPORT\.json\.\.\.\n$/);
  }
});
