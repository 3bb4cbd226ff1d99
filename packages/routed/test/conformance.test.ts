// The suite over three in-memory members bound as one, and random sequences beside a single store that holds all kinds.

import { InMemoryMemoryStore } from "@memory/core/in-memory";
import { type ConformanceTarget, memoryStoreConformance, modelBasedRun } from "@memory/testing";
import { describe, expect, it, test } from "vitest";
import { routedTarget } from "./in-memory-target.ts";

const TIMEOUT_MS = 600_000;
const reference: ConformanceTarget = {
  name: "in-memory",
  open: (options) => new InMemoryMemoryStore({ ...options, embeddingDimensions: 4 }),
};

memoryStoreConformance({ describe, test }, routedTarget());

it("agrees with a single store over 200 sequences of a fixed seed", { timeout: TIMEOUT_MS }, async () => {
  const report = await modelBasedRun(routedTarget(4), reference, { sequences: 200, seed: 20_261_130 });
  expect(report.sequences).toBe(200);
  expect(report.steps).toBeGreaterThan(2_000);
});

it("agrees with a single store over 100 sequences of a random seed", { timeout: TIMEOUT_MS }, async () => {
  const report = await modelBasedRun(routedTarget(4), reference, { sequences: 100, maxElements: 3 });
  console.log(`model-based run: seed ${report.seed}, ${report.steps} steps, ${report.comparisons} comparisons`);
  expect(report.sequences).toBe(100);
});
