// Erasure of much, by a process that dies in the middle of it, and by attempts that fail under one another.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { MemoryScope } from "@memory/core";
import { startProxy, startRedis, waitFor } from "@tooling/servers";
import { Redis } from "ioredis";
import { afterAll, expect, it } from "vitest";
import { redisDriver } from "../src/driver.ts";
import { RedisMemoryStore } from "../src/index.ts";

const TIMEOUT_MS = 180_000;
const COUNT = 200_000;

const server = await startRedis();
const client = new Redis(server.url, { enableAutoPipelining: true });
// A count of 200,000 rows of which some are hidden is one call; how long it takes is no matter of this test.
const settings = { maxQueued: 100_000, attemptTimeoutMs: 60_000 };
const store = new RedisMemoryStore(client, { redactor: null, settings });
const doomed: MemoryScope = { tenantId: "acme", userId: "gone" };
const bystander: MemoryScope = { tenantId: "acme", userId: "stays" };

afterAll(async () => {
  client.disconnect();
  await server.stop();
});

async function fill(scope: MemoryScope, count: number): Promise<void> {
  for (let from = 0; from < count; from += 1_000) {
    await Promise.all(
      Array.from({ length: 1_000 }, (_, i) =>
        store.write(scope, { kind: "working", scope, key: `k${from + i}`, value: i, source: "test" }),
      ),
    );
  }
}

it("is finished by the next run when a process is killed between the phases", { timeout: TIMEOUT_MS }, async () => {
  await fill(doomed, COUNT);
  await fill(bystander, 1_000);
  const child = spawn(
    process.execPath,
    ["--conditions=@memory/source", fileURLToPath(new URL("./dying-erasure.ts", import.meta.url)), server.url],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  await once(child.stdout, "data");
  child.kill("SIGKILL");
  await once(child, "exit");

  const rowsLeft = async (): Promise<number> => client.zcard("adk:mem:{acme}:gone:::index");
  expect(await rowsLeft()).toBeGreaterThan(1);
  expect(await store.read(doomed, "k0")).toBeNull();
  expect(await store.read(doomed, `k${COUNT - 1}`)).toBeNull();
  expect((await store.keys(doomed)).keys).toEqual([]);

  // Written in between: kept, and not counted.
  await store.write(doomed, { kind: "working", scope: doomed, key: "k7", value: "new", source: "test" });
  const receipt = await store.erase({ ...doomed, sessionId: "none" });
  expect(receipt.records).toBe(0);
  expect((await store.read(doomed, "k7"))?.value).toBe("new");

  expect((await store.erase(doomed, { dryRun: true })).records).toBe(1);
  const finished = await store.erase(doomed);
  expect(finished).toMatchObject({ complete: true, records: COUNT + 1 });
  expect((await store.erase(doomed)).records).toBe(0);
  expect((await store.keys(bystander, { limit: 1_000 })).keys).toHaveLength(1_000);
  expect((await store.erase({ tenantId: "acme" })).records).toBe(1_000);
  expect(await client.dbsize()).toBe(0);
});

// The walk of the first waits for a page of scopes when its connection breaks: to whoever goes on in that walk, it is at its
// end, and the erasure is declared over whose rows are all there.
it("is not over for an attempt because the walk of one before it failed", { timeout: TIMEOUT_MS }, async () => {
  const scope: MemoryScope = { tenantId: "walks", userId: "u" };
  await fill(scope, 1_000);
  await using proxy = await startProxy(server);
  const lossy = new Redis(proxy.through(server.url), {
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    retryStrategy: () => 5,
  });
  lossy.on("error", () => undefined);
  const { erasure } = redisDriver(lossy, {}, { concurrency: 10, close: async () => lossy.disconnect() });
  if (erasure === undefined) throw new Error("the driver does not erase");
  const request = { scope, reach: "under" as const };
  const call = (attempt: number) => ({
    now: Date.now(),
    signal: new AbortController().signal,
    attempt,
    budgetMs: 60_000,
  });
  await erasure.tombstone({ ...request, kinds: undefined, keys: undefined }, call(1));
  expect(await store.read(scope, "k0")).toBeNull();

  proxy.set({ lose: { what: "reply", every: 1, ending: "silence", only: (command) => command === "ZSCAN" } });
  const first = erasure.sweep(request, call(1)).catch((error: unknown) => error);
  await waitFor("the page of scopes to be lost", async () => proxy.counts().lost === 1);
  const second = erasure.sweep(request, call(2)).catch((error: unknown) => error);
  proxy.set({});
  proxy.reset();
  expect(await first).toBeInstanceOf(Error);
  let outcome = await second;
  for (let attempt = 3; outcome === null || outcome instanceof Error; attempt += 1) {
    outcome = await erasure.sweep(request, call(attempt)).catch((error: unknown) => error);
  }
  lossy.disconnect();
  expect(outcome).toEqual({ working: 1_000 });
  expect(await store.read(scope, "k0")).toBeNull();
  expect(await client.keys("*walks*")).toEqual([]);
});
