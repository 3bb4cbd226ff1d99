// `verify()` names everything that is missing or wrong at once, each with the statement that mends it; running these
// statements mends it.

import { isMemoryError, memoryScope, memoryStoreSettings } from "@memory/core";
import type { WritePlan } from "@memory/core/driver";
import type { PostgresServer } from "@tooling/servers";
import { afterAll, beforeAll, expect, it } from "vitest";
import { PostgresMemoryStore } from "../src/index.ts";
import { schemaSql } from "../src/schema.ts";
import { statementsOf } from "../src/statements.ts";
import { TABLES } from "../src/tables.ts";
import { describeOnEach } from "./lanes.ts";
import { applySchema, asOwner } from "./target.ts";

/** Of which only the place matters. */
const PLAN: WritePlan = {
  scope: { tenantId: "t" },
  key: "k",
  base: 0,
  baseToken: undefined,
  record: {
    scope: { tenantId: "t" },
    id: "i",
    key: "k",
    value: "1",
    source: "t",
    confidence: 1,
    validFrom: 0,
    validTo: undefined,
    subject: undefined,
    predicate: undefined,
    metadata: undefined,
    redacted: undefined,
    recordedAt: 0,
    version: 1,
    embedding: undefined,
  },
  lineage: 1,
  head: undefined,
  settles: [],
  token: "token",
};

describeOnEach("verify", (lane) => {
  let server: PostgresServer;
  let count = 0;

  beforeAll(async () => {
    server = await lane.start();
  });
  afterAll(async () => {
    await server?.stop();
  });

  const mendOf = (finding: string): string =>
    /: ((?:ALTER|CREATE|DROP|REINDEX) [\s\S]*)$/.exec(finding)?.[1] ?? "SELECT 'nothing is said'";
  const newDatabase = () => server.createDatabase(`verify_${++count}`);

  async function findingsOf(dsn: string, options = {}): Promise<readonly string[]> {
    await using store = PostgresMemoryStore.connect(memoryStoreSettings({ dsn }), options);
    try {
      await store.verify();
      return [];
    } catch (error) {
      if (!isMemoryError(error, "MEMORY_SCHEMA")) throw error;
      return error.findings;
    }
  }

  it.each([{}, { partitions: 4 }, { rowSecurity: true }, { schema: "Other one", partitions: 3, rowSecurity: true }])(
    "finds nothing wrong with the schema of %o",
    async (options) => {
      const url = await newDatabase();
      await applySchema(url, options);
      const { schema, rowSecurity } = { schema: undefined, rowSecurity: undefined, ...options };
      expect(await findingsOf(url, { schema, rowSecurity })).toEqual([]);
    },
  );

  it("names a schema that is missing, and every table of one that is empty", async () => {
    const url = await newDatabase();
    expect(await findingsOf(url)).toHaveLength(1);
    await asOwner(url, (sql) => sql.unsafe("CREATE SCHEMA memory"));
    expect(await findingsOf(url)).toHaveLength(4);
  });

  it("names all that was broken at once, and what it says mends it", async () => {
    const url = await newDatabase();
    await applySchema(url);
    await asOwner(url, (sql) =>
      sql.unsafe(`
        ALTER TABLE memory.episodes DROP COLUMN redacted, ALTER COLUMN source DROP NOT NULL;
        ALTER TABLE memory.episodes ALTER COLUMN subject TYPE varchar(10);
        ALTER TABLE memory.profile_versions DROP CONSTRAINT profile_versions_chain;
        DROP INDEX memory.profile_versions_begin;
        DROP TABLE memory.erasures;
        ALTER TABLE memory.derivations ALTER COLUMN mixes TYPE text USING mixes::text;
      `),
    );
    const findings = await findingsOf(url);
    expect(findings).toHaveLength(7);
    await asOwner(url, async (sql) => {
      for (const finding of findings) {
        await sql.unsafe(mendOf(finding));
      }
    });
    expect(await findingsOf(url)).toEqual([]);
  });

  const drift: readonly (readonly [string, string, object])[] = [
    ["a check", "ALTER TABLE memory.episodes DROP CONSTRAINT episodes_tenant", {}],
    ["a default", "ALTER TABLE memory.derivations ALTER COLUMN condemned DROP DEFAULT", {}],
    ["a column that inserts do not know", 'ALTER TABLE memory.episodes ADD COLUMN "Ours" int NOT NULL', {}],
    [
      "an index of the name over other columns",
      "DROP INDEX memory.episodes_scope; CREATE INDEX episodes_scope ON memory.episodes (tenant_id)",
      {},
    ],
    [
      "another primary key",
      "ALTER TABLE memory.episodes DROP CONSTRAINT episodes_pkey, ADD CONSTRAINT mine PRIMARY KEY (tenant_id, id)",
      {},
    ],
    [
      "a unique constraint that looks late",
      "ALTER TABLE memory.profile_versions DROP CONSTRAINT profile_versions_id, ADD CONSTRAINT profile_versions_id UNIQUE (tenant_id, user_id, session_id, agent, id) DEFERRABLE",
      {},
    ],
    [
      "a unique index that is no constraint",
      "ALTER TABLE memory.profile_versions DROP CONSTRAINT profile_versions_id; CREATE INDEX profile_versions_id ON memory.profile_versions (id)",
      {},
    ],
    ["a collation", 'ALTER TABLE memory.episodes ALTER COLUMN source TYPE text COLLATE "POSIX"', {}],
    ["a type", "ALTER TABLE memory.erasures ALTER COLUMN profile TYPE text", {}],
    ["a policy that is gone", "DROP POLICY episodes_tenant ON memory.episodes", { rowSecurity: true }],
    ["a policy that opens all", "CREATE POLICY more ON memory.episodes USING (true)", { rowSecurity: true }],
    [
      "a policy of the name that says something else",
      "ALTER POLICY episodes_tenant ON memory.episodes USING (current_setting('adk.tenant', true) IS NOT NULL)",
      { rowSecurity: true },
    ],
    [
      "a policy that lets writes through",
      "ALTER POLICY episodes_tenant ON memory.episodes WITH CHECK (true)",
      { rowSecurity: true },
    ],
    ["row security that is off", "ALTER TABLE memory.erasures DISABLE ROW LEVEL SECURITY", { rowSecurity: true }],
    [
      "row security that its owner is free of",
      "ALTER TABLE memory.erasures NO FORCE ROW LEVEL SECURITY",
      { rowSecurity: true },
    ],
    [
      "a partition that is open",
      "ALTER TABLE memory.episodes_1 DISABLE ROW LEVEL SECURITY",
      { rowSecurity: true, partitions: 2 },
    ],
  ];
  it.each(drift)("names %s, and what it says mends it", async (_what, change, options) => {
    const url = await newDatabase();
    await applySchema(url, options);
    await asOwner(url, (sql) => sql.unsafe(change));
    const { rowSecurity } = { rowSecurity: false, ...options };
    const findings = await findingsOf(url, { rowSecurity });
    expect(findings.length).toBeGreaterThan(0);
    await asOwner(url, async (sql) => {
      for (const finding of findings) await sql.unsafe(mendOf(finding));
    });
    expect(await findingsOf(url, { rowSecurity })).toEqual([]);
  });

  it("mends each column, index and table that is missing by what it says of it", { timeout: 120_000 }, async () => {
    const url = await newDatabase();
    await applySchema(url);
    for (const table of TABLES) {
      const on = `memory.${table.name}`;
      const changes = [
        ...table.columns.map(({ name }) => `ALTER TABLE ${on} DROP COLUMN ${name} CASCADE`),
        ...table.indexes.map(({ name, kind }) =>
          kind === "plain" ? `DROP INDEX memory.${name}` : `ALTER TABLE ${on} DROP CONSTRAINT ${name}`,
        ),
        `DROP TABLE ${on}`,
      ];
      for (const change of changes) {
        await asOwner(url, (sql) => sql.unsafe(change));
        const findings = await findingsOf(url);
        expect(findings.length).toBeGreaterThan(0);
        await asOwner(url, async (sql) => {
          for (const finding of findings) await sql.unsafe(mendOf(finding));
        });
        expect(await findingsOf(url)).toEqual([]);
      }
    }
  });

  it("shows a session nothing of other tenants, by the table or by its partitions, whatever it asks", async () => {
    const url = await newDatabase();
    await applySchema(url, { rowSecurity: true, partitions: 2 });
    await asOwner(url, (sql) =>
      sql.unsafe(`
        CREATE ROLE confined LOGIN; GRANT USAGE ON SCHEMA memory TO confined;
        GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA memory TO confined`),
    );
    const own = url.replace("postgres@", "confined@");
    await using store = PostgresMemoryStore.connect(memoryStoreSettings({ dsn: own }), { rowSecurity: true });
    for (const tenantId of ["a", "b", "c", "d"]) {
      const scope = memoryScope({ tenantId });
      await store.log(scope, { key: "k", value: tenantId, source: "t" });
      await store.supersede(scope, { key: "k", value: tenantId, source: "t" });
      await store.derived(scope, { artefactId: "a", sourceKind: "profile", sourceId: "s", adapter: "x" });
    }
    await asOwner(own, async (sql) => {
      const tables = ["episodes", "profile_versions", "derivations"];
      const parts = ["episodes_0", "episodes_1", "profile_versions_0", "profile_versions_1"];
      for (const table of [...tables, ...parts]) {
        expect(await sql.unsafe(`SELECT tenant_id FROM memory.${table}`)).toHaveLength(0);
        expect((await sql.unsafe(`DELETE FROM memory.${table} WHERE true`)).count).toBe(0);
      }
      await sql.unsafe("SELECT set_config('adk.tenant', 'b', false)");
      for (const table of tables) {
        const rows = await sql.unsafe(`SELECT DISTINCT tenant_id FROM memory.${table} WHERE true OR tenant_id = 'a'`);
        expect(rows.map((row) => row["tenant_id"])).toEqual(["b"]);
      }
      for (const part of parts) expect(await sql.unsafe(`SELECT tenant_id FROM memory.${part}`)).toHaveLength(0);
      const other = sql.unsafe("INSERT INTO memory.erasures (tenant_id, profile, episodic) VALUES ('a', 1, 1)");
      await expect(other).rejects.toMatchObject({ code: "42501" });
      await expect(sql.unsafe("UPDATE memory.episodes SET tenant_id = 'a'")).rejects.toMatchObject({ code: "42501" });
    });
    // Connections go from tenant to tenant and keep nothing of the last one.
    const mixed = await Promise.all(
      [...Array(80).keys()].map(async (n) => {
        const tenantId = ["a", "b", "c", "d"][n % 4] ?? "";
        const hits = await store.episodes({ tenantId });
        return hits.map((hit) => hit.record.value).join() === tenantId;
      }),
    );
    expect(mixed.every((one) => one)).toBe(true);
  });

  it.each([
    'a"b',
    "a$10",
    "$1",
    "$$",
    "x'y",
    "x\\y",
    "ON USING btree (x)",
    "'; DROP TABLE t; --",
    "ü 😀",
    "line\nfeed",
  ])("keeps to a schema of the name %j", async (schema) => {
    const url = await newDatabase();
    await applySchema(url, { schema, rowSecurity: true, partitions: 2 });
    expect(await findingsOf(url, { schema, rowSecurity: true })).toEqual([]);
    await using store = PostgresMemoryStore.connect(memoryStoreSettings({ dsn: url }), { schema });
    const scope = memoryScope({ tenantId: "t" });
    await store.logAll(scope, [
      { key: "k", value: 1, source: "t" },
      { key: "k", value: 2, source: "t" },
    ]);
    await store.supersede(scope, { key: "k", value: 1, source: "t" });
    await store.supersede(scope, { key: "k", value: 2, source: "t" });
    expect((await store.erase(scope)).records).toBe(4);
    const { text } = statementsOf(schema).commit.isThere(PLAN);
    await asOwner(url, async (sql) => {
      expect(await sql.unsafe(text, ["t", "", "", "", "k", 0, "token"])).toHaveLength(0);
    });
  });

  it("warns of what ANALYZE samples and nobody needs", async () => {
    const url = await newDatabase();
    await applySchema(url, { partitions: 2 });
    const codes: string[] = [];
    await using store = PostgresMemoryStore.connect(memoryStoreSettings({ dsn: url }), {
      onEvent: (event) => event.name === "adk.memory.warning" && codes.push(event.code),
    });
    const warned = async (): Promise<readonly string[]> => {
      await store.verify();
      return codes.splice(0).filter((code) => code !== "postgres-fsync");
    };
    expect(await warned()).toEqual([]);
    for (const [damage, mend] of [
      ["ALTER TABLE memory.episodes_1 ALTER COLUMN value", "SET STATISTICS 10"],
      ["ALTER TABLE memory.derivations ALTER COLUMN adapter", "SET STATISTICS -1"],
      ["ALTER INDEX memory.episodes_0_jsonb_set_idx ALTER COLUMN 1", "SET STATISTICS 100"],
    ]) {
      await asOwner(url, (sql) => sql.unsafe(`${damage} ${mend}`));
      expect({ damage, codes: await warned() }).toEqual({ damage, codes: ["postgres-samples"] });
      await asOwner(url, (sql) => sql.unsafe(`${damage} SET STATISTICS 0`));
    }
    expect(await warned()).toEqual([]);
  });

  it("names what a role may not do", async () => {
    const url = await newDatabase();
    await applySchema(url);
    await server.psql("CREATE ROLE reader LOGIN");
    await asOwner(url, (sql) =>
      sql.unsafe("GRANT USAGE ON SCHEMA memory TO reader; GRANT SELECT ON memory.episodes TO reader"),
    );
    const findings = await findingsOf(url.replace("postgres@", "reader@"));
    expect(findings).toHaveLength(4);
  });

  it("names row security that is on and not asked for, and that is asked for and not on", async () => {
    const url = await newDatabase();
    await asOwner(url, (sql) => sql.unsafe(schemaSql()));
    expect(await findingsOf(url, { rowSecurity: true })).toHaveLength(8);
    const secured = await newDatabase();
    await asOwner(secured, (sql) =>
      sql.unsafe(`${schemaSql({ rowSecurity: true })}
      CREATE ROLE tenant_only LOGIN; GRANT USAGE ON SCHEMA memory TO tenant_only;
      GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA memory TO tenant_only`),
    );
    expect(await findingsOf(secured.replace("postgres@", "tenant_only@"))).toHaveLength(4);
    expect(await findingsOf(secured.replace("postgres@", "tenant_only@"), { rowSecurity: true })).toEqual([]);
  });
});
