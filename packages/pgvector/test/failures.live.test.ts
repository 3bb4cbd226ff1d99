// What becomes of calls when backends are killed, the server falls silent or the pool is one connection: every promise
// settles, nothing acknowledged is lost, and the store goes on when the server does.

import { setTimeout as pause } from "node:timers/promises";
import { isMemoryError, type MemoryStoreSettingsInput, memoryScope, memoryStoreSettings } from "@memory/core";
import { type PostgresPrimary, waitFor } from "@tooling/servers";
import postgres from "postgres";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PgvectorMemoryStore } from "../src/index.ts";
import { local } from "./lanes.ts";
import { applySchema } from "./target.ts";

const WIDTH = 16;
const KILL =
  "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()";

describe.skipIf(local.isMissing)("failures", () => {
  let server: PostgresPrimary;
  let count = 0;

  beforeAll(async () => {
    server = await local.start();
    await applySchema(server.url, { dimensions: WIDTH });
  });
  afterAll(async () => {
    await server?.stop();
  });

  const connect = (input: Partial<MemoryStoreSettingsInput> = {}) =>
    PgvectorMemoryStore.connect(
      memoryStoreSettings({
        dsn: server.url,
        attemptTimeoutMs: 400,
        connectTimeoutMs: 400,
        backoffMs: 20,
        queueTimeoutMs: 5_000,
        ...input,
      }),
      { dimensions: WIDTH },
    );
  const newScope = () => memoryScope({ tenantId: `failures-${++count}` });
  const vector = (seed: number) => Array.from({ length: WIDTH }, (_, n) => Math.sin(seed * 31 + n * 7) + 0.01);
  const record = (n: number) => ({ key: `k${n}`, value: n, source: "t", embedding: vector(n) });

  it.each([1, 4])("settle every call of a pool of %i whose backends are killed, and lose nothing", async (poolSize) => {
    await using store = connect({ poolSize });
    const scope = newScope();
    const acknowledged: string[] = [];
    const tolerate = (error: unknown): void => {
      if (!isMemoryError(error, "MEMORY_UNAVAILABLE") && !isMemoryError(error, "POOL_EXHAUSTED")) throw error;
    };
    const calls = [...Array(200).keys()].map(async (n) => {
      await pause(n * 3);
      if (n % 2 === 0) await store.index(scope, record(n)).then((one) => acknowledged.push(one.key), tolerate);
      else await store.search(scope, { embedding: vector(n) }).then(() => undefined, tolerate);
    });
    for (let round = 0; round < 8; round += 1) {
      await pause(70);
      await server.psql(KILL);
    }
    await Promise.all(calls);
    const keys = (await store.search(scope, { embedding: vector(0), limit: 1_000 })).map((hit) => hit.record.key);
    expect(acknowledged.filter((key) => !keys.includes(key))).toEqual([]);
    expect(acknowledged.length).toBeGreaterThan(60);
  });

  it("leave a bulk write whose connection is killed between its statements whole or undone", {
    timeout: 120_000,
  }, async () => {
    // So many that they go in several statements of one transaction.
    const records = [...Array(60_000).keys()].map(record);
    await using store = connect({ poolSize: 2, attemptTimeoutMs: 30_000, maxAttempts: 1 });
    for (let round = 0; round < 4; round += 1) {
      const scope = newScope();
      const call = store.indexAll(scope, records).then(
        () => true,
        (error: unknown) => {
          if (!isMemoryError(error, "MEMORY_UNAVAILABLE")) throw error;
          return false;
        },
      );
      await waitFor(
        "its first statement to have begun",
        async () =>
          (await server.psql(
            "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'INSERT INTO%' AND state <> 'idle'",
          )) !== "0",
      );
      await pause(round * 300);
      await server.psql(KILL);
      const isStored = await call;
      const { records: erased } = await store.erase(scope);
      expect([0, 60_000]).toContain(erased);
      if (isStored) expect(erased).toBe(60_000);
    }
  });

  it("settle every call to a server that stands still, and go on when it does", async () => {
    await using store = connect({ poolSize: 3 });
    const scope = newScope();
    await store.index(scope, record(0));
    await server.pause();
    const calls = [...Array(6).keys()].map((n) =>
      n % 2 === 0 ? store.index(scope, record(n)) : store.search(scope, { embedding: vector(n) }),
    );
    const settled = await Promise.allSettled(calls);
    await server.resume();
    expect(settled.map(({ status }) => status)).toEqual(settled.map(() => "rejected"));
    for (const one of settled) {
      if (one.status === "rejected") {
        expect(one.reason).toMatchObject({ code: expect.stringMatching(/UNAVAILABLE|EXHAUSTED/) });
      }
    }
    await waitFor("the store to go on", async () => (await store.index(scope, record(9))).key === "k9");
  });

  it("say of the first call's look for the extension what they say of any other", async () => {
    await using store = connect({ dsn: "postgres://agent@127.0.0.1:1/memory" });
    await expect(store.search(newScope(), { embedding: vector(1) })).rejects.toMatchObject({
      code: "MEMORY_UNAVAILABLE",
      attempts: 3,
      outcome: "not-applied",
    });
  });

  it("stop a search that its caller gave up, and the first look too", async () => {
    await using store = connect();
    const controller = new AbortController();
    const call = store.search(newScope(), { embedding: vector(1) }, { signal: controller.signal });
    controller.abort(new Error("enough"));
    await expect(call).rejects.toThrow("enough");
    expect(await store.search(newScope(), { embedding: vector(1) })).toEqual([]);
  });

  it("leave a borrowed client to its owner", async () => {
    const sql = postgres(server.url, { max: 2, onnotice: () => {} });
    try {
      const store = new PgvectorMemoryStore(sql, { dimensions: WIDTH });
      const scope = newScope();
      await store.indexAll(scope, [record(1), record(2)]);
      await store.close();
      expect(await sql`SELECT count(*)::int AS n FROM memory.semantic WHERE tenant_id = ${scope.tenantId}`).toEqual([
        { n: 2 },
      ]);
    } finally {
      await sql.end({ timeout: 1 });
    }
  });
});
