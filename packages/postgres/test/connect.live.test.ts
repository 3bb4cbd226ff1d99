// What becomes of calls when connections break, fall silent, are refused or given up: every promise settles, nothing is
// lost or done twice, and the store goes on when the server does.

import { setTimeout as pause } from "node:timers/promises";
import { isMemoryError, type MemoryStoreSettingsInput, memoryScope, memoryStoreSettings } from "@memory/core";
import { Pool } from "@memory/core/postgres-js";
import { findPostgres, type PostgresPrimary, startProxy, type TcpProxy, waitFor } from "@tooling/servers";
import postgres from "postgres";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PostgresMemoryStore } from "../src/index.ts";
import { applySchema, asOwner } from "./target.ts";

const lane = findPostgres();
const QUICK = { attemptTimeoutMs: 400, connectTimeoutMs: 400, backoffMs: 20, queueTimeoutMs: 5_000 };

describe.skipIf(lane.isMissing)("connections of the store's own", () => {
  let server: PostgresPrimary;
  let proxy: TcpProxy;
  let count = 0;

  beforeAll(async () => {
    server = await lane.start();
    await applySchema(server.url);
    proxy = await startProxy(server);
  });
  afterAll(async () => {
    await proxy?.stop();
    await server?.stop();
  });

  const connect = (input: Partial<MemoryStoreSettingsInput> = {}) =>
    PostgresMemoryStore.connect(memoryStoreSettings({ dsn: server.url, ...QUICK, ...input }));
  const newScope = () => memoryScope({ tenantId: `connect-${++count}` });
  const episode = (id: string) => ({ id, key: "turn", value: id, source: "test" });
  const activity = (state: string) =>
    server.psql(
      `SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() AND ${state}`,
    );

  it.each([1, 4])(
    "settles every call of a pool of %i whose backends are killed, and loses no acknowledged one",
    async (poolSize) => {
      await using store = connect({ poolSize });
      const scope = newScope();
      const acknowledged: string[] = [];
      const calls = [...Array(300).keys()].map(async (n) => {
        await pause(n * 2);
        try {
          await store.log(scope, episode(`e${n}`));
          acknowledged.push(`e${n}`);
        } catch (error) {
          if (!isMemoryError(error, "MEMORY_UNAVAILABLE") && !isMemoryError(error, "POOL_EXHAUSTED")) throw error;
        }
      });
      for (let round = 0; round < 8; round += 1) {
        await pause(70);
        await server.psql(
          "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()",
        );
      }
      await Promise.all(calls);
      const hits = await store.episodes(scope, { limit: 1_000 });
      const ids = hits.map((hit) => hit.record.id);
      expect(acknowledged.filter((id) => !ids.includes(id))).toEqual([]);
      expect(new Set(ids).size).toBe(ids.length);
      expect(acknowledged.length).toBeGreaterThan(200);
    },
  );

  it("settles an erasure and a bulk log whose connection is killed between their statements, whole or not at all", async () => {
    await using store = connect({ poolSize: 2, attemptTimeoutMs: 5_000 });
    const scope = newScope();
    const records = [...Array(9_000).keys()].map((n) => episode(`r${n}`));
    for (let round = 0; round < 6; round += 1) {
      const call = store.logAll(scope, records).then(
        () => true,
        (error: unknown) => {
          if (!isMemoryError(error)) throw error;
          return false;
        },
      );
      await pause(30 + round * 40);
      await server.psql(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()",
      );
      const isStored = await call;
      const { records: erased } = await store.erase(scope);
      expect([0, 9_000]).toContain(erased);
      if (isStored) expect(erased).toBe(9_000);
    }
  });

  it("settles every call to a server that stands still, and goes on when it does", async () => {
    await using store = connect({ poolSize: 3 });
    const scope = newScope();
    await store.log(scope, episode("before"));
    await server.pause();
    const settled = await Promise.allSettled([...Array(6).keys()].map((n) => store.log(scope, episode(`during${n}`))));
    await server.resume();
    for (const one of settled) {
      if (one.status === "rejected")
        expect(one.reason).toMatchObject({ code: expect.stringMatching(/UNAVAILABLE|EXHAUSTED/) });
    }
    await waitFor("the store to go on", async () => (await store.log(scope, episode("after"))).id === "after");
    const ids = (await store.episodes(scope, { limit: 100 })).map((hit) => hit.record.id);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it("closes connections that fell silent and makes new ones", async () => {
    await using store = connect({ dsn: proxy.through(server.url), poolSize: 2 });
    const scope = newScope();
    await store.log(scope, episode("before"));
    proxy.set({ blackHole: true });
    await expect(store.log(scope, episode("lost"))).rejects.toMatchObject({
      code: "MEMORY_UNAVAILABLE",
      outcome: "unknown",
    });
    await expect(store.episodes(scope)).rejects.toMatchObject({ code: "MEMORY_UNAVAILABLE", outcome: "not-applied" });
    // The old connections stay silent for ever, as after a host that is gone; only new ones are answered.
    const silent = proxy;
    proxy = await startProxy(server);
    await silent.stop();
    proxy.set({});
    await using again = connect({ dsn: proxy.through(server.url), poolSize: 2 });
    await waitFor("the store to go on", async () => (await again.log(scope, episode("after"))).id === "after");
    expect(Number(await activity("state = 'active'"))).toBe(0);
  });

  it("settles every call to a port that accepts and says nothing", async () => {
    await using mute = await startProxy(server, { blackHole: true });
    await using store = connect({ dsn: mute.through(server.url), poolSize: 2, maxAttempts: 2 });
    const calls = [...Array(4).keys()].map((n) => store.log(newScope(), episode(`e${n}`)));
    for (const call of await Promise.allSettled(calls)) expect(call).toMatchObject({ status: "rejected" });
    mute.set({});
    await waitFor("the store to go on", async () => (await store.log(newScope(), episode("e"))).id === "e");
  });

  it.each([true, false])(
    "replaces a connection that has prepared 256 statements, and no other: %s",
    async (prepare) => {
      await using store = connect({ poolSize: 1, prepare });
      const scope = newScope();
      const backend = () =>
        server.psql(
          "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND query LIKE '%memory%episodes%' AND pid <> pg_backend_pid()",
        );
      const ask = (names: number, values: number) => {
        const filter = [...Array(names).keys()].map((n) => [`n${n}`, [...Array(values).keys()]] as const);
        return store.episodes(scope, { filter: Object.fromEntries(filter) });
      };
      await ask(1, 1);
      const first = await backend();
      for (let n = 0; n < 300; n += 1) await ask(1, 1);
      expect(await backend()).toBe(first);
      for (let n = 0; n < 255; n += 1) await ask(1 + (n % 3), 2 + Math.floor(n / 3));
      // It goes before the next call is answered, but not in the same instant.
      await ask(1, 1);
      if (prepare) await waitFor("the connection to go", async () => (await backend()) !== first);
      else expect(await backend()).toBe(first);
    },
  );

  it("says after all attempts that a refused connection had no effect", async () => {
    await using store = connect({ dsn: "postgres://agent@127.0.0.1:1/memory" });
    await expect(store.log(newScope(), episode("e"))).rejects.toMatchObject({
      code: "MEMORY_UNAVAILABLE",
      attempts: 3,
      outcome: "not-applied",
    });
  });

  it("stops at the server what its caller gave up", async () => {
    await using store = connect({ poolSize: 2, attemptTimeoutMs: 20_000 });
    const scope = newScope();
    await store.supersede(scope, { key: "k", value: 1, source: "test" });
    await asOwner(server.url, async (sql) => {
      await sql.unsafe("BEGIN; LOCK TABLE memory.profile_versions IN ACCESS EXCLUSIVE MODE");
      const controller = new AbortController();
      const call = store.profile(scope, "k", { signal: controller.signal });
      const failed = expect(call).rejects.toThrow("enough");
      await waitFor("the read to wait", async () => (await activity("wait_event_type = 'Lock'")) === "1");
      controller.abort(new Error("enough"));
      await failed;
      await waitFor("the statement to end", async () => (await activity("wait_event_type = 'Lock'")) === "0");
      await sql.unsafe("ROLLBACK");
    });
    expect((await store.profile(scope, "k"))?.value).toBe(1);
  });

  it("tells a full server as exhaustion, at once and without another attempt", async () => {
    await server.psql(
      "CREATE ROLE narrow LOGIN CONNECTION LIMIT 1; GRANT ALL ON SCHEMA memory TO narrow; GRANT ALL ON ALL TABLES IN SCHEMA memory TO narrow",
    );
    const dsn = server.url.replace("postgres@", "narrow@");
    await using first = connect({ dsn, poolSize: 1 });
    await using second = connect({ dsn, poolSize: 1 });
    await first.log(newScope(), episode("e"));
    await expect(second.log(newScope(), episode("e"))).rejects.toMatchObject({ code: "POOL_EXHAUSTED" });
  });

  it("does not repeat a wrong password, and shows none of it", async () => {
    const guarded = await lane.start({ password: "correct horse" });
    try {
      const dsn = new URL(guarded.url);
      dsn.password = "battery-staple";
      await using store = connect({ dsn: dsn.href });
      const error: unknown = await store.log(newScope(), episode("e")).catch((reason: unknown) => reason);
      expect(error).toMatchObject({ code: "MEMORY_UNAVAILABLE", attempts: 1, outcome: "not-applied" });
      expect(isMemoryError(error) ? error.cause : undefined).toMatchObject({ code: "28P01" });
    } finally {
      await guarded.stop();
    }
  });

  it("closes its connections, once, and refuses what comes after", async () => {
    const store = connect({ poolSize: 3 });
    const scope = newScope();
    await Promise.all([...Array(9).keys()].map((n) => store.log(scope, episode(`e${n}`))));
    const name = `usename = 'postgres' AND query LIKE '%episodes%'`;
    expect(Number(await activity(name))).toBeGreaterThan(0);
    await Promise.all([store.close(), store.close()]);
    await waitFor("the connections to be gone", async () => (await activity(name)) === "0");
    await expect(store.episodes(scope)).rejects.toMatchObject({ code: "MEMORY_UNAVAILABLE", attempts: 0 });
  });

  it("runs nothing that still waited for a connection when the pool was closed, or when its call was given up", async () => {
    await server.psql("CREATE TABLE waited (n integer)");
    const pool = new Pool(postgres, memoryStoreSettings({ dsn: server.url, poolSize: 1 }));
    const { signal } = new AbortController();
    const givenUp = new AbortController();
    const insert = (n: number) => ({ text: "INSERT INTO waited VALUES ($1::integer)", params: [n] });
    const busy = pool.run({ text: "SELECT pg_sleep(0.5)", params: [] }, { signal });
    const waiting = [
      pool.run(insert(1), { signal: givenUp.signal }),
      pool.run({ text: "SELECT pg_sleep(0.5)", params: [] }, { signal }),
      pool.run(insert(2), { signal }),
    ];
    const outcomes = Promise.allSettled(waiting);
    givenUp.abort();
    await busy;
    await pause(100);
    await pool.close();
    expect((await outcomes).map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
    await expect(pool.run(insert(3), { signal })).rejects.toThrow();
    expect(await server.psql("SELECT count(*) FROM waited")).toBe("0");
  });
});
