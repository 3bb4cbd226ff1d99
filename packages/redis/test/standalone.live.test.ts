// The whole suite over a standalone server: a client as an application makes it, and one with autopipelining.

import { memoryStoreConformance } from "@memory/testing";
import { startRedis } from "@tooling/servers";
import { Redis } from "ioredis";
import { afterAll, describe, test } from "vitest";
import { redisTarget } from "./target.ts";

const server = await startRedis();
const plain = new Redis(server.url);
const batched = new Redis(server.url, { enableAutoPipelining: true });

afterAll(async () => {
  plain.disconnect();
  batched.disconnect();
  await server.stop();
});

memoryStoreConformance({ describe, test }, redisTarget("redis", plain, "plain"));
memoryStoreConformance({ describe, test }, redisTarget("redis with autopipelining", batched, "batched"));
