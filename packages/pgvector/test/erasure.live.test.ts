// Erasures among bulk writers, whole or not at all; and what is left in the server of what was erased.

import { isMemoryError, memoryScope, memoryStoreSettings } from "@memory/core";
import type { PostgresServer } from "@tooling/servers";
import { afterAll, beforeAll, expect, it } from "vitest";
import { PgvectorMemoryStore } from "../src/index.ts";
import { describeOnEach } from "./lanes.ts";
import { applySchema, asOwner } from "./target.ts";

const WIDTH = 16;

describeOnEach("erasures", (lane) => {
  let server: PostgresServer;

  beforeAll(async () => {
    server = await lane.start({ settings: { max_connections: "60", autovacuum: "off" } });
    await applySchema(server.url, { dimensions: WIDTH });
  });
  afterAll(async () => {
    await server?.stop();
  });

  const connect = () =>
    PgvectorMemoryStore.connect(
      memoryStoreSettings({ dsn: server.url, poolSize: 12, queueTimeoutMs: 60_000, attemptTimeoutMs: 60_000 }),
      { dimensions: WIDTH, redactor: null },
    );
  const vector = (seed: number) => Array.from({ length: WIDTH }, (_, n) => Math.sin(seed * 31 + n * 7) + 0.01);

  it("meet a bulk write wholly or not at all, also where it replaces what is there", { timeout: 120_000 }, async () => {
    await using store = connect();
    const scope = memoryScope({ tenantId: "whole", userId: "u" });
    const batch = (writer: number) =>
      [...Array(400).keys()].map((n) => ({
        key: `k${String(n).padStart(3, "0")}`,
        value: writer,
        source: "t",
        embedding: vector(n + writer),
      }));
    let isOver = false;
    let [written, erased] = [0, 0];
    const writer = async (number: number): Promise<void> => {
      for (let turn = 0; turn < 12; turn += 1) {
        const records = batch(number);
        await store.indexAll(scope, turn % 2 === 0 ? records : records.toReversed());
        written += 1;
      }
    };
    const eraser = async (): Promise<void> => {
      while (!isOver) {
        // Of erasures at the same time one may answer for the other.
        const { records } = await store.erase(scope);
        expect(records % 400).toBe(0);
        erased += records / 400;
        const left = await store.search(scope, { embedding: vector(1), limit: 1_000 });
        expect([0, 400]).toContain(left.length);
      }
    };
    const erasers = [eraser(), eraser()];
    await Promise.all([0, 1, 2].map(writer));
    isOver = true;
    await Promise.all(erasers);
    expect(written).toBe(36);
    expect(erased).toBeGreaterThan(0);
  });

  it("take what is in flight of single writes before or after, and count all of it", async () => {
    await using store = connect();
    const scope = memoryScope({ tenantId: "single" });
    let erased = 0;
    const writers = [...Array(6).keys()].map(async (writer) => {
      for (let n = 0; n < 40; n += 1) {
        await store.index(scope, { key: `${writer}-${n}`, value: n, source: "t", embedding: vector(n) });
      }
    });
    const eraser = async (): Promise<void> => {
      for (let n = 0; n < 15; n += 1) {
        const { records } = await store.erase(scope);
        erased += records;
      }
    };
    await Promise.all([...writers, eraser(), eraser()]);
    const left = await store.search(scope, { embedding: vector(1), limit: 1_000 });
    expect(erased + left.length).toBe(240);
    expect((await store.erase(scope)).records).toBe(left.length);
  });

  it("go on where a killed one left off, with their artefacts", async () => {
    const scope = memoryScope({ tenantId: "resumed" });
    let isDown = true;
    const purged: string[] = [];
    const index = {
      name: "cache",
      purge: async (_scope: unknown, ids: readonly string[]) => {
        if (isDown) throw new Error("down");
        purged.push(...ids);
      },
    };
    const settings = memoryStoreSettings({ dsn: server.url });
    const open = () => PgvectorMemoryStore.connect(settings, { dimensions: WIDTH, derivedIndices: [index] });
    await using first = open();
    await first.index(scope, { id: "one", key: "k", value: 1, source: "t", embedding: vector(1) });
    await first.derived(scope, { artefactId: "a", sourceKind: "semantic", sourceId: "one", adapter: "cache" });
    const error: unknown = await first.erase(scope).catch((reason: unknown) => reason);
    expect(isMemoryError(error, "PARTIAL_ERASURE") && error.receipt).toMatchObject({ records: 1, complete: false });
    expect(await first.recall(scope, "k")).toBeNull();
    isDown = false;
    await using second = open();
    expect(await second.erase(scope)).toMatchObject({ artefacts: 1, complete: true });
    expect(purged).toEqual(["a"]);
    expect((await second.erase(scope)).records).toBe(0);
  });

  it("leave nothing readable: no row, no statistic, no notice of any text or number of it", async () => {
    await using store = connect();
    const mark = "m4rk";
    const scopes = [...Array(20).keys()].map((n) =>
      memoryScope({
        tenantId: `${mark}-tenant`,
        userId: `${mark}-user-${n}`,
        sessionId: `${mark}-s`,
        agent: `${mark}-a`,
      }),
    );
    // A number that no other vector has: its digits are looked for, too.
    const number = 0.123456;
    for (const [n, scope] of scopes.entries()) {
      const records = [...Array(40).keys()].map((index) => ({
        id: `${mark}-id-${n}-${index}`,
        key: `${mark}-key-${index}`,
        value: { text: `${mark} ${n} ${index}` },
        source: `${mark}-source`,
        subject: `${mark}-subject`,
        predicate: [`${mark}-predicate`],
        metadata: { mark: `${mark}-${index}` },
        embedding: vector(n).with(0, number),
      }));
      await store.indexAll(scope, records);
      await store.derived(scope, {
        artefactId: `${mark}-artefact`,
        sourceKind: "semantic",
        sourceId: `${mark}-id-${n}-0`,
        adapter: `${mark}-index`,
      });
    }
    await server.psql("ANALYZE");
    expect(await traces(mark)).not.toEqual([]);
    const outcome = await store.erase({ tenantId: `${mark}-tenant` }).catch((reason: unknown) => reason);
    // Nobody purges its artefacts; the records are gone nevertheless.
    expect(isMemoryError(outcome, "PARTIAL_ERASURE") && outcome.receipt.records).toBe(800);
    await using purging = PgvectorMemoryStore.connect(memoryStoreSettings({ dsn: server.url }), {
      dimensions: WIDTH,
      derivedIndices: [{ name: `${mark}-index`, purge: async () => {} }],
    });
    expect(await purging.erase({ tenantId: `${mark}-tenant` })).toMatchObject({ complete: true });
    expect(await traces(mark)).toEqual([]);
    expect(await traces(String(number).slice(2))).toEqual([]);
  });

  // Every table and every catalog as text, row by row. The text that is looked for is not in the statement as it is.
  async function traces(text: string): Promise<readonly string[]> {
    const [head, tail] = [text.slice(0, 2), text.slice(2)];
    return await asOwner(server.url, async (sql) => {
      const names = await sql.unsafe<{ name: string }[]>(
        "SELECT c.oid::regclass::text AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE (n.nspname = 'memory' AND c.relkind = 'r') OR (n.nspname = 'pg_catalog' AND c.relkind IN ('r', 'v')) AND c.relname NOT LIKE 'pg_backend_memory%' AND c.relname <> 'pg_hba_file_rules' AND c.relname <> 'pg_ident_file_mappings'",
      );
      const found: string[] = [];
      for (const { name } of names) {
        const [row] = await sql.unsafe(
          `SELECT count(*)::int AS n FROM ${name} x WHERE strpos(x::text, '${head}' || '${tail}') > 0`,
        );
        if (row?.["n"] !== 0) found.push(name);
      }
      return found;
    });
  }
});
