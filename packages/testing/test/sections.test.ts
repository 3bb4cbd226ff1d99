// The suite over stores that lack something: what is missing is refused (the twins run and pass), what is there keeps its
// promises all the same. Each section is left out in turn, then each finer capability.

import type { MemoryDriver } from "@memory/core/driver";
import { describe, expect, test } from "vitest";
import { conformanceCases } from "../src/cases.ts";
import { KINDS } from "../src/kinds.ts";
import { type ConformanceReport, conformanceReport, formatReport } from "../src/report.ts";
import { inMemoryTarget, SMALL_VALUES } from "./in-memory-target.ts";

const outcomes = (report: ConformanceReport, outcome: string) =>
  report.results.filter((one) => one.outcome === outcome).map(({ id }) => id);

async function run(target: ReturnType<typeof inMemoryTarget>, missing: readonly string[]): Promise<ConformanceReport> {
  const report = await conformanceReport(target, { cases: conformanceCases });
  expect(outcomes(report, "failed"), formatReport(report)).toEqual([]);
  const skipped = conformanceCases.filter(({ needs }) => Object.keys(needs).some((name) => missing.includes(name)));
  expect(outcomes(report, "skipped")).toEqual(skipped.map(({ id }) => id));
  expect(skipped.length).toBeGreaterThan(0);
  expect(report.results.filter(({ refusal }) => refusal).map(({ id }) => id)).toEqual(skipped.map(({ id }) => id));
  return report;
}

/** The driver without these members in any section. */
function stripped(driver: MemoryDriver, flags: readonly string[]): MemoryDriver {
  const without = <T extends object>(section: T): T =>
    new Proxy<T>(Object.create(section), {
      get: (_, name) => (flags.includes(String(name)) ? undefined : Reflect.get(section, name, section)),
    });
  const { working, profile, episodic, semantic, erasure } = driver;
  return {
    name: "stripped",
    ...(driver.maxValueBytes === undefined ? {} : { maxValueBytes: driver.maxValueBytes }),
    ...(working === undefined ? {} : { working: without(working) }),
    ...(profile === undefined ? {} : { profile: without(profile) }),
    ...(episodic === undefined ? {} : { episodic: without(episodic) }),
    ...(semantic === undefined ? {} : { semantic: without(semantic) }),
    ...(erasure === undefined ? {} : { erasure: without(erasure) }),
    isTransient: (error) => driver.isTransient(error),
    isExhausted: (error) => driver.isExhausted(error),
    close: () => driver.close(),
  };
}

describe("a store without a section", () => {
  test("without `working` refuses it and keeps the rest", async () => {
    await run(inMemoryTarget({ ...SMALL_VALUES, without: ["working"] }), ["working"]);
  });

  test("without `profile` refuses it and keeps the rest", async () => {
    await run(inMemoryTarget({ ...SMALL_VALUES, without: ["profile"] }), [
      "profile",
      "asOf",
      "knownAt",
      "supersession",
    ]);
  });

  test("without `episodic` refuses it and keeps the rest", async () => {
    await run(inMemoryTarget({ ...SMALL_VALUES, without: ["episodic"] }), ["episodic"]);
  });

  test("without `semantic` refuses it and keeps the rest", async () => {
    await run(inMemoryTarget({ ...SMALL_VALUES, without: ["semantic"] }), ["semantic"]);
  });

  test("without `erasure` refuses it and keeps the rest", async () => {
    await run(inMemoryTarget({ ...SMALL_VALUES, without: ["erasure"] }), ["erasure", "erasureNarrowing"]);
  });

  test.each(KINDS)("of `%s` alone keeps its promises", async (kind) => {
    const others = KINDS.filter((one) => one !== kind);
    const report = await conformanceReport(inMemoryTarget({ ...SMALL_VALUES, without: others }), {
      cases: conformanceCases,
    });
    expect(outcomes(report, "failed"), formatReport(report)).toEqual([]);
    expect(outcomes(report, "passed").length).toBeGreaterThan(30);
    expect(report.results.filter(({ refusal }) => refusal).length).toBeGreaterThan(50);
  });
});

describe("a store without a finer capability", () => {
  test.each([
    ["reach", ["under"]],
    ["filter", ["filter"]],
    ["asOf", ["asOf"]],
    ["knownAt", ["knownAt"]],
    ["supersession", ["supersession"]],
    ["erasureNarrowing", ["narrowing"]],
  ] as const)("without `%s` refuses it and keeps the rest", async (capability, flags) => {
    await run(
      inMemoryTarget(SMALL_VALUES, (driver) => stripped(driver, flags)),
      [capability],
    );
  });
});
