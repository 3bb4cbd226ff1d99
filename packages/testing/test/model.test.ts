// The reference store against the second model, over random sequences: once from a fixed seed, so that what was found
// stays found, and once from a random one, printed, so that more is looked at with every run.

import type { MemoryKind, MemoryStore } from "@memory/core";
import { InMemoryMemoryStore } from "@memory/core/in-memory";
import { describe, expect, it } from "vitest";
import type { ConformanceTarget } from "../src/context.ts";
import { ModelRunFailure } from "../src/model/failure.ts";
import { NaiveMemoryStore } from "../src/model/naive.ts";
import { modelBasedRun } from "../src/model/run.ts";

const inMemory = (metric: "cosine" | "l2" | "inner" = "cosine"): ConformanceTarget => ({
  name: "in-memory",
  open: (options) => new InMemoryMemoryStore({ ...options, embeddingDimensions: 4, metric }),
});
const naive = (metric: "cosine" | "l2" | "inner" = "cosine"): ConformanceTarget => ({
  name: "naive",
  open: (options) => new NaiveMemoryStore({ ...options, metric }),
});
const TIMEOUT_MS = 600_000;

describe("the in-memory store and the naive model", () => {
  it("agree over 800 sequences of a fixed seed", { timeout: TIMEOUT_MS }, async () => {
    const report = await modelBasedRun(inMemory(), naive(), { sequences: 800, seed: 20_261_130 });
    expect(report.sequences).toBe(800);
    expect(report.steps).toBeGreaterThan(12_000);
  });

  it("agree over 400 sequences of a random seed", { timeout: TIMEOUT_MS }, async () => {
    const seed = Math.floor(Math.random() * 0x7fff_ffff);
    console.log(`model-based run: seed ${seed}`);
    const report = await modelBasedRun(inMemory("l2"), naive("l2"), { sequences: 400, seed, maxElements: 3 });
    expect(report.sequences).toBe(400);
  });

  it.each<[MemoryKind, number]>([
    ["working", 150],
    ["profile", 350],
    ["episodic", 150],
    ["semantic", 150],
  ])("agree about %s alone", { timeout: TIMEOUT_MS }, async (kind, count) => {
    const seed = Math.floor(Math.random() * 0x7fff_ffff);
    console.log(`model-based run of ${kind}: seed ${seed}`);
    const metric = kind === "semantic" ? "inner" : "cosine";
    const report = await modelBasedRun(inMemory(metric), naive(metric), { sequences: count, seed, kinds: [kind] });
    expect(report.sequences).toBe(count);
  });
});

describe("modelBasedRun", () => {
  it("finds a wrong, shrinks it, and says how to see it again", { timeout: TIMEOUT_MS }, async () => {
    const wrong: ConformanceTarget = { name: "forgetful", open: (options) => forgetful(new NaiveMemoryStore(options)) };
    const failed = await modelBasedRun(wrong, naive(), { sequences: 200, seed: 1 }).catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(ModelRunFailure);
    const message = failed instanceof ModelRunFailure ? failed.message : "";
    const path = /path: "([\d:]+)"/.exec(message)?.[1] ?? "";
    const again = await modelBasedRun(wrong, naive(), { sequences: 200, seed: 1, path }).catch(
      (error: unknown) => error,
    );
    expect(again).toBeInstanceOf(ModelRunFailure);
    expect(again instanceof ModelRunFailure ? again.message.split("\n").length : 0).toBeLessThanOrEqual(8);
  });

  it("refuses a reference of another width", async () => {
    const wide: ConformanceTarget = {
      name: "wide",
      open: (o) => new NaiveMemoryStore({ ...o, embeddingDimensions: 5 }),
    };
    await expect(modelBasedRun(inMemory(), wide, { sequences: 1 })).rejects.toBeInstanceOf(RangeError);
  });
});

// Loses every append but the first to a key.
function forgetful(store: MemoryStore): MemoryStore {
  return new Proxy(store, {
    get(target, name) {
      if (name !== "append") {
        const member: unknown = Reflect.get(target, name, target);
        return typeof member === "function" ? member.bind(target) : member;
      }
      return async (...args: Parameters<MemoryStore["append"]>) => {
        const there = await target.read(args[0], args[1]);
        return Array.isArray(there?.value) && there.value.length > 0 ? there.value.length + 1 : target.append(...args);
      };
    },
  });
}
