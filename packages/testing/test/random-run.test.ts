// Random sequences as a test of the suite: what they find is shrunk, stands in the report, and is run again by one line.

import { describe, expect, test } from "vitest";
import type { ConformanceCase } from "../src/case.ts";
import type { ConformanceTarget } from "../src/context.ts";
import { conformanceDocument } from "../src/document.ts";
import { bindCases } from "../src/harness.ts";
import { formatDocument } from "../src/markdown.ts";
import { inMemoryTarget, SMALL_VALUES } from "./in-memory-target.ts";
import { messageOf, noting } from "./noting-runner.ts";

const passing: ConformanceCase = { id: "some/passes", promise: "It passes.", needs: {}, run: async () => undefined };

describe("random sequences beside the cases", () => {
  const forgetful = (): ConformanceTarget =>
    inMemoryTarget(SMALL_VALUES, (driver) => {
      const { working } = driver;
      if (working === undefined) return driver;
      // Every element after the first is answered for, and lost.
      const append: typeof working.append = async (request, call) => {
        const there = await working.get({ scope: request.scope, key: request.key, last: undefined }, call);
        const length = there?.content.items?.length ?? 0;
        return length > 0 && request.after === undefined
          ? { outcome: "appended", length: length + 1 }
          : await working.append(request, call);
      };
      return { ...driver, working: { ...working, append } };
    });
  const named = "model/random-sequences";

  test("go into the report, and settle it", { timeout: 120_000 }, async () => {
    const { runner, run } = noting();
    const report = bindCases(runner, inMemoryTarget(SMALL_VALUES), [passing], { random: { sequences: 20, seed: 7 } });
    await run("some/passes");
    expect(conformanceDocument(report)).toMatchObject({ complete: false, random: null });
    await run(named);
    const document = conformanceDocument(report);
    expect(document).toMatchObject({ complete: true, conforms: true });
    expect(document.random).toMatchObject({ reference: "in-memory", seed: 7, sequences: 20, failure: null });
    expect(document.random?.comparisons).toBeGreaterThan(100);
    expect(formatDocument(document)).toContain("20 sequences (seed 7) were answered as in-memory answers them");
  });

  test("that differ are shrunk, and the line that is printed runs the shrunk one again", {
    timeout: 120_000,
  }, async () => {
    const attempt = async () => {
      const { runner, run } = noting();
      const report = bindCases(runner, forgetful(), [passing], { random: { sequences: 200, seed: 11 } });
      const message = messageOf(await run(named).catch((error: unknown) => error));
      return {
        message,
        failure: conformanceDocument(report).random?.failure,
        markdown: formatDocument(conformanceDocument(report)),
      };
    };
    const { message, failure, markdown } = await attempt();
    const [, seed = "", path = ""] =
      /^ {2}replay: {3}MEMORY_CONFORMANCE_SEED=(-?\d+) MEMORY_CONFORMANCE_PATH=([\d:]+) npx vitest run -t 'model\/random-sequences'$/m.exec(
        message,
      ) ?? [];
    expect(seed, message).not.toBe("");
    expect(message).toMatch(/^ {2}observed: .+\n {2}expected: .+$/m);
    // What is set up, then something to append to, and the append that is lost.
    expect(failure?.sequence.length).toBeLessThanOrEqual(6);
    expect(failure?.sequence.filter((step) => step.includes('"append"')).length).toBeGreaterThanOrEqual(1);
    expect(markdown).toContain(`replay with MEMORY_CONFORMANCE_SEED=${seed} MEMORY_CONFORMANCE_PATH=${path}`);
    process.env["MEMORY_CONFORMANCE_SEED"] = seed;
    process.env["MEMORY_CONFORMANCE_PATH"] = path;
    try {
      expect((await attempt()).failure?.sequence).toEqual(failure?.sequence);
    } finally {
      delete process.env["MEMORY_CONFORMANCE_SEED"];
      delete process.env["MEMORY_CONFORMANCE_PATH"];
    }
  });
});
