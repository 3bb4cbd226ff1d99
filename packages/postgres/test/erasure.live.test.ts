// Erasures among others: of scopes that overlap, killed in the middle, beside writes of every kind, through a pooler; and
// artefacts that several scopes share. What is counted adds up to what was written, and no lineage has a hole.

import { type MemoryScope, memoryScope, memoryStoreSettings } from "@memory/core";
import { createMemoryStore, type ProfileSection } from "@memory/core/driver";
import { Pool } from "@memory/core/postgres-js";
import { FakeClock } from "@memory/testing";
import { findPgBouncer, findPostgres, type PostgresPrimary } from "@tooling/servers";
import postgres from "postgres";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { postgresDriver } from "../src/driver.ts";
import { PostgresMemoryStore } from "../src/index.ts";
import { applySchema, asOwner } from "./target.ts";

const lane = findPostgres();
const pooler = findPgBouncer();

describe.skipIf(lane.isMissing)("erasures", () => {
  let server: PostgresPrimary;
  let count = 0;

  beforeAll(async () => {
    server = await lane.start({ settings: { max_connections: "60" } });
    await applySchema(server.url);
  });
  afterAll(async () => {
    await server?.stop();
  });

  const connect = (input = {}) =>
    PostgresMemoryStore.connect(
      memoryStoreSettings({ dsn: server.url, poolSize: 10, queueTimeoutMs: 60_000, maxQueued: 10_000, ...input }),
      { redactor: null },
    );
  const newTenant = () => `erase-${++count}`;
  const blocked = (count: number) =>
    expect
      .poll(() => server.psql("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"))
      .toBe(`${count}`);

  it("wait for a bulk log that repeats what they remove, whatever the order of each", async () => {
    const scope = memoryScope({ tenantId: newTenant() });
    await using store = connect();
    // An erasure that reads a small table whole finds them as they came: the reverse of the order in which ids are logged.
    const records = ["a", "b", "c"].map((id, index) => ({
      id,
      key: "k",
      value: id,
      source: "t",
      validFrom: 9 - index,
    }));
    for (const record of records.toReversed()) await store.log(scope, record);
    await server.psql("ANALYZE memory.episodes");
    const running: Promise<unknown>[] = [];
    await asOwner(server.url, (sql) =>
      sql.begin(async (hold) => {
        await hold`SELECT FROM memory.episodes WHERE tenant_id = ${scope.tenantId} AND id = 'b' FOR UPDATE`;
        running.push(store.logAll(scope, records));
        await blocked(1);
        running.push(store.erase(scope, { keys: ["k"] }));
        await blocked(2);
      }),
    );
    expect(await Promise.all(running)).toMatchObject([[{ id: "a" }, { id: "b" }, { id: "c" }], { records: 3 }]);
    await store.close();
    const deadlocks = "SELECT deadlocks FROM pg_stat_database WHERE datname = 'memory'";
    expect(await server.psql(`SELECT pg_stat_force_next_flush(); ${deadlocks}`)).toMatch(/\b0$/);
  });

  it("plan a write again whose key began anew meanwhile, from what is there now", async () => {
    const tenantId = newTenant();
    const fact = (id: string) => ({ id, key: "k", value: id, source: "t" });
    const driver = postgresDriver(new Pool(postgres, memoryStoreSettings({ dsn: server.url, poolSize: 2 })));
    const { profile } = driver;
    if (profile === undefined) throw new Error("no profile section");
    await using late = createMemoryStore({ ...driver, close: async () => {} }, { clock: new FakeClock(5_000) });
    let isFirst = true;
    const commit: ProfileSection["commit"] = async (plan, call) => {
      if (isFirst) {
        isFirst = false;
        await late.erase({ tenantId });
        await late.supersede({ tenantId }, fact("anew"));
      }
      return await profile.commit(plan, call);
    };
    const section = { ...profile, commit };
    await using early = createMemoryStore({ ...driver, profile: section }, { clock: new FakeClock(1_000) });
    await late.supersede({ tenantId }, { ...fact("erased"), validFrom: 0 });
    const { record, superseded } = await early.supersede({ tenantId }, fact("second"));
    expect(superseded?.id).toBe("anew");
    expect(record).toMatchObject({ version: 2, recordedAt: 5_000 });
    const trail = await late.history({ tenantId }, "k");
    expect(trail.map(({ id, supersededBy }) => [id, supersededBy])).toEqual([
      ["anew", "second"],
      ["second", undefined],
    ]);
  });

  it.each([
    ["directly", false],
    ["through a pooler in transaction mode", true],
  ])("count together what writers of every kind wrote, %s", { timeout: 120_000 }, async (_way, isPooled) => {
    if (isPooled && pooler.isMissing) return;
    const bouncer = isPooled ? await pooler.start({ target: server.url, poolSize: 6 }) : undefined;
    try {
      await using store = connect(bouncer === undefined ? {} : { dsn: bouncer.url, prepare: false });
      const tenantId = newTenant();
      const scopes = [0, 1, 2].flatMap((user) =>
        [0, 1].map((session) => memoryScope({ tenantId, userId: `u${user}`, sessionId: `s${session}` })),
      );
      const targets: readonly MemoryScope[] = [
        { tenantId },
        { tenantId, userId: "u0" },
        { tenantId, userId: "u1" },
        { tenantId, userId: "u0", sessionId: "s0" },
        { tenantId, sessionId: "s1" },
      ];
      let written = 0;
      let erased = 0;
      let isOver = false;
      const writer = async (n: number): Promise<void> => {
        for (let turn = 0; turn < 25; turn += 1) {
          const scope = scopes[(n + turn) % scopes.length] ?? { tenantId };
          const id = `${n}-${turn}`;
          if (turn % 3 === 0) {
            await store.logAll(
              scope,
              [`${id}a`, `${id}b`, `${id}c`].map((one) => ({ id: one, key: "e", value: one, source: "t" })),
            );
            written += 3;
          } else if (turn % 3 === 1) {
            await store.log(scope, { id, key: "e", value: id, source: "t" });
            written += 1;
          } else {
            await store.supersede(scope, { key: `k${turn % 2}`, value: id, source: "t" });
            written += 1;
          }
        }
      };
      const eraser = async (target: MemoryScope): Promise<void> => {
        while (!isOver) {
          const { records } = await store.erase(target);
          erased += records;
          await new Promise((resolve) => setTimeout(resolve, 10));
        }
      };
      const erasers = targets.map(eraser);
      await Promise.all([...Array(8).keys()].map(writer));
      isOver = true;
      await Promise.all(erasers);
      for (const scope of scopes) {
        for (const key of ["k0", "k1"]) {
          const trail = await store.history(scope, key);
          expect(trail.map((one) => one.version)).toEqual(trail.map((_, index) => index + 1));
        }
      }
      const { records } = await store.erase({ tenantId });
      expect(erased + records).toBe(written);
      expect(await server.psql(`SELECT count(*) FROM memory.erasures WHERE tenant_id = '${tenantId}'`)).toBe("0");
    } finally {
      await bouncer?.stop();
    }
  });

  it("go on where a killed process left off, and count what it removed", async () => {
    const tenantId = newTenant();
    await using store = connect();
    const scope = memoryScope({ tenantId, userId: "u" });
    await store.logAll(
      scope,
      [...Array(20).keys()].map((n) => ({ id: `e${n}`, key: "k", value: n, source: "t" })),
    );
    await store.supersede(scope, { id: "p", key: "k", value: 1, source: "t" });
    await store.derived(scope, { artefactId: "a", sourceKind: "profile", sourceId: "p", adapter: "summaries" });
    const purged: string[] = [];
    let isDown = true;
    const open = () =>
      PostgresMemoryStore.connect(memoryStoreSettings({ dsn: server.url }), {
        derivedIndices: [
          {
            name: "summaries",
            purge: async (_scope, ids) => {
              if (isDown) throw new Error("down");
              purged.push(...ids);
            },
          },
        ],
      });
    await using first = open();
    await expect(first.erase({ tenantId })).rejects.toMatchObject({ code: "PARTIAL_ERASURE" });
    expect(await store.episodes(scope)).toEqual([]);
    await store.log(scope, { key: "k", value: "new", source: "t" });
    isDown = false;
    await using second = open();
    expect(await second.erase({ tenantId })).toMatchObject({ artefacts: 1, complete: true });
    expect(purged).toEqual(["a"]);
    expect(await second.erase({ tenantId })).toMatchObject({ records: 0, artefacts: 0 });
  });

  it("purge what one scope alone keeps alive, keep what another does, and purge what mixes", async () => {
    const tenantId = newTenant();
    const purged: string[] = [];
    await using store = PostgresMemoryStore.connect(memoryStoreSettings({ dsn: server.url }), {
      derivedIndices: [{ name: "x", purge: async (_scope, ids) => void purged.push(...ids) }],
    });
    const one = memoryScope({ tenantId, userId: "one" });
    const two = memoryScope({ tenantId, userId: "two" });
    for (const scope of [one, two]) await store.log(scope, { id: "e", key: "k", value: 1, source: "t" });
    const artefact = { sourceKind: "episodic", sourceId: "e", adapter: "x" } as const;
    await store.derived(one, { ...artefact, artefactId: "alone" });
    for (const scope of [one, two]) {
      await store.derived(scope, { ...artefact, artefactId: "shared" });
      await store.derived(scope, { ...artefact, artefactId: "mixed", mixes: true });
    }
    const forecast = await store.erase(one, { dryRun: true });
    expect(forecast).toMatchObject({ records: 1, artefacts: 2, sharedArtefacts: 1, complete: false });
    expect(await store.erase(one)).toMatchObject({ records: 1, artefacts: 2, sharedArtefacts: 1, complete: true });
    expect(purged.toSorted()).toEqual(["alone", "mixed"]);
    expect(await store.erase(two)).toMatchObject({ records: 1, sharedArtefacts: 0, complete: true });
    expect(purged).toContain("shared");
    expect((await store.derivations({ tenantId }, { reach: "under" })).derivations).toEqual([]);
  });

  it("at once over the same artefacts, with registrations between, deadlock nobody", { timeout: 60_000 }, async () => {
    const tenantId = newTenant();
    await using store = PostgresMemoryStore.connect(memoryStoreSettings({ dsn: server.url, queueTimeoutMs: 60_000 }), {
      derivedIndices: [{ name: "x", purge: async () => {} }],
    });
    const before = await server.psql("SELECT deadlocks FROM pg_stat_database WHERE datname = 'memory'");
    const scope = memoryScope({ tenantId, userId: "u" });
    for (let round = 0; round < 6; round += 1) {
      const registrations = [...Array(120).keys()].map((n) =>
        store.derived(scope, { artefactId: `a${(n * 37) % 120}`, sourceKind: "episodic", sourceId: "e", adapter: "x" }),
      );
      await Promise.all([
        ...registrations,
        ...[1, 2, 3, 4].map((n) => store.erase(n % 2 === 0 ? scope : { tenantId })),
      ]);
    }
    await store.erase({ tenantId });
    expect((await store.derivations({ tenantId }, { reach: "under" })).derivations).toEqual([]);
    expect(await server.psql("SELECT deadlocks FROM pg_stat_database WHERE datname = 'memory'")).toBe(before);
  });

  it("of two tenants whose locks fall together wait for each other and no more", async () => {
    // The lock of the second is taken by hand, as a tenant of the same hash would.
    const tenantId = newTenant();
    await using store = connect();
    const scope = memoryScope({ tenantId });
    await store.supersede(scope, { key: "k", value: 1, source: "t" });
    await asOwner(server.url, async (sql) => {
      await sql.unsafe(`BEGIN; SELECT pg_advisory_xact_lock(hashtextextended('memory' || chr(1) || '${tenantId}', 0))`);
      const call = store.supersede(scope, { key: "k", value: 2, source: "t" });
      expect((await store.profile(scope, "k"))?.value).toBe(1);
      await store.log(scope, { key: "k", value: 1, source: "t" });
      await sql.unsafe("COMMIT");
      expect((await call).record.version).toBe(2);
    });
  });

  it("and one id for two keys at once: one has it, the other is told", async () => {
    await using store = connect();
    const scope = memoryScope({ tenantId: newTenant() });
    for (let round = 0; round < 10; round += 1) {
      const settled = await Promise.allSettled(
        ["a", "b", "c", "d"].map((key) =>
          store.supersede(scope, { id: `same${round}`, key: `${key}${round % 2}`, value: round, source: "t" }),
        ),
      );
      expect(settled.filter((one) => one.status === "fulfilled")).toHaveLength(1);
      for (const one of settled)
        if (one.status === "rejected") expect(one.reason).toMatchObject({ code: "MEMORY_CONFLICT" });
    }
  });

  it("and many who settle one contradiction at once: one does, the others are told", async () => {
    await using store = connect();
    const scope = memoryScope({ tenantId: newTenant() });
    await store.supersede(scope, { id: "x", key: "k", value: 1, source: "t", subject: "x" });
    await store.supersede(scope, { id: "y", key: "k", value: 1, source: "t", subject: "y" });
    await store.supersede(scope, { id: "z", key: "k", value: 1, source: "t", subject: "z" });
    const settled = await Promise.allSettled(
      [...Array(20).keys()].map((n) =>
        store.supersede(scope, { id: `r${n}`, key: "k", value: n, source: "t" }, { resolves: ["x", "y", "z"] }),
      ),
    );
    expect(settled.filter((one) => one.status === "fulfilled")).toHaveLength(1);
    for (const one of settled)
      if (one.status === "rejected") expect(one.reason).toMatchObject({ code: "MEMORY_CONFLICT" });
    expect(await store.history(scope, "k")).toHaveLength(4);
    expect((await store.profile(scope, "k"))?.id).toMatch(/^r/);
  });

  it("and many upserts of one key from nothing: all land, one is live", async () => {
    await using store = connect();
    const scope = memoryScope({ tenantId: newTenant() });
    await Promise.all([...Array(60).keys()].map((n) => store.upsert(scope, { key: "k", value: n, source: "t" })));
    const trail = await store.history(scope, "k");
    expect(trail.map((one) => one.version)).toEqual([...Array(60).keys()].map((n) => n + 1));
    expect(trail.filter((one) => one.validTo === undefined)).toHaveLength(1);
  });
});
