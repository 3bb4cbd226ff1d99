// Random sequences of operations against the in-memory reference, everything observable compared. The other deployments
// have their runs where they are started (shapes.live.test.ts, containers.live.test.ts).

import { modelBasedRun } from "@memory/testing";
import { startRedis } from "@tooling/servers";
import { Redis } from "ioredis";
import { afterAll, expect, it } from "vitest";
import { modelTarget, reference } from "./model-target.ts";

const TIMEOUT_MS = 300_000;

const server = await startRedis();
const client = new Redis(server.url, { enableAutoPipelining: true });

afterAll(async () => {
  client.disconnect();
  await server.stop();
});

it("agrees with the reference over 400 sequences of a fixed seed", { timeout: TIMEOUT_MS }, async () => {
  const target = modelTarget("redis", client, "fixed");
  const report = await modelBasedRun(target, reference, { sequences: 400, seed: 20_261_130 });
  expect(report.sequences).toBe(400);
  await client.flushall();
});

it("agrees with the reference over 200 sequences of a random seed, short sequences only", {
  timeout: TIMEOUT_MS,
}, async () => {
  const seed = Math.floor(Math.random() * 0x7fff_ffff);
  console.log(`model-based run: seed ${seed}`);
  const target = modelTarget("redis", client, "random");
  const report = await modelBasedRun(target, reference, { sequences: 200, seed, maxElements: 3 });
  expect(report.sequences).toBe(200);
});
