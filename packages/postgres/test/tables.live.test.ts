// What core's part of the schema offers beyond the tables of this package, on a real server: tables whose names come from an
// option, generated columns, storage, unique indexes with a condition, and an erasure over whatever kinds there are.

import { memoryScope, memoryStoreSettings } from "@memory/core";
import type { DriverCall } from "@memory/core/driver";
import { Pool } from "@memory/core/postgres-js";
import {
  checkLayout,
  column,
  derivationsPlan,
  ErasureStatements,
  erasureSection,
  erasuresPlan,
  inspectSchema,
  nameSql,
  optional,
  plainIndex,
  primaryKey,
  SCOPE_LIST,
  SCOPE_PLAN,
  type SchemaLayout,
  schemaText,
  scopedExecutor,
  type TablePlan,
  tableNameSql,
  tenantCheck,
  tenantLock,
  textColumn,
} from "@memory/core/sql";
import { findPostgres, type PostgresPrimary } from "@tooling/servers";
import postgres from "postgres";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { asOwner } from "./target.ts";

const lane = findPostgres();
const call: DriverCall = { now: 0, attempt: 1, budgetMs: 10_000, signal: new AbortController().signal };

const name = 'User "1"';
const own = { version: 1, isQuoted: true } as const;
const notes: TablePlan = {
  ...own,
  name,
  comment: "Notes",
  columns: [
    ...SCOPE_PLAN,
    textColumn("id", "The id"),
    textColumn("key", "The key"),
    { ...textColumn("body", "The text"), storage: "external" },
    { ...column("size", "integer", "Its length"), generated: "length(body)" },
    optional(column("done", "boolean", "Whether it is done")),
  ],
  checks: [tenantCheck(name)],
  indexes: [
    primaryKey(`${name}_pkey`, `${SCOPE_LIST}, key`, "Each key once"),
    {
      name: `${name}_open`,
      kind: "unique-index",
      using: `btree (${SCOPE_LIST}, id) INCLUDE (size) WHERE (done IS NULL)`,
      comment: "Each open id once",
    },
    plainIndex(`${name}_size`, `brin (size) WITH (pages_per_range='8')`, "By length"),
  ],
};
const derivations = derivationsPlan({ ...own, name: `${name}_derivations` });
const erasures = erasuresPlan({ ...own, name: `${name}_erasures` }, { semantic: "notes" });
const plan = {
  packageName: "tables of a test",
  version: 1,
  tables: [notes, derivations, erasures],
  partitioned: [name],
};
const table = `"memory".${nameSql(notes, name)}`;

describe.skipIf(lane.isMissing)("tables of another adapter", () => {
  let server: PostgresPrimary;
  let count = 0;

  beforeAll(async () => {
    server = await lane.start();
  });
  afterAll(async () => {
    await server?.stop();
  });

  async function database(layout: SchemaLayout = {}): Promise<string> {
    const url = await server.createDatabase(`tables_${++count}`);
    await asOwner(url, (sql) => sql.unsafe(schemaText(plan, checkLayout(layout))));
    return url;
  }

  async function findingsOf(url: string, rowSecurity = false): Promise<readonly string[]> {
    const pool = new Pool(postgres, memoryStoreSettings({ dsn: url, poolSize: 1 }));
    const request = { adapter: "test", bin: "test", schema: "memory", tables: plan.tables, rowSecurity };
    try {
      return (await inspectSchema(pool, request, call)).findings;
    } finally {
      await pool.close();
    }
  }

  it.each([{}, { partitions: 2 }, { rowSecurity: true, partitions: 2 }])("are as planned with %j", async (layout) => {
    const url = await database(layout);
    expect(await findingsOf(url, layout.rowSecurity)).toEqual([]);
  });

  it.each([
    ["storage", `ALTER TABLE ${table} ALTER COLUMN body SET STORAGE MAIN`],
    ["a generated column", `ALTER TABLE ${table} ALTER COLUMN size DROP EXPRESSION`],
    [
      "what a column is generated from",
      `ALTER TABLE ${table} DROP COLUMN size CASCADE; ALTER TABLE ${table} ADD COLUMN size integer NOT NULL GENERATED ALWAYS AS (length(key)) STORED`,
    ],
    ["a unique index", `DROP INDEX "memory"."User ""1""_open"`],
    [
      "an index that is no longer unique",
      `DROP INDEX "memory"."User ""1""_open"; CREATE INDEX "User ""1""_open" ON ${table} USING btree (${SCOPE_LIST}, id) INCLUDE (size) WHERE (done IS NULL)`,
    ],
    ["an option of an index", `ALTER INDEX "memory"."User ""1""_size" SET (pages_per_range = 16)`],
    ["a table", `DROP TABLE ${tableNameSql('"memory"', erasures)}`],
  ])("say what mends them: %s", async (_, damage) => {
    const url = await database();
    await asOwner(url, (sql) => sql.unsafe(damage));
    // An index on a column that is made anew goes with it, and is found once the column is there.
    for (let round = 0; round < 3; round += 1) {
      const findings = await findingsOf(url);
      if (round === 0) expect(findings).not.toEqual([]);
      for (const finding of findings) {
        const mend = /: ((?:ALTER|CREATE) [\s\S]*)$/.exec(finding)?.[1] ?? "SELECT 'nothing is said'";
        await asOwner(url, (sql) => sql.unsafe(mend));
      }
    }
    expect(await findingsOf(url)).toEqual([]);
  });

  it.each([false, true])("are erased by the kinds that they hold, with row security %s", async (rowSecurity) => {
    const url = await database({ rowSecurity });
    const user = memoryScope({ tenantId: "t", userId: "u" });
    const session = memoryScope({ ...user, sessionId: "s" });
    await asOwner(url, (sql) =>
      sql.unsafe(`INSERT INTO ${table} (tenant_id, user_id, session_id, id, key, body)
        VALUES ('t', 'u', '', '1', 'a', ''), ('t', 'u', 's', '2', 'a', ''), ('t', 'u', 's', '3', 'b', ''), ('t', 'v', '', '4', 'a', '')`),
    );
    const pool = new Pool(postgres, memoryStoreSettings({ dsn: url, poolSize: 2 }));
    try {
      const statements = new ErasureStatements({
        records: { semantic: table },
        derivations: tableNameSql('"memory"', derivations),
        erasures: tableNameSql('"memory"', erasures),
        lock: tenantLock(`memory.${name}`),
      });
      const section = erasureSection(statements, scopedExecutor(pool, rowSecurity));
      const source = { adapter: "x", artefactId: "y", sourceKind: "semantic", mixes: false } as const;
      await section.register({ ...source, scope: session, sourceId: "2" }, call);
      const target = { scope: session, reach: "under", kinds: undefined, keys: ["a"] } as const;
      expect(await section.count?.(target, call)).toEqual({
        counts: { semantic: 1 },
        artefacts: 1,
        sharedArtefacts: 0,
      });
      expect(await section.tombstone(target, call)).toEqual({ semantic: 1 });
      const all = { scope: user, reach: "under", kinds: undefined, keys: undefined } as const;
      expect(await section.tombstone(all, call)).toEqual({ semantic: 3 });
      const page = { scope: user, reach: "under", after: undefined, limit: 10 } as const;
      const condemned = await section.condemned(page, call);
      expect(condemned).toMatchObject([{ derivation: { scope: session, sourceKind: "semantic" }, shared: false }]);
      await section.forget(
        condemned.map(({ derivation }) => derivation),
        call,
      );
      expect(await section.condemned(page, call)).toEqual([]);
      expect(await section.sweep(all, call)).toEqual({ semantic: 3 });
      expect(await section.sweep(all, call)).toEqual({});
      const [left] = await asOwner(url, (sql) => sql.unsafe(`SELECT count(*)::int AS n FROM ${table}`));
      expect(left?.["n"]).toBe(1);
    } finally {
      await pool.close();
    }
  });
});
