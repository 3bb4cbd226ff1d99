// What is left in the server of what was erased: nothing that was told of a record, in no table and no catalog.

import { memoryScope, memoryStoreSettings } from "@memory/core";
import type { PostgresServer } from "@tooling/servers";
import { afterAll, beforeAll, expect, it } from "vitest";
import { PostgresMemoryStore } from "../src/index.ts";
import { describeOnEach } from "./lanes.ts";
import { applySchema, asOwner } from "./target.ts";

const MARK = "m4rk";

describeOnEach("traces of what was erased", (lane) => {
  let server: PostgresServer;

  beforeAll(async () => {
    server = await lane.start({ settings: { autovacuum: "off" } });
  });
  afterAll(async () => {
    await server?.stop();
  });

  // An ANALYZE of a table that is empty keeps the samples of what was there.
  it.each([{}, { partitions: 2 }])("are none in samples of ANALYZE, with the schema of %j", async (layout) => {
    const url = await server.createDatabase(`traces_${"partitions" in layout ? "split" : "whole"}`);
    await applySchema(url, layout);
    await using store = PostgresMemoryStore.connect(memoryStoreSettings({ dsn: url }), {
      redactor: null,
      derivedIndices: [{ name: `${MARK}-index`, purge: async () => {} }],
    });
    const scope = memoryScope({ tenantId: "acme", userId: "anna" });
    const records = [...Array(60).keys()].map((n) => ({
      id: `${MARK}-id-${n}`,
      key: `${MARK}-key-${n % 7}`,
      value: { text: `${MARK} ${n}` },
      source: `${MARK}-source`,
      confidence: 0.123456,
      subject: `${MARK}-subject`,
      predicate: [`${MARK}-predicate`],
      metadata: { mark: `${MARK}-${n % 3}` },
    }));
    await store.logAll(scope, records);
    for (const record of records) {
      await store.supersede(scope, record);
      await store.derived(scope, {
        artefactId: `${MARK}-artefact-${record.id}`,
        sourceKind: "episodic",
        sourceId: record.id,
        adapter: `${MARK}-index`,
      });
    }
    await asOwner(url, (sql) => sql.unsafe("ANALYZE"));
    expect(await traces(url, MARK)).toEqual([
      "memory.derivations",
      ...("partitions" in layout
        ? [expect.stringMatching(/^memory\.episodes_\d$/), expect.stringMatching(/^memory\.profile_versions_\d$/)]
        : ["memory.episodes", "memory.profile_versions"]),
    ]);
    expect(await store.erase(scope)).toMatchObject({ records: 120, artefacts: 60, complete: true });
    await asOwner(url, (sql) => sql.unsafe("ANALYZE"));
    expect(await traces(url, MARK)).toEqual([]);
    expect(await traces(url, "0.123456")).toEqual([]);
  });

  // Every table and every catalog as text, row by row. The text that is looked for is not in the statement as it is.
  async function traces(url: string, text: string): Promise<readonly string[]> {
    const [head, tail] = [text.slice(0, 2), text.slice(2)];
    return await asOwner(url, async (sql) => {
      const names = await sql.unsafe<{ name: string }[]>(
        `SELECT c.oid::regclass::text AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
         WHERE n.nspname = 'memory' AND c.relkind = 'r' OR n.nspname = 'pg_catalog' AND c.relkind IN ('r', 'v')
          AND c.relname NOT LIKE 'pg_backend_memory%' AND c.relname NOT IN ('pg_hba_file_rules', 'pg_ident_file_mappings')
         ORDER BY 1`,
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
