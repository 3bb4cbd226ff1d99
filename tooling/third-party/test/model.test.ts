// Random sequences of operations through this store and the in-memory reference, everything observable compared.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Metric } from "@memory/core";
import { InMemoryMemoryStore } from "@memory/core/in-memory";
import { modelBasedRun } from "@memory/testing";
import { makeFile, targetOver, WIDTH } from "./target.ts";

const metrics: readonly Metric[] = ["cosine", "l2", "inner"];

for (const metric of metrics) {
  test(`agrees with the reference over 50 sequences by ${metric}`, async () => {
    using file = makeFile(metric);
    const target = targetOver(file, metric);
    const reference = {
      name: "in-memory",
      open: (options: object) => new InMemoryMemoryStore({ ...options, embeddingDimensions: WIDTH, metric }),
    };
    const report = await modelBasedRun(target, reference, { sequences: 50 });
    console.log(`seed ${report.seed}: ${report.steps} steps, ${report.comparisons} comparisons`);
    assert.equal(report.sequences, 50);
  });
}
