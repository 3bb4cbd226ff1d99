// Whatever a database or a role is set to, the store does the same: each setting that changes how statements are read, run,
// sorted or printed, one by one; and the isolation levels that let a transaction look at what is over.

import { type MemoryScope, memoryScope, memoryStoreSettings } from "@memory/core";
import { findPostgres, type PostgresPrimary, waitFor } from "@tooling/servers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PostgresMemoryStore } from "../src/index.ts";
import { applySchema, asOwner } from "./target.ts";

const lane = findPostgres();

const settings: readonly (readonly [string, string])[] = [
  ["search_path", "''"],
  ["timezone", "'Asia/Kathmandu'"],
  ["datestyle", "'German'"],
  ["intervalstyle", "'iso_8601'"],
  ["extra_float_digits", "-15"],
  ["bytea_output", "'escape'"],
  ["standard_conforming_strings", "off"],
  ["backslash_quote", "off"],
  ["escape_string_warning", "on"],
  ["array_nulls", "off"],
  ["transform_null_equals", "on"],
  ["quote_all_identifiers", "on"],
  ["client_encoding", "'LATIN1'"],
  ["lc_numeric", "'C'"],
  ["row_security", "on"],
  ["plan_cache_mode", "'force_generic_plan'"],
  ["enable_indexscan", "off"],
  ["default_transaction_isolation", "'repeatable read'"],
  ["default_transaction_isolation", "'serializable'"],
  ["default_transaction_deferrable", "on"],
  ["idle_in_transaction_session_timeout", "'200ms'"],
  ["idle_session_timeout", "'50ms'"],
  ["lock_timeout", "'2s'"],
  ["statement_timeout", "'20s'"],
];

describe.skipIf(lane.isMissing)("settings", () => {
  let server: PostgresPrimary;
  let count = 0;

  beforeAll(async () => {
    server = await lane.start({ settings: { max_connections: "100" } });
    await applySchema(server.url);
  });
  afterAll(async () => {
    await server?.stop();
  });

  async function roleWith(...pairs: readonly (readonly [string, string])[]): Promise<string> {
    count += 1;
    const role = `set_${count}`;
    await asOwner(server.url, (sql) =>
      sql.unsafe(`
        CREATE ROLE ${role} LOGIN;
        GRANT USAGE ON SCHEMA memory TO ${role};
        GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA memory TO ${role};
        ${pairs.map(([name, value]) => `ALTER ROLE ${role} SET ${name} = ${value};`).join("\n")}
      `),
    );
    return server.url.replace("postgres@", `${role}@`);
  }

  const connect = (dsn: string, poolSize = 4) =>
    PostgresMemoryStore.connect(memoryStoreSettings({ dsn, poolSize, queueTimeoutMs: 60_000, maxQueued: 10_000 }), {
      redactor: null,
    });

  it.each(settings)("does the same with %s set to %s", async (name, value) => {
    await using store = connect(await roleWith([name, value]));
    await store.verify();
    const scope = memoryScope({ tenantId: `set-${count}`, userId: 'ü\\"{%_}' });
    await everyOperation(store, scope);
  });

  it.each(["'repeatable read'", "'serializable'"])(
    "lands every write of many callers at %s, and leaves no hole",
    {
      timeout: 60_000,
    },
    async (level) => {
      await using store = connect(await roleWith(["default_transaction_isolation", level]), 12);
      const scope = memoryScope({ tenantId: `level-${count}` });
      const landed = await Promise.all(
        [...Array(60).keys()].map((n) => store.supersede(scope, { id: `w${n}`, key: "k", value: n, source: "t" })),
      );
      expect(landed.map(({ record }) => record.version).sort((a, b) => (a ?? 0) - (b ?? 0))).toEqual(
        [...Array(60).keys()].map((n) => n + 1),
      );
      const records = [...Array(60).keys()].map((n) => ({
        id: `e${n}`,
        key: "e",
        value: n,
        source: "t",
        validFrom: n,
      }));
      const parts = [...Array(24).keys()].map((n) => records.slice(n, n + 30));
      await Promise.all(parts.map((part, n) => store.logAll(scope, n % 2 === 0 ? part : part.toReversed())));
      // Erasures among writers: what is left begins at 1.
      let erased = 0;
      let written = 0;
      const writers = [...Array(6).keys()].map(async (writer) => {
        for (let n = 0; n < 40; n += 1) {
          await store.supersede(scope, { key: "r", value: `${writer}-${n}`, source: "t" });
          written += 1;
        }
      });
      const eraser = async (): Promise<void> => {
        for (let n = 0; n < 12; n += 1) {
          const { records: gone } = await store.erase(scope, { keys: ["r"] });
          erased += gone;
        }
      };
      await Promise.all([...writers, eraser(), eraser()]);
      const trail = await store.history(scope, "r");
      expect(trail.map((one) => one.version)).toEqual(trail.map((_, index) => index + 1));
      expect(erased + trail.length).toBe(written);
    },
  );

  it.each(["'read committed'", "'repeatable read'", "'serializable'"])(
    "erases at %s what a write adds that it waits for",
    async (level) => {
      await using store = connect(await roleWith(["default_transaction_isolation", level]), 1);
      const tenantId = `waits-${count}`;
      const scope = memoryScope({ tenantId });
      await store.supersede(scope, { id: "one", key: "k", value: 1, source: "t" });
      // Once more, when its statements are known on the connection.
      await store.erase(memoryScope({ tenantId: "nobody" }));
      await asOwner(server.url, async (sql) => {
        await sql.unsafe(
          `BEGIN; SELECT pg_advisory_xact_lock_shared(hashtextextended('memory' || chr(1) || '${tenantId}', 0))`,
        );
        const erasure = store.erase(scope);
        await waitFor(
          "the erasure to wait",
          async () =>
            (await server.psql("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted")) === "1",
        );
        await sql.unsafe(`
        INSERT INTO memory.profile_versions (tenant_id, key, version, id, lineage, follows, lineages, latest_from, token, value, source, confidence, valid_from, recorded_at)
        SELECT tenant_id, key, 2, 'two', lineage, 1, lineages, latest_from, 'another', value, source, confidence, valid_from, recorded_at
        FROM memory.profile_versions WHERE tenant_id = '${tenantId}';
        COMMIT`);
        expect((await erasure).records).toBe(2);
      });
      expect(await store.history(scope)).toEqual([]);
    },
  );

  it("gives up what a statement_timeout or a lock_timeout of the role stops, without effect", async () => {
    const scope = memoryScope({ tenantId: "timeouts" });
    for (const [name, attempts] of [
      ["statement_timeout", 1],
      ["lock_timeout", 3],
    ] as const) {
      await using store = connect(await roleWith([name, "'100ms'"]));
      await asOwner(server.url, async (sql) => {
        await sql.unsafe("BEGIN; LOCK TABLE memory.episodes IN ACCESS EXCLUSIVE MODE");
        await expect(store.log(scope, { key: "k", value: 1, source: "t" })).rejects.toMatchObject({
          code: "MEMORY_UNAVAILABLE",
          attempts,
          outcome: "not-applied",
        });
        await expect(store.erase(scope)).rejects.toMatchObject({ code: "MEMORY_UNAVAILABLE", outcome: "not-applied" });
        await sql.unsafe("ROLLBACK");
      });
      expect(await store.episodes(scope)).toEqual([]);
      await store.erase(scope);
    }
  });
});

async function everyOperation(store: PostgresMemoryStore, scope: MemoryScope): Promise<void> {
  const value = { "back\\slash": "'\\' \u0000 \ud800 é", list: [1e-308, 0.1, 2 ** 53, 1e308], empty: {} };
  const fact = { key: "k", value, source: "it's \\ é", validFrom: 1_000 };
  await store.supersede(scope, { ...fact, id: "one", subject: "s", predicate: ["p\\"], confidence: 1e-308 });
  await store.supersede(scope, { ...fact, id: "two", subject: "other", validFrom: 2_000 });
  const belief = await store.belief(scope, "k");
  expect(belief.contradiction?.holds.map((one) => one.id)).toEqual(["one", "two"]);
  expect(belief.contradiction?.holds[0]).toMatchObject({ value, confidence: 1e-308, predicate: ["p\\"] });
  await store.supersede(scope, { ...fact, id: "three", validFrom: 3_000 }, { resolves: ["one", "two"] });
  expect((await store.profile(scope, "k"))?.id).toBe("three");
  expect((await store.profile(scope, "k", { asOf: 1_500 }))?.id).toBe("one");
  expect(await store.history(scope, "k")).toHaveLength(3);
  expect((await store.beliefs(scope, { keyPrefix: "k" })).beliefs).toHaveLength(1);
  const records = [...Array(5).keys()].map((n) => ({
    id: `e${n}`,
    key: "turn",
    value: { n, text: '"\\{,}NULL' },
    source: "NULL",
    validFrom: 5,
    ...(n % 2 === 0 ? {} : { subject: "NULL", metadata: { 'a"\\': n, b: "é" }, validTo: 9_000 }),
  }));
  await store.log(scope, { ...records[0], key: "turn", value: { n: 0, text: '"\\{,}NULL' }, source: "NULL" });
  await store.logAll(scope, records);
  await store.logAll(scope, records.toReversed());
  const { hits, cursor } = await store.page(scope, { limit: 3 });
  const rest = await store.page(scope, { limit: 3 }, { cursor });
  expect([...hits, ...rest.hits].map((hit) => hit.record.id)).toEqual(["e4", "e3", "e2", "e1", "e0"]);
  for (const { record } of [...hits, ...rest.hits]) {
    const given = records.find((one) => one.id === record.id);
    expect(record).toMatchObject({ ...given });
    expect(record.subject).toBe(given?.subject);
    expect(record.validTo).toBe(given?.validTo);
  }
  expect(await store.episodes(scope, { filter: { 'a"\\': [1, 7] } })).toHaveLength(1);
  await expect(store.log(scope, { id: "e1", key: "turn", value: 2, source: "t" })).rejects.toMatchObject({
    code: "MEMORY_CONFLICT",
  });
  await store.derived(scope, { artefactId: "a\\", sourceKind: "episodic", sourceId: "e1", adapter: "none" });
  expect((await store.erase(scope, { dryRun: true })).records).toBe(8);
  expect((await store.erase(scope, { kinds: ["profile"] })).records).toBe(3);
  expect(await store.episodes(scope)).toHaveLength(5);
}
