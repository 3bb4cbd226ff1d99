// Random sequences of operations against the in-memory reference, everything observable compared.

import type { MemoryStore } from "@memory/core";
import { InMemoryMemoryStore } from "@memory/core/in-memory";
import { type ConformanceTarget, modelBasedRun, type StoreOptions } from "@memory/testing";
import { startRedis } from "@tooling/servers";
import { Redis } from "ioredis";
import { afterAll, expect, it } from "vitest";
import { RedisMemoryStore } from "../src/index.ts";
import { redisTarget } from "./target.ts";

const TIMEOUT_MS = 300_000;

// The run lives in milliseconds and the server in real ones: every millisecond of the run is a hundred seconds of the server.
const STRETCH = 100_000;

const server = await startRedis();
const client = new Redis(server.url, { enableAutoPipelining: true });
const reference: ConformanceTarget = { name: "in-memory", open: (options) => new InMemoryMemoryStore(options) };

function stretched(namespace: string): ConformanceTarget {
  const open = (options: StoreOptions): MemoryStore => {
    const ttlMs = options.ttlMs === undefined ? {} : { ttlMs: options.ttlMs * STRETCH };
    const store = new RedisMemoryStore(client, { ...options, ...ttlMs, namespace });
    return new Proxy(store, {
      get(target, name) {
        if (name === "expire") {
          const expire: MemoryStore["expire"] = (scope, key, given) =>
            target.expire(scope, key, { ...given, ttlMs: given.ttlMs * STRETCH });
          return expire;
        }
        const member: unknown = Reflect.get(target, name, target);
        return typeof member === "function" ? member.bind(target) : member;
      },
    });
  };
  const target = redisTarget("redis", client, namespace, open);
  return { ...target, elapse: (ms) => target.elapse?.(ms * STRETCH + 1) };
}

afterAll(async () => {
  client.disconnect();
  await server.stop();
});

it("agrees with the reference over 500 sequences of a fixed seed", { timeout: TIMEOUT_MS }, async () => {
  const report = await modelBasedRun(stretched("fixed"), reference, { sequences: 500, seed: 20_261_130 });
  expect(report.sequences).toBe(500);
  await client.flushall();
});

it("agrees with the reference over 300 sequences of a random seed, short sequences only", {
  timeout: TIMEOUT_MS,
}, async () => {
  const seed = Math.floor(Math.random() * 0x7fff_ffff);
  console.log(`model-based run: seed ${seed}`);
  const report = await modelBasedRun(stretched("random"), reference, {
    sequences: 300,
    seed,
    maxElements: 3,
  });
  expect(report.sequences).toBe(300);
});
