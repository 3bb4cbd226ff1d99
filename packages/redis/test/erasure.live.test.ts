// Erasure of much, by a process that dies in the middle of it.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { MemoryScope } from "@memory/core";
import { startRedis } from "@tooling/servers";
import { Redis } from "ioredis";
import { afterAll, expect, it } from "vitest";
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
