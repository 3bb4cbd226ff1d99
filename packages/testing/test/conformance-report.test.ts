// What a report states, over stores that are sound, that lack something, and that fail on purpose: every promise is in it
// once, with what was observed and expected where it is broken.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { MemoryDriver } from "@memory/core/driver";
import { describe, expect, test } from "vitest";
import type { ConformanceCase } from "../src/case.ts";
import { conformanceCases } from "../src/cases.ts";
import type { ConformanceTarget } from "../src/context.ts";
import { type ConformanceDocument, conformanceDocument } from "../src/document.ts";
import { type Fault, faultyDriver } from "../src/faulty-driver.ts";
import { bindCases } from "../src/harness.ts";
import { formatDocument } from "../src/markdown.ts";
import { conformanceReport, runCase } from "../src/report.ts";
import { inMemoryTarget, SMALL_VALUES } from "./in-memory-target.ts";
import { messageOf, noting } from "./noting-runner.ts";

const packageFolder = fileURLToPath(new URL("..", import.meta.url));
const readDocument = (file: string): ConformanceDocument => JSON.parse(readFileSync(file, "utf8"));

const faulty = (plan: readonly Fault[]): ConformanceTarget =>
  inMemoryTarget(SMALL_VALUES, (driver: MemoryDriver) => faultyDriver(driver, plan).driver);
const some = (...concerns: readonly string[]) =>
  conformanceCases.filter(({ id }) => concerns.some((concern) => id.startsWith(`${concern}/`)));

const passing: ConformanceCase = { id: "some/passes", promise: "It passes.", needs: {}, run: async () => undefined };
const failing: ConformanceCase = {
  id: "some/fails",
  promise: "It fails.",
  needs: {},
  run: async () => assert.deepEqual({ seats: 1 }, { seats: 2 }),
};

describe("the report of a run under node:test that the environment asks for", () => {
  const run = (without: string) => {
    const { NODE_TEST_CONTEXT: _, ...own } = process.env;
    const env = { ...own, MEMORY_WITHOUT: without, MEMORY_CONFORMANCE_REPORT: "reports/" };
    const args = ["--conditions=@memory/source", "--test", "test/conformance.node-test.ts"];
    return spawnSync(process.execPath, args, { cwd: packageFolder, encoding: "utf8", env });
  };

  test("states every promise of the in-memory store as kept, as JSON and as Markdown", { timeout: 120_000 }, () => {
    const files = ["reports/in-memory.json", "reports/in-memory.md"].map((file) => join(packageFolder, file));
    for (const file of files) rmSync(file, { force: true });
    expect(run("").status).toBe(0);
    const [json = "", markdown = ""] = files;
    const document = readDocument(json);
    const manifest = JSON.parse(readFileSync(join(packageFolder, "package.json"), "utf8"));
    expect(document).toMatchObject({
      schema: "memory-conformance/1",
      adapter: { name: "in-memory", version: manifest.version },
      versions: {
        core: manifest.version,
        testing: manifest.version,
        runtime: `node ${process.versions.node}`,
        runner: "node:test",
        server: "none: one process",
      },
      heldTo: null,
      complete: true,
      conforms: true,
      failed: [],
      skipped: [],
      refusals: [],
      announced: [],
      unsettled: [],
    });
    expect(document.kept.map(({ id }) => id)).toEqual(conformanceCases.map(({ id }) => id));
    expect(readFileSync(markdown, "utf8")).toBe(formatDocument(document));
    expect(readFileSync(markdown, "utf8")).toContain(
      `**Conforms**: ${conformanceCases.length} kept, 0 broken, 0 skipped.`,
    );
  });

  test("states what a store without a kind was seen to refuse", { timeout: 120_000 }, () => {
    expect(run("semantic").status).toBe(0);
    const document = readDocument(join(packageFolder, "reports/in-memory-without-semantic.json"));
    const semantic = conformanceCases.filter(({ needs }) => needs.semantic === true).map(({ id }) => id);
    expect(document.conforms).toBe(true);
    expect(document.skipped.map(({ id }) => id)).toEqual(semantic);
    expect(new Set(document.skipped.map(({ reason, refusal }) => `${reason} ${refusal}`))).toEqual(
      new Set(["the store lacks semantic true"]),
    );
    expect(document.refusals).toEqual([
      { capability: "semantic", operations: ["index", "indexAll", "recall", "search"], cases: semantic },
    ]);
  });
});

describe("over a driver that fails on purpose, the report", () => {
  test.each<[string, Fault, readonly string[], RegExp]>([
    ["fatal", { on: "working.append", fault: "fatal", times: Infinity }, ["working"], /InjectedFault|fatal|MEMORY_/],
    ["exhausted", { on: "profile.commit", fault: "exhausted", times: Infinity }, ["profile"], /POOL_EXHAUSTED/],
    ["refused", { on: "episodic.log", fault: "refused", times: Infinity }, ["episodic"], /MEMORY_UNAVAILABLE/],
    [
      "request-lost",
      { on: "semantic.index", fault: "request-lost", times: Infinity },
      ["semantic"],
      /MEMORY_UNAVAILABLE/,
    ],
  ])(
    "names each promise that it breaks, and what was observed (%s)",
    { timeout: 120_000 },
    async (_, fault, concerns, observed) => {
      const cases = some(...concerns, "json");
      const report = await conformanceReport(faulty([fault]), { cases });
      const document = conformanceDocument(report);
      expect(document.conforms).toBe(false);
      expect(document.complete).toBe(true);
      expect(document.failed.length).toBeGreaterThan(2);
      expect(document.failed.length + document.kept.length + document.skipped.length).toBe(cases.length);
      for (const one of document.failed) {
        expect(cases.find(({ id }) => id === one.id)?.promise).toBe(one.promise);
        expect(one.address).toMatch(/docs\/protocol\.md#[a-z-]+$/);
        expect(one.observed, one.id).not.toBe(one.expected);
      }
      expect(document.failed.filter((one) => observed.test(one.observed)).length).toBeGreaterThan(0);
      const markdown = formatDocument(document);
      expect(markdown).toContain("**Does not conform**");
      for (const one of document.failed) expect(markdown).toContain(`### ${one.id}\n\n${one.promise}`);
    },
  );

  test("names a refusal that is not made", async () => {
    const target = inMemoryTarget({ ...SMALL_VALUES, without: ["semantic"] });
    const lenient: ConformanceTarget = {
      ...target,
      open: async (options) => {
        const store = await target.open(options);
        return new Proxy(store, {
          get: (_, name) => {
            if (name === "search") return async () => [];
            const member: unknown = Reflect.get(store, name, store);
            return typeof member === "function" ? member.bind(store) : member;
          },
        });
      },
    };
    const { failed, refusals } = conformanceDocument(await conformanceReport(lenient, { cases: some("semantic") }));
    expect(failed.length).toBeGreaterThan(0);
    expect(failed.every(({ refusal }) => refusal)).toBe(true);
    expect(failed.find(({ says }) => says?.startsWith("search: "))).toMatchObject({
      observed: "[]",
      expected: "'MEMORY_CAPABILITY'",
    });
    expect(refusals.flatMap(({ operations }) => operations)).not.toContain("search");
  });
});

describe("a test that fails", () => {
  test("says the promise, both values, where the promise stands and how to run it alone", async () => {
    const { runner, run } = noting();
    bindCases(runner, inMemoryTarget(), [{ ...failing, id: "working/fails" }]);
    const error: unknown = await run("working/fails").catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(assert.AssertionError);
    expect(error).toMatchObject({ actual: { seats: 1 }, expected: { seats: 2 } });
    expect(messageOf(error).split("\n")).toEqual([
      "in-memory breaks a promise: It fails.",
      "  observed: { seats: 1 }",
      "  expected: { seats: 2 }",
      "  case:     working/fails",
      "  section:  Working, https://github.com/memory-protocol/memory/blob/main/docs/protocol.md#working",
      "  replay:   npx vitest run -t 'working/fails'",
    ]);
  });

  test("keeps what it failed with as its cause, also where that is no assertion", async () => {
    const reason = new TypeError("no such thing");
    const { runner, run } = noting();
    bindCases(runner, inMemoryTarget(), [{ ...failing, run: () => Promise.reject(reason) }]);
    const error: unknown = await run("some/fails").catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ cause: reason });
    expect(messageOf(error)).toContain("observed: an error: TypeError: no such thing\n  expected: no error");
  });
});

describe("a target that is held to an earlier suite", () => {
  const late: ConformanceCase = { ...failing, id: "some/late", since: "99.0.0" };

  test("is told of a newer promise that it breaks, and does not fail for it", async () => {
    const { runner, run } = noting();
    const report = bindCases(runner, inMemoryTarget(), [passing, late], { heldTo: "98.7.0" });
    await run("some/passes");
    await run("some/late");
    const document = conformanceDocument(report);
    expect(document).toMatchObject({ heldTo: "98.7.0", complete: true, conforms: true, failed: [], skipped: [] });
    expect(document.announced).toEqual([
      expect.objectContaining({ id: "some/late", since: "99.0.0", observed: "{ seats: 1 }", expected: "{ seats: 2 }" }),
    ]);
    expect(formatDocument(document)).toContain("## Announced: 1");
  });

  test("fails for it without the version, and with a later one", async () => {
    const target = inMemoryTarget();
    const { capabilities } = await target.open({});
    expect((await runCase(target, late, capabilities)).outcome).toBe("failed");
    expect((await runCase(target, late, capabilities, "99.0.0")).outcome).toBe("failed");
    expect((await runCase(target, late, capabilities, "100.0.0")).outcome).toBe("failed");
  });

  test("fails for an older promise all the same", async () => {
    const target = inMemoryTarget();
    const { capabilities } = await target.open({});
    expect((await runCase(target, failing, capabilities, "98.7.0")).outcome).toBe("failed");
  });

  test("is given credit for a newer promise that it keeps", async () => {
    const report = await conformanceReport(inMemoryTarget(), {
      cases: [{ ...passing, since: "99.0.0" }],
      heldTo: "0.1.0",
    });
    expect(conformanceDocument(report).kept.map(({ id }) => id)).toEqual([passing.id]);
  });

  test("is not held up by a newer case that never settles", async () => {
    const silent = { ...late, run: () => new Promise<never>(() => undefined) };
    const report = await conformanceReport(inMemoryTarget(), { cases: [passing, silent], heldTo: "1.0.0" });
    expect(conformanceDocument(report).announced.map(({ id }) => id)).toEqual(["some/late"]);
  });

  test("refuses a version that is none", () => {
    const { runner } = noting();
    expect(() => bindCases(runner, inMemoryTarget(), [passing], { heldTo: "latest" })).toThrow(RangeError);
  });
});
