// The suite and random sequences over PostgreSQL in this process, by every metric: what needs nothing installed.

import { type Metric, memoryStoreSettings } from "@memory/core";
import { Pool } from "@memory/core/postgres-js";
import { type ConformanceTarget, memoryStoreConformance, modelBasedRun } from "@memory/testing";
import postgres from "postgres";
import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
import { pgvectorDriver } from "../src/driver.ts";
import { type EmbeddedPostgres, startEmbedded } from "./embedded.ts";
import { applySchema, referenceOf, targetOver } from "./target.ts";

const WIDTH = 8;
const metrics: readonly Metric[] = ["cosine", "l2", "inner"];

describe("PGlite", () => {
  let server: EmbeddedPostgres;
  let pool: Pool;
  const targets = new Map<Metric, ConformanceTarget>();

  beforeAll(async () => {
    server = await startEmbedded();
    // One backend: messages of several connections would meet in its one unnamed portal.
    pool = new Pool(postgres, memoryStoreSettings({ dsn: server.url, poolSize: 1 }));
    // It runs in this process and takes its time: 16 MiB through its socket is seconds.
    const defaults = { maxValueBytes: 1_000_000, settings: { attemptTimeoutMs: 60_000, queueTimeoutMs: 60_000 } };
    for (const metric of metrics) {
      const collection = { dimensions: WIDTH, metric, collection: metric, embedder: `test-${metric}@1` };
      await applySchema(server.url, collection);
      const owner = { url: server.url, collection: metric, defaults };
      targets.set(metric, targetOver(`pglite ${metric}`, pgvectorDriver(pool, collection), owner));
    }
  }, 60_000);
  afterAll(async () => {
    await pool?.close();
    await server?.[Symbol.asyncDispose]();
  });

  for (const metric of metrics) {
    const target = (): ConformanceTarget => {
      const found = targets.get(metric);
      if (found === undefined) throw new Error("the server did not start");
      return found;
    };

    memoryStoreConformance(
      { describe, test },
      {
        name: `pglite ${metric}`,
        open: (options) => target().open(options),
        corrupt: (...args) => target().corrupt?.(...args),
      },
    );

    it(`agrees with the in-memory reference over 15 random sequences by ${metric}`, { timeout: 120_000 }, async () => {
      const report = await modelBasedRun(target(), referenceOf(WIDTH, metric), { sequences: 15 });
      console.log(`model-based run: seed ${report.seed}, ${report.steps} steps, ${report.comparisons} comparisons`);
      expect(report.sequences).toBe(15);
    });
  }
});
