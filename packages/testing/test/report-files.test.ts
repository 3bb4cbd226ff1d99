// The files of a report: there from the first case on, true at any moment, wherever the option and the environment say.

import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { ConformanceCase } from "../src/case.ts";
import { conformanceCases } from "../src/cases.ts";
import { memoryStoreConformance } from "../src/conformance.ts";
import { type ConformanceDocument, conformanceDocument } from "../src/document.ts";
import { formatDocument } from "../src/markdown.ts";
import { conformanceReport } from "../src/report.ts";
import { inMemoryTarget, SMALL_VALUES } from "./in-memory-target.ts";
import { noting } from "./noting-runner.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "memory-report-"));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

const readDocument = (file: string): ConformanceDocument => JSON.parse(readFileSync(file, "utf8"));
const stripped = ({ writtenAt: _, ...document }: ConformanceDocument) => document;

describe("the files of a report", () => {
  test("are there from the first case on, and say what has not settled", async () => {
    const { runner, run } = noting();
    const report = memoryStoreConformance(runner, inMemoryTarget(SMALL_VALUES), { report: folder });
    expect(readdirSync(folder)).toEqual([]);
    const [first, second] = conformanceCases.map(({ id }) => id);
    assert.ok(first !== undefined && second !== undefined);
    await run(`${first}:`);
    expect(readdirSync(folder).sort()).toEqual(["in-memory.json", "in-memory.md"]);
    await run(`${second}:`);
    const document = readDocument(join(folder, "in-memory.json"));
    expect(stripped(document)).toEqual(stripped(conformanceDocument(report)));
    expect(document).toMatchObject({ complete: false, conforms: false });
    expect(document.kept.map(({ id }) => id)).toEqual([first, second]);
    expect(document.unsettled).toHaveLength(conformanceCases.length - 2);
    expect(readFileSync(join(folder, "in-memory.md"), "utf8")).toContain("**Not complete**");
  });

  test("say why no store could be opened", async () => {
    const { runner, tests } = noting();
    const target = { name: "@acme/mine 2", open: () => Promise.reject(new Error("no server")) };
    memoryStoreConformance(runner, target, { report: [join(folder, "a.json"), join(folder, "b.md")] });
    await expect(tests[0]?.[1]()).rejects.toThrow("no server");
    expect(readDocument(join(folder, "a.json"))).toMatchObject({
      obstacle: "Error: no server",
      capabilities: null,
      conforms: false,
    });
    expect(readFileSync(join(folder, "b.md"), "utf8")).toContain("**Not tested**");
  });

  test("are named after the target in a folder, and are those that option and environment name together", async () => {
    process.env["MEMORY_CONFORMANCE_REPORT"] = `${join(folder, "env")}/, ${join(folder, "env.md")}`;
    try {
      const target = { name: "@acme/mine 2", open: () => Promise.reject(new Error("no server")) };
      const one = noting();
      memoryStoreConformance(one.runner, target, { report: join(folder, "own.json") });
      await one.tests[0]?.[1]().catch(() => undefined);
      expect(readdirSync(folder).sort()).toEqual(["env", "env.md", "own.json"]);
      expect(readdirSync(join(folder, "env")).sort()).toEqual(["acme-mine-2.json", "acme-mine-2.md"]);
      rmSync(join(folder, "env"), { recursive: true });
      const two = noting();
      memoryStoreConformance(two.runner, target, { report: false });
      await two.tests[0]?.[1]().catch(() => undefined);
      expect(readdirSync(folder).sort()).toEqual(["env.md", "own.json"]);
    } finally {
      delete process.env["MEMORY_CONFORMANCE_REPORT"];
    }
  });

  test("show what was observed as it is, whatever it holds", async () => {
    const odd = "```\n# | `code`";
    const one: ConformanceCase = {
      id: "some/fails",
      promise: "It fails.",
      needs: {},
      run: async () => assert.equal(odd, "", odd),
    };
    const markdown = formatDocument(conformanceDocument(await conformanceReport(inMemoryTarget(), { cases: [one] })));
    expect(markdown).toContain("````text\nobserved: ");
    expect(markdown).toMatch(/says: {5}```\n# \| `code`\n````\n/);
  });
});
