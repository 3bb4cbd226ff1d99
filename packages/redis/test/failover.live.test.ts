// Failovers under writes: what a replica had confirmed is there afterwards, everything else was a typed error, nothing hangs.

import { isMemoryError, type MemoryScope, type MemoryStore, memoryStoreSettings } from "@memory/core";
import { canStartLocally, startRedisCluster, startSentinel } from "@tooling/servers";
import { Cluster, Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { RedisMemoryStore } from "../src/index.ts";
import type { RedisClient } from "../src/script.ts";

const TIMEOUT_MS = 180_000;
const WRITES = 2_000;
const scope: MemoryScope = { tenantId: "acme" };
const settings = {
  maxAttempts: 8,
  backoffMs: 100,
  attemptTimeoutMs: 3_000,
  connectTimeoutMs: 1_000,
  maxQueued: 10_000,
};

const unhandled: unknown[] = [];
const note = (reason: unknown): void => {
  unhandled.push(reason);
};

beforeAll(() => {
  process.on("unhandledRejection", note);
});

afterAll(() => {
  process.off("unhandledRejection", note);
  expect(unhandled).toEqual([]);
});

/** Writes and appends while `fail` happens in the middle; replicas confirm what the first half did. */
async function writeThrough(store: MemoryStore, confirm: () => Promise<void>, fail: () => Promise<unknown>) {
  const confirmed = new Set<string>();
  const positions: number[] = [];
  const failed: unknown[] = [];
  const write = async (i: number): Promise<void> => {
    const key = `k${i}`;
    try {
      await store.write(scope, { kind: "working", scope, key, value: i, source: "test" });
      positions.push(await store.append(scope, "turns", i));
      if (i < WRITES / 2) confirmed.add(key);
    } catch (error) {
      failed.push(error);
    }
  };
  const range = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, i) => from + i);
  for (let from = 0; from < WRITES / 2; from += 100) await Promise.all(range(from, from + 100).map(write));
  await confirm();
  const failure = fail();
  // It is awaited only below: until then a rejection would be one that nobody handles.
  failure.catch(() => undefined);
  for (let from = WRITES / 2; from < WRITES; from += 50) await Promise.all(range(from, from + 50).map(write));
  await failure;
  return { confirmed, positions, failed };
}

async function expectKept(
  store: MemoryStore,
  { confirmed, failed }: Awaited<ReturnType<typeof writeThrough>>,
): Promise<void> {
  expect(confirmed.size).toBe(WRITES / 2);
  for (const error of failed)
    expect(isMemoryError(error, "MEMORY_UNAVAILABLE") || isMemoryError(error, "POOL_EXHAUSTED")).toBe(true);
  for (const key of confirmed) expect((await store.read(scope, key))?.value, key).toBe(Number(key.slice(1)));
  const value = (await store.read(scope, "turns"))?.value;
  const turns = Array.isArray(value) ? value.map(Number) : [];
  // Each at most once, and all that was confirmed.
  expect(new Set(turns).size).toBe(turns.length);
  expect(turns.filter((turn) => turn < WRITES / 2)).toHaveLength(WRITES / 2);
  await store.write(scope, { kind: "working", scope, key: "after", value: 1, source: "test" });
}

// WAIT is about what its own connection wrote: a write there comes after all that was acknowledged to others.
async function waitOn(client: RedisClient): Promise<void> {
  const [node] = client instanceof Cluster ? client.nodes("master").filter((one) => one.status === "ready") : [client];
  await node?.set(`{${scope.tenantId}}:witness`, "1");
  expect(node === undefined ? 0 : await node.wait(1, 30_000)).toBeGreaterThan(0);
}

describe.skipIf(!canStartLocally())("a failover", () => {
  it("of Sentinels keeps what a replica confirmed", { timeout: TIMEOUT_MS }, async () => {
    await using sentinel = await startSentinel();
    const hosts = sentinel.addresses.map(({ host, port }) => `${host}:${port}`).join(",");
    const dsn = `redis+sentinel://${hosts}/${sentinel.name}`;
    const store = RedisMemoryStore.connect(memoryStoreSettings({ dsn, ...settings }));
    const master = await sentinel.master();
    const witness = new Redis(master.url);
    witness.on("error", () => undefined);
    const outcome = await writeThrough(
      store,
      async () => {
        await waitOn(witness);
        witness.disconnect();
      },
      () => sentinel.failover(),
    );
    await expectKept(store, outcome);
    await store.close();
  });

  it("of a cluster keeps what a replica confirmed", { timeout: TIMEOUT_MS }, async () => {
    await using cluster = await startRedisCluster();
    const dsn = `redis://${cluster.addresses.map(({ host, port }) => `${host}:${port}`).join(",")}`;
    const store = RedisMemoryStore.connect(memoryStoreSettings({ dsn, ...settings }));
    await store.read(scope, "k");
    const slot = Number(await cluster.nodes[0]?.cli("CLUSTER", "KEYSLOT", "{acme}"));
    const master = await cluster.masterOf(slot);
    const witness = new Redis(master.url);
    witness.on("error", () => undefined);
    const outcome = await writeThrough(
      store,
      async () => {
        await waitOn(witness);
        witness.disconnect();
      },
      () => cluster.failover(slot),
    );
    await expectKept(store, outcome);
    await store.close();
  });
});
