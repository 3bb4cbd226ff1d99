// `verify()` names everything that is missing or wrong at once, each with the statement that mends it; running these
// statements mends it.

import { isMemoryError, memoryStoreSettings } from "@memory/core";
import { findPostgres, type PostgresPrimary } from "@tooling/servers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PostgresMemoryStore } from "../src/index.ts";
import { schemaSql } from "../src/schema.ts";
import { applySchema, asOwner } from "./target.ts";

const lane = findPostgres();

describe.skipIf(lane.isMissing)("verify", () => {
  let server: PostgresPrimary;
  let count = 0;

  beforeAll(async () => {
    server = await lane.start();
  });
  afterAll(async () => {
    await server?.stop();
  });

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
        const mends = /: ((?:ALTER|CREATE|REINDEX)[\s\S]*)$/.exec(finding)?.[1] ?? "";
        await sql.unsafe(mends.replace("TYPE boolean;", "TYPE boolean USING mixes::boolean;"));
      }
    });
    expect(await findingsOf(url)).toEqual([]);
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
