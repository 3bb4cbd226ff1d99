// How the suite shows in runners: the number of tests is the number of cases, what does not apply is skipped with its
// reason, and a broken store, an empty list or two cases of one id fail.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { MemoryStore } from "@memory/core";
import { describe, expect, test } from "vitest";
import type { ConformanceCase } from "../src/case.ts";
import { conformanceCases } from "../src/cases.ts";
import { assertCases, bindCases } from "../src/harness.ts";
import { inMemoryTarget } from "./in-memory-target.ts";

interface Registered {
  readonly name: string;
  readonly body: (...context: readonly unknown[]) => Promise<void>;
}

/** A runner with two functions and nothing else; gives what was registered. */
function register(cases: readonly ConformanceCase[], target = inMemoryTarget()) {
  const tests: Registered[] = [];
  const groups: string[] = [];
  const report = bindCases(
    {
      describe: (name, body) => {
        groups.push(name);
        body();
      },
      test: (name, body) => tests.push({ name, body }),
    },
    target,
    cases,
  );
  return { tests, groups, report };
}

/** Runs Node in this package's folder, reporting as TAP; gives what it wrote and the counts at its end. */
function spawn(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  // A child of a worker that is marked for `node:test` would take itself for one.
  const { NODE_TEST_CONTEXT: _, ...own } = process.env;
  const result = spawnSync(process.execPath, ["--conditions=@memory/source", "--test-reporter=tap", ...args], {
    encoding: "utf8",
    cwd: fileURLToPath(new URL("..", import.meta.url)),
    env: { ...own, ...env },
  });
  const count = (name: string) => Number(new RegExp(`^# ${name} (\\d+)$`, "m").exec(result.stdout)?.[1]);
  return { result, count };
}

const passing: ConformanceCase = { id: "some/passes", promise: "It passes.", needs: {}, run: async () => undefined };
const failing: ConformanceCase = {
  id: "some/fails",
  promise: "It fails.",
  needs: {},
  run: async () => assert.fail("as it must"),
};

describe("under node:test", () => {
  const run = (without: string) =>
    spawn(["--test", fileURLToPath(new URL("conformance.node-test.ts", import.meta.url))], { MEMORY_WITHOUT: without });

  test("every case passes and is counted", { timeout: 120_000 }, () => {
    const { result, count } = run("");
    expect(result.stdout).not.toMatch(/^\s*not ok/m);
    expect(count("fail")).toBe(0);
    expect(count("skipped")).toBe(0);
    // One more: that some case applies.
    expect(count("pass")).toBe(conformanceCases.length + 1);
    expect(result.status).toBe(0);
  });

  test("what does not apply is skipped with its reason", { timeout: 120_000 }, () => {
    const { result, count } = run("semantic");
    const semantic = conformanceCases.filter(({ needs }) => needs.semantic === true).length;
    expect(result.status).toBe(0);
    expect(count("skipped")).toBe(semantic);
    expect(count("pass")).toBe(conformanceCases.length + 1 - semantic);
    expect(result.stdout).toMatch(/# SKIP the store lacks semantic; that it is refused was checked/);
  });
});

describe("the README", () => {
  test("binds the suite to a runner, and what it shows passes", { timeout: 120_000 }, () => {
    const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");
    const [, snippet = ""] = /```ts\n([\s\S]*?)```/.exec(readme) ?? [];
    const { result, count } = spawn(["--input-type=module-typescript", "--eval", snippet]);
    expect(result.stdout).not.toMatch(/^\s*not ok/m);
    expect(count("tests")).toBe(conformanceCases.length + 1);
    expect(result.status).toBe(0);
  });
});

describe("the harness", () => {
  test("registers a test for each case, by concern, and one that some case applies", () => {
    const { tests, groups } = register(conformanceCases);
    expect(tests).toHaveLength(conformanceCases.length + 1);
    expect(groups).toHaveLength(1 + new Set(conformanceCases.map(({ id }) => id.split("/")[0])).size);
    for (const [index, one] of conformanceCases.entries()) {
      expect(
        tests.some(({ name }) => name === `${one.id}: ${one.promise}`),
        String(index),
      ).toBe(true);
    }
  });

  test("fails where there are no cases, where two have one id, and where an id is malformed", () => {
    expect(() => register([])).toThrow(assert.AssertionError);
    expect(() => register([passing, { ...failing, id: passing.id }])).toThrow(assert.AssertionError);
    expect(() => register([{ ...passing, id: "No Slug" }])).toThrow(assert.AssertionError);
  });

  test("fails where no case applies: a driver without sections holds nothing", async () => {
    const target = inMemoryTarget({ without: ["working", "profile", "episodic", "semantic", "erasure"] });
    const { tests } = register([{ ...passing, needs: { working: true } }], target);
    await tests[0]?.body({ skip: () => undefined });
    await expect(tests[1]?.body()).rejects.toThrow(assert.AssertionError);
  });

  test("throws what a case fails with, and notes it in the report", async () => {
    const { tests, report } = register([passing, failing]);
    await tests[0]?.body();
    await expect(tests[1]?.body()).rejects.toThrow("as it must");
    expect(report.results.map(({ id, outcome }) => [id, outcome])).toEqual([
      ["some/passes", "passed"],
      ["some/fails", "failed"],
    ]);
  });

  test("skips with the reason through the runner's context, after the refusal twin has run", async () => {
    const seen: string[] = [];
    const twin: ConformanceCase = {
      ...failing,
      needs: { semantic: true, filter: true },
      refusal: async () => void seen.push("twin"),
    };
    const { tests, report } = register([twin], inMemoryTarget({ without: ["semantic"] }));
    await tests[0]?.body({ skip: (reason: string) => seen.push(reason) });
    expect(seen).toEqual(["twin", "the store lacks semantic; that it is refused was checked"]);
    expect(report.results[0]).toMatchObject({ outcome: "skipped", reason: "the store lacks semantic", refusal: true });
  });

  test("has a twin for a case that brings none", async () => {
    const notes: string[] = [];
    const skip = (reason: string) => notes.push(reason);
    const twinless: ConformanceCase = { ...failing, needs: { supersession: true } };
    const { tests, report } = register([twinless], inMemoryTarget({ without: ["profile"] }));
    await tests[0]?.body({ skip });
    expect(report.results[0]).toMatchObject({ outcome: "skipped", refusal: true });
    expect(notes).toEqual(["the store lacks supersession; that it is refused was checked"]);
  });

  test("fails where the refusal twin fails", async () => {
    const twin: ConformanceCase = { ...passing, needs: { semantic: true }, refusal: failing.run };
    const { tests } = register([twin], inMemoryTarget({ without: ["semantic"] }));
    await expect(tests[0]?.body({ skip: () => undefined })).rejects.toThrow("as it must");
  });

  test("skips a case whose hooks the target does not offer", async () => {
    const { corrupt: _, ...target } = inMemoryTarget();
    const { tests, report } = register([{ ...failing, hooks: ["corrupt"] }], target);
    await tests[0]?.body({ skip: () => undefined });
    expect(report.results[0]).toMatchObject({
      outcome: "skipped",
      reason: "the target offers no corrupt",
      refusal: false,
    });
  });

  test("closes every store that a case opened, also when it fails", async () => {
    const opened: MemoryStore[] = [];
    const leaves: ConformanceCase = {
      ...passing,
      run: async (context) => {
        opened.push(await context.open(), await context.open());
        assert.fail("in the middle");
      },
    };
    const { tests } = register([leaves]);
    await expect(tests[0]?.body()).rejects.toThrow("in the middle");
    expect(opened).toHaveLength(2);
    for (const store of opened) await expect(store.verify()).rejects.toMatchObject({ code: "MEMORY_UNAVAILABLE" });
  });

  test("fails every test with what `open` fails with", async () => {
    const target = { name: "broken", open: () => Promise.reject(new Error("no server")) };
    const { tests } = register([passing, { ...passing, id: "some/other" }], target);
    for (const one of tests) await expect(one.body()).rejects.toThrow("no server");
  });

  test("has bodies without declared parameters, which some runners take for callbacks", () => {
    const { tests } = register([passing]);
    expect(tests.map(({ body }) => body.length)).toEqual([0, 0]);
  });
});

describe("the cases", () => {
  test("have unique, well-formed ids and a promise that is one sentence", () => {
    assertCases(conformanceCases);
    for (const { id, promise } of conformanceCases) {
      expect(promise, id).toMatch(/^[^a-z\s].*\.$/s);
      expect(promise, id).not.toMatch(/\n|\|/);
    }
    const promises = conformanceCases.map(({ promise }) => promise);
    expect(promises.filter((promise, index) => promises.indexOf(promise) !== index)).toEqual([]);
  });

  test("are 150 and more", () => {
    expect(conformanceCases.length).toBeGreaterThanOrEqual(150);
  });
});
