// The suite and random sequences over PostgreSQL in this process: what needs nothing installed.

import { memoryStoreSettings } from "@memory/core";
import { InMemoryMemoryStore } from "@memory/core/in-memory";
import { Pool } from "@memory/core/postgres-js";
import { type ConformanceTarget, memoryStoreConformance, modelBasedRun } from "@memory/testing";
import postgres from "postgres";
import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
import { postgresDriver } from "../src/driver.ts";
import { type EmbeddedPostgres, startEmbedded } from "./embedded.ts";
import { applySchema, targetOver } from "./target.ts";

describe("PGlite", () => {
  let server: EmbeddedPostgres;
  let pool: Pool;
  let target: ConformanceTarget;

  beforeAll(async () => {
    server = await startEmbedded();
    await applySchema(server.url);
    // One backend: messages of several connections would meet in its one unnamed portal.
    pool = new Pool(postgres, memoryStoreSettings({ dsn: server.url, poolSize: 1 }));
    // It runs in this process and takes its time: 16 MiB through its socket is seconds.
    const defaults = { maxValueBytes: 1_000_000, settings: { attemptTimeoutMs: 60_000, queueTimeoutMs: 60_000 } };
    target = targetOver("pglite", postgresDriver(pool), { url: server.url, defaults });
  }, 60_000);
  afterAll(async () => {
    await pool?.close();
    await server?.[Symbol.asyncDispose]();
  });

  memoryStoreConformance(
    { describe, test },
    { name: "pglite", open: (options) => target.open(options), corrupt: (...args) => target.corrupt?.(...args) },
  );

  it("agrees with the in-memory reference over 15 random sequences", { timeout: 120_000 }, async () => {
    const reference: ConformanceTarget = { name: "in-memory", open: (options) => new InMemoryMemoryStore(options) };
    const report = await modelBasedRun(target, reference, { sequences: 15 });
    console.log(`model-based run: seed ${report.seed}, ${report.steps} steps, ${report.comparisons} comparisons`);
    expect(report.sequences).toBe(15);
  });
});
