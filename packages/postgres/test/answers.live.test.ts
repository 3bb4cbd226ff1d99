// What becomes of a write whose answer is lost, and of calls that are given up at any moment: no write lands twice, no
// connection is left, nothing goes unheard.

import { isMemoryError, type MemoryStoreSettingsInput, memoryScope, memoryStoreSettings } from "@memory/core";
import { findPostgres, type PostgresPrimary, startProxy, waitFor } from "@tooling/servers";
import postgres from "postgres";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PostgresMemoryStore } from "../src/index.ts";
import { applySchema, asOwner } from "./target.ts";

const lane = findPostgres();

// Only those that have served already: what a new connection of the client's asks for first, the types, it asks in a promise
// that is nobody's, and nobody could hear of its failure (postgres.js 3.4.9, fetchArrayTypes).
const KILL_SERVED =
  "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() AND query <> '' AND query NOT LIKE '%typarray%'";

describe.skipIf(lane.isMissing)("answers that never come", () => {
  let server: PostgresPrimary;
  let count = 0;
  const unheard: unknown[] = [];
  const hear = (error: unknown): void => {
    unheard.push(error);
  };

  beforeAll(async () => {
    process.on("unhandledRejection", hear).on("uncaughtException", hear);
    server = await lane.start();
    await applySchema(server.url);
  });
  afterAll(async () => {
    process.off("unhandledRejection", hear).off("uncaughtException", hear);
    await server?.stop();
    expect(unheard).toEqual([]);
  });

  const connect = (input: Partial<MemoryStoreSettingsInput> = {}) =>
    PostgresMemoryStore.connect(memoryStoreSettings({ dsn: server.url, ...input }), { redactor: null });
  const newScope = () => memoryScope({ tenantId: `lost-${++count}` });
  const backends = () =>
    server.psql(
      "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()",
    );

  it("lands a write once whose answer was lost after its commit, also when others follow it", async () => {
    await using proxy = await startProxy(server);
    await using store = connect({
      dsn: proxy.through(server.url),
      poolSize: 1,
      attemptTimeoutMs: 500,
      connectTimeoutMs: 500,
      maxAttempts: 8,
    });
    await using other = connect({ poolSize: 1 });
    const scope = newScope();
    await store.supersede(scope, { id: "one", key: "k", value: 1, source: "t" });
    await store.log(scope, { id: "warm", key: "k", value: 1, source: "t" });
    const versions = () =>
      server.psql(`SELECT count(*) FROM memory.profile_versions WHERE tenant_id = '${scope.tenantId}'`);
    // The plan is made while answers come; the row is held so that they stop before the commit.
    await asOwner(server.url, async (sql) => {
      await sql.unsafe(`BEGIN; SELECT 1 FROM memory.profile_versions WHERE tenant_id = '${scope.tenantId}' FOR UPDATE`);
      const call = store.supersede(scope, { id: "two", key: "k", value: 2, source: "t" });
      await waitFor(
        "the write to wait",
        async () => (await server.psql("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'")) === "1",
      );
      proxy.set({ silent: true });
      await sql.unsafe("COMMIT");
      await waitFor("the write to land", async () => (await versions()) === "2");
      await other.supersede(scope, { id: "three", key: "k", value: 3, source: "t" });
      proxy.reset();
      proxy.set({});
      const { record, superseded } = await call;
      expect(record).toMatchObject({ id: "two", version: 2, value: 2 });
      expect(superseded?.id).toBe("one");
    });
    expect((await store.history(scope, "k")).map((one) => one.id)).toEqual(["one", "two", "three"]);
    const hits = async (): Promise<number> => (await other.episodes(scope, { limit: 1_000 })).length;
    // Its statement is known on the connection then, and needs no answer to be run.
    const warm = { id: "warm", key: "k", value: 1, source: "t" };
    await store.logAll(scope, [warm, { ...warm, id: "warm too" }]);
    proxy.set({ silent: true });
    const logged = store.logAll(
      scope,
      [...Array(50).keys()].map((n) => ({ id: `e${n}`, key: "k", value: n, source: "t" })),
    );
    await waitFor("the log to land", async () => (await hits()) === 52);
    proxy.reset();
    proxy.set({});
    await logged;
    expect(await hits()).toBe(52);
  });

  it("counts what it erased although an answer was lost", async () => {
    await using proxy = await startProxy(server);
    await using store = connect({
      dsn: proxy.through(server.url),
      poolSize: 1,
      attemptTimeoutMs: 500,
      connectTimeoutMs: 500,
      maxAttempts: 8,
    });
    const scope = newScope();
    await store.logAll(
      scope,
      [...Array(50).keys()].map((n) => ({ id: `e${n}`, key: "k", value: n, source: "t" })),
    );
    await store.erase(newScope());
    proxy.set({ silent: true });
    const erasure = store.erase(scope);
    const left = () => server.psql(`SELECT count(*) FROM memory.episodes WHERE tenant_id = '${scope.tenantId}'`);
    await waitFor("the erasure to land", async () => (await left()) === "0");
    proxy.reset();
    proxy.set({});
    expect(await erasure).toMatchObject({ records: 50, complete: true });
    expect((await store.erase(scope)).records).toBe(0);
    expect(await server.psql("SELECT count(*) FROM memory.erasures")).toBe("0");
  });

  it.each([true, false])(
    "stops at any moment when its caller does, and goes on (own connections: %s)",
    { timeout: 60_000 },
    async (isOwn) => {
      const sql = isOwn ? undefined : postgres(server.url, { max: 3, onnotice: () => {} });
      const store = sql === undefined ? connect({ poolSize: 3 }) : new PostgresMemoryStore(sql, { redactor: null });
      const scope = newScope();
      const records = [...Array(300).keys()].map((n) => ({ id: `e${n}`, key: "k", value: n, source: "t" }));
      const reason = new Error("enough");
      let stopped = 0;
      const calls = [...Array(160).keys()].map(async (n) => {
        const controller = new AbortController();
        const { signal } = controller;
        const call = [
          () => store.log(scope, { key: "k", value: n, source: "t" }, { signal }),
          () => store.logAll(scope, records, { signal }),
          () => store.supersede(scope, { key: "p", value: n, source: "t" }, { signal }),
          () => store.erase(memoryScope({ tenantId: `${scope.tenantId}-${n % 5}` }), { signal }),
          () => store.episodes(scope, {}, { signal }),
        ][n % 5]?.();
        setTimeout(() => controller.abort(reason), (n * 7) % 90);
        try {
          await call;
        } catch (error) {
          if (error !== reason) throw error;
          stopped += 1;
        }
      });
      await Promise.all(calls);
      expect(stopped).toBeGreaterThan(0);
      // Whatever was left behind on a connection would show now.
      await Promise.all(
        [...Array(60).keys()].map((n) => store.log(scope, { id: `after${n}`, key: "after", value: n, source: "t" })),
      );
      expect(await store.episodes(scope, { key: "after", limit: 100 })).toHaveLength(60);
      const trail = await store.history(scope, "p");
      expect(trail.map((one) => one.version)).toEqual(trail.map((_, index) => index + 1));
      const bulk = (await store.episodes(scope, { key: "k", limit: 1_000 })).filter((hit) =>
        hit.record.id.startsWith("e"),
      );
      expect([0, 300]).toContain(bulk.length);
      const open = await server.psql("SELECT count(*) FROM pg_stat_activity WHERE state LIKE 'idle in transaction%'");
      expect(open).toBe("0");
      await store.close();
      await sql?.end({ timeout: 1 });
      await waitFor("the connections to be gone", async () => (await backends()) === "0");
    },
  );

  it("closes while calls are under way, settles each, and leaves no connection", async () => {
    for (const ms of [0, 5, 30, 80]) {
      const store = connect({ poolSize: 3, queueTimeoutMs: 60_000 });
      const scope = newScope();
      const calls = [...Array(60).keys()].map((n) =>
        store.supersede(scope, { key: `k${n % 3}`, value: n, source: "t" }),
      );
      await new Promise((resolve) => setTimeout(resolve, ms));
      await store.close();
      for (const call of await Promise.allSettled(calls)) {
        if (call.status === "rejected") expect(call.reason).toMatchObject({ code: "MEMORY_UNAVAILABLE" });
      }
      await waitFor("the connections to be gone", async () => (await backends()) === "0");
    }
  });

  it.each([1, 3])("goes on with transactions on a borrowed client of %i connections that were lost", async (max) => {
    let open = 0;
    const onclose = (): void => {
      open -= 1;
    };
    const sql = postgres(server.url, { max, onnotice: () => {}, onclose, backoff: () => 0.02 });
    await using store = new PostgresMemoryStore(sql);
    for (let round = 0; round < 4; round += 1) {
      const scope = newScope();
      const ids = [...Array(max * 2).keys()].map((n) => `r${n}`);
      await Promise.all(ids.map((id) => store.log(scope, { id, key: "k", value: 1, source: "t" })));
      expect((await store.erase(scope)).records).toBe(max * 2);
      open = Number(await backends());
      await server.psql(KILL_SERVED);
      // What is sent to a connection that is closing may be lost to it, and the next one then never sends (postgres.js 3.4.9,
      // nextWriteTimer in connection.js).
      await waitFor("the client to hear of it", async () => open <= 0);
    }
    await sql.end({ timeout: 1 });
  });

  it.each([1, 3])(
    "settles every call on a borrowed client of %i connections whose backends are killed, and leaves no transaction",
    { timeout: 120_000 },
    async (max) => {
      const sql = postgres(server.url, { max, onnotice: () => {}, backoff: () => 0.02 });
      const settings = memoryStoreSettings({
        dsn: server.url,
        attemptTimeoutMs: 1_000,
        // Such a client may be lost for good (see above): its calls are refused in time then.
        queueTimeoutMs: 5_000,
        maxQueued: 1_000,
      });
      const store = new PostgresMemoryStore(sql, { redactor: null, settings });
      const scope = newScope();
      const records = [...Array(9_000).keys()].map((n) => ({ id: `r${n}`, key: "k", value: n, source: "t" }));
      const acknowledged: string[] = [];
      const calls = [...Array(120).keys()].map(async (n) => {
        await new Promise((resolve) => setTimeout(resolve, n * 8));
        try {
          if (n % 30 === 7) await store.logAll(memoryScope({ tenantId: `${scope.tenantId}-bulk` }), records);
          else if (n % 10 === 3) await store.erase(memoryScope({ tenantId: `${scope.tenantId}-${n}` }));
          else {
            await store.log(scope, { id: `e${n}`, key: "k", value: n, source: "t" });
            acknowledged.push(`e${n}`);
          }
        } catch (error) {
          if (!isMemoryError(error, "MEMORY_UNAVAILABLE") && !isMemoryError(error, "POOL_EXHAUSTED")) throw error;
        }
      });
      for (let round = 0; round < 8; round += 1) {
        await new Promise((resolve) => setTimeout(resolve, 110));
        await server.psql(KILL_SERVED);
      }
      await Promise.all(calls);
      await using own = connect({ poolSize: 1 });
      const ids = (await own.episodes(scope, { limit: 1_000 })).map((hit) => hit.record.id);
      expect(acknowledged.filter((id) => !ids.includes(id))).toEqual([]);
      expect(new Set(ids).size).toBe(ids.length);
      const bulk = await own.erase({ tenantId: `${scope.tenantId}-bulk` });
      expect([0, 9_000]).toContain(bulk.records);
      expect(await server.psql("SELECT count(*) FROM pg_stat_activity WHERE state LIKE 'idle in transaction%'")).toBe(
        "0",
      );
      await store.close();
      await sql.end({ timeout: 1 });
    },
  );

  it("gives up connections that are still being made, and leaves none", async () => {
    await using proxy = await startProxy(server, { delayMs: 150 });
    await using store = connect({ dsn: proxy.through(server.url), poolSize: 4 });
    const scope = newScope();
    for (const ms of [0, 50, 150, 300, 450, 600]) {
      const controller = new AbortController();
      const calls = [...Array(4).keys()].map((n) =>
        store.log(scope, { id: `${ms}-${n}`, key: "k", value: n, source: "t" }, { signal: controller.signal }),
      );
      setTimeout(() => controller.abort(new Error("enough")), ms);
      await Promise.allSettled(calls);
    }
    proxy.set({});
    await Promise.all(
      [...Array(20).keys()].map((n) => store.log(scope, { id: `a${n}`, key: "a", value: n, source: "t" })),
    );
    expect(await store.episodes(scope, { key: "a", limit: 50 })).toHaveLength(20);
    await store.close();
    await waitFor("the connections to be gone", async () => (await backends()) === "0");
    expect(proxy.counts().open).toBe(0);
  });
});
