// Random sequences of operations against the in-memory reference, everything observable compared.

import { InMemoryMemoryStore } from "@memory/core/in-memory";
import { type ConformanceTarget, modelBasedRun } from "@memory/testing";
import { startRedis } from "@tooling/servers";
import { Redis } from "ioredis";
import { afterAll, expect, it } from "vitest";
import { redisTarget } from "./target.ts";

const TIMEOUT_MS = 300_000;

const server = await startRedis();
const client = new Redis(server.url, { enableAutoPipelining: true });
const reference: ConformanceTarget = { name: "in-memory", open: (options) => new InMemoryMemoryStore(options) };

afterAll(async () => {
  client.disconnect();
  await server.stop();
});

it("agrees with the reference over 500 sequences of a fixed seed", { timeout: TIMEOUT_MS }, async () => {
  const report = await modelBasedRun(redisTarget("redis", client, "fixed"), reference, { sequences: 500, seed: 20_261_130 });
  expect(report.sequences).toBe(500);
  await client.flushall();
});

it("agrees with the reference over 300 sequences of a random seed, short sequences only", { timeout: TIMEOUT_MS }, async () => {
  const seed = Math.floor(Math.random() * 0x7fff_ffff);
  console.log(`model-based run: seed ${seed}`);
  const report = await modelBasedRun(redisTarget("redis", client, "random"), reference, {
    sequences: 300,
    seed,
    maxElements: 3,
  });
  expect(report.sequences).toBe(300);
});
