// `verify()` names everything that is missing or wrong at once: the width, the metric of every index, the extension, whose
// vectors they are, and all that a table is made of, each with the statement that mends it.

import { isMemoryError, type MemoryError, type MemoryEvent, memoryScope, memoryStoreSettings } from "@memory/core";
import type { PostgresServer } from "@tooling/servers";
import { afterAll, beforeAll, expect, it } from "vitest";
import { PgvectorMemoryStore, type PgvectorMemoryStoreOptions } from "../src/index.ts";
import { graphSql, schemaSql } from "../src/schema.ts";
import { describeOnEach } from "./lanes.ts";
import { applySchema, asOwner } from "./target.ts";

describeOnEach("verify", (lane) => {
  let server: PostgresServer;
  let count = 0;

  beforeAll(async () => {
    server = await lane.start({ fsync: true });
  });
  afterAll(async () => {
    await server?.stop();
  });

  const scope = memoryScope({ tenantId: "t", userId: "u" });
  const record = (embedding: readonly number[], key = "k") => ({ key, value: 1, source: "t", embedding });
  const mendOf = (finding: string): string =>
    /: ((?:ALTER|CREATE|DROP|REINDEX) [\s\S]*)$/.exec(finding)?.[1] ?? "SELECT 'nothing is said'";
  const newDatabase = () => server.createDatabase(`verify_${++count}`);
  const connect = (dsn: string, options: PgvectorMemoryStoreOptions) =>
    PgvectorMemoryStore.connect(memoryStoreSettings({ dsn, poolSize: 2 }), options);

  async function verify(dsn: string, options: PgvectorMemoryStoreOptions): Promise<readonly string[]> {
    const codes: string[] = [];
    const onEvent = (event: MemoryEvent): void => {
      if (event.name === "adk.memory.warning") codes.push(event.code);
    };
    await using store = connect(dsn, { ...options, onEvent });
    await store.verify();
    return codes;
  }

  async function refusalOf(dsn: string, options: PgvectorMemoryStoreOptions): Promise<MemoryError | undefined> {
    try {
      await verify(dsn, options);
      return undefined;
    } catch (error) {
      if (!isMemoryError(error)) throw error;
      return error;
    }
  }

  async function findingsOf(dsn: string, options: PgvectorMemoryStoreOptions): Promise<readonly string[]> {
    const error = await refusalOf(dsn, options);
    if (error === undefined) return [];
    if (!isMemoryError(error, "MEMORY_SCHEMA")) throw error;
    return error.findings;
  }

  it.each<PgvectorMemoryStoreOptions & { readonly partitions?: number }>([
    { dimensions: 3 },
    { dimensions: 1, metric: "l2" },
    { dimensions: 16_000, metric: "inner" },
    { dimensions: 3, embedder: "bge-m3@1" },
    { dimensions: 3, partitions: 3 },
    { dimensions: 3, rowSecurity: true, partitions: 2, schema: "Other one", collection: `It's "quoted"` },
  ])("finds nothing wrong with the schema of %o", async ({ partitions, ...options }) => {
    const url = await newDatabase();
    await applySchema(url, { ...options, ...(partitions === undefined ? {} : { partitions }) });
    expect(await findingsOf(url, options)).toEqual([]);
  });

  it("takes the schema and the graphs from a quiet psql, which prints no row of them", async () => {
    const url = new URL(await newDatabase());
    const name = url.pathname.slice(1);
    for (const options of [
      { dimensions: 3, index: "hnsw" },
      { dimensions: 3, collection: "parts", rowSecurity: true, partitions: 2 },
    ] as const) {
      expect(await server.psql(schemaSql(options), name)).toBe("");
    }
    expect(await server.psql(graphSql({ dimensions: 3, index: { hnsw: [scope] } }), name)).toBe("");
    expect(await findingsOf(url.href, { dimensions: 3 })).toEqual([]);
  });

  it("names a schema that is missing and the extension, and every table of a schema that is empty", async () => {
    const url = await newDatabase();
    const nothing = await findingsOf(url, { dimensions: 3 });
    expect(nothing).toHaveLength(2);
    expect(nothing[0]).toContain("CREATE EXTENSION vector");
    await asOwner(url, (sql) => sql.unsafe("CREATE SCHEMA memory; CREATE EXTENSION vector"));
    expect(await findingsOf(url, { dimensions: 3 })).toHaveLength(3);
  });

  it("tells a search in a database without the extension what is missing, and goes on when it is there", async () => {
    const url = await newDatabase();
    await using store = connect(url, { dimensions: 3 });
    await expect(store.search(scope, { embedding: [1, 0, 0] })).rejects.toMatchObject({ code: "MEMORY_SCHEMA" });
    await applySchema(url, { dimensions: 3 });
    expect(await store.search(scope, { embedding: [1, 0, 0] })).toEqual([]);
  });

  it("finds the extension again that was moved to another schema", async () => {
    const url = await newDatabase();
    await applySchema(url, { dimensions: 3 });
    await using store = connect(url, { dimensions: 3 });
    await store.index(scope, record([1, 0, 0]));
    await asOwner(url, (sql) => sql.unsafe("CREATE SCHEMA elsewhere; ALTER EXTENSION vector SET SCHEMA elsewhere"));
    await store.search(scope, { embedding: [1, 0, 0] }).catch((error: unknown) => {
      expect(error).toMatchObject({ code: "MEMORY_SCHEMA" });
    });
    expect(await store.search(scope, { embedding: [1, 0, 0] })).toHaveLength(1);
    await store.verify();
  });

  it("names all that was broken at once, and what it says mends it", async () => {
    const url = await newDatabase();
    await applySchema(url, { dimensions: 3 });
    await asOwner(url, (sql) =>
      sql.unsafe(`
        ALTER TABLE memory.semantic DROP COLUMN redacted, ALTER COLUMN source DROP NOT NULL;
        ALTER TABLE memory.semantic ALTER COLUMN valid_from SET NOT NULL;
        DROP INDEX memory.semantic_metadata;
        CREATE INDEX mine ON memory.semantic USING hnsw (embedding vector_l2_ops);
        CREATE INDEX theirs ON memory.semantic USING ivfflat (embedding);
        CREATE INDEX fine ON memory.semantic USING hnsw ((embedding::halfvec(3)) halfvec_cosine_ops);
        CREATE INDEX bits ON memory.semantic USING hnsw ((binary_quantize(embedding)::bit(3)) bit_hamming_ops);
        DROP TABLE memory.semantic_erasures;
      `),
    );
    const findings = await findingsOf(url, { dimensions: 3 });
    expect(findings).toHaveLength(7);
    await asOwner(url, async (sql) => {
      for (const finding of findings) await sql.unsafe(mendOf(finding));
    });
    expect(await findingsOf(url, { dimensions: 3 })).toEqual([]);
  });

  it("says of a collection of another width which it is, with all other findings", async () => {
    const url = await newDatabase();
    await applySchema(url, { dimensions: 3 });
    const bare = await refusalOf(url, { dimensions: 4 });
    expect(bare).toMatchObject({ code: "EMBEDDING_DIMENSION", expected: 4, received: 3, schema: null });
    await asOwner(url, (sql) =>
      sql.unsafe("ALTER TABLE memory.semantic DROP COLUMN redacted; DROP TABLE memory.semantic_erasures"),
    );
    const error = await refusalOf(url, { dimensions: 4 });
    expect(isMemoryError(error, "EMBEDDING_DIMENSION") && error.schema?.findings).toHaveLength(2);
    await using store = connect(url, { dimensions: 4 });
    const call = store.index(scope, record([1, 0, 0, 0]));
    await expect(call).rejects.toMatchObject({ code: "MEMORY_SCHEMA" });
  });

  it.each([
    [3, 4],
    [1_100, 1_200],
  ])("tells a write and a search of another width than the table's (%i, %i)", async (there, given) => {
    const url = await newDatabase();
    await applySchema(url, { dimensions: there });
    const vector = (width: number) => [...Array(width).keys()].map((n) => n + 1);
    await using right = connect(url, { dimensions: there });
    await right.index(scope, record(vector(there)));
    await using store = connect(url, { dimensions: given });
    const error = { code: "EMBEDDING_DIMENSION", expected: given, received: there };
    await expect(store.index(scope, record(vector(given)))).rejects.toMatchObject(error);
    await expect(store.search(scope, { embedding: vector(given) })).rejects.toMatchObject(error);
  });

  it("tells a search by another metric, or of a width that is kept otherwise, that the schema is wrong", async () => {
    const url = await newDatabase();
    await applySchema(url, { dimensions: 3 });
    await using right = connect(url, { dimensions: 3 });
    await right.index(scope, record([1, 0, 0]));
    await using other = connect(url, { dimensions: 3, metric: "l2" });
    await expect(other.search(scope, { embedding: [1, 0, 0] })).rejects.toMatchObject({ code: "MEMORY_SCHEMA" });
    expect(await findingsOf(url, { dimensions: 3, metric: "l2" })).not.toEqual([]);
    const wide = { dimensions: 1_025, embedding: Array.from({ length: 1_025 }, () => 1) };
    await using wider = connect(url, { dimensions: wide.dimensions });
    await expect(wider.search(scope, { embedding: wide.embedding })).rejects.toMatchObject({
      code: expect.stringMatching(/SCHEMA|DIMENSION/),
    });
  });

  it("refuses another embedder's vectors, whether the schema names the embedder or only the rows do", async () => {
    const url = await newDatabase();
    await applySchema(url, { dimensions: 3, collection: "named", embedder: "bge-m3@1" });
    await applySchema(url, { dimensions: 3, collection: "free" });
    for (const collection of ["named", "free"]) {
      await using store = connect(url, { dimensions: 3, collection, embedder: "bge-m3@1" });
      await store.index(scope, record([1, 0, 0]));
      expect(await verify(url, { dimensions: 3, collection, embedder: "bge-m3@1" })).toEqual([]);
      for (const embedder of ["bge-m3@2", "a@1", "z@1"]) {
        expect(await findingsOf(url, { dimensions: 3, collection, embedder })).toHaveLength(1);
      }
    }
    expect(await findingsOf(url, { dimensions: 3, collection: "named" })).toHaveLength(1);
    await using stranger = connect(url, { dimensions: 3, collection: "named", embedder: "bge-m3@2" });
    await expect(stranger.index(scope, record([1, 0, 0]))).rejects.toMatchObject({ code: "MEMORY_SCHEMA" });
    await using unnamed = connect(url, { dimensions: 3, collection: "named" });
    await expect(unnamed.indexAll(scope, [record([1, 0, 0])])).rejects.toMatchObject({ code: "MEMORY_SCHEMA" });
    expect((await stranger.recall(scope, "k"))?.embedding).toEqual([1, 0, 0]);
  });

  it("warns of vectors whose embedder nobody named, and of stamps that row security hides", async () => {
    const url = await newDatabase();
    await applySchema(url, { dimensions: 3 });
    await using store = connect(url, { dimensions: 3 });
    await store.index(scope, record([1, 0, 0]));
    expect(await verify(url, { dimensions: 3, embedder: "m@1" })).toEqual(["pgvector-embedder-unknown"]);
    const secured = { dimensions: 3, rowSecurity: true } as const;
    await applySchema(url, { ...secured, collection: "seen", embedder: "m@1" });
    await applySchema(url, { ...secured, collection: "unseen" });
    await asOwner(url, (sql) =>
      sql.unsafe(
        `CREATE ROLE rows_${count} LOGIN; GRANT USAGE ON SCHEMA memory TO rows_${count}; GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA memory TO rows_${count}`,
      ),
    );
    const own = new URL(url);
    own.username = `rows_${count}`;
    expect(await verify(own.href, { ...secured, collection: "seen", embedder: "m@1" })).toEqual([]);
    expect(await verify(own.href, { ...secured, collection: "unseen", embedder: "m@1" })).toEqual([
      "pgvector-embedder-unseen",
    ]);
    expect(await findingsOf(own.href, { ...secured, collection: "seen", embedder: "m@2" })).toHaveLength(1);
  });

  it("warns of columns and expressions that ANALYZE samples", async () => {
    const url = await newDatabase();
    await applySchema(url, { dimensions: 3, partitions: 2 });
    expect(await verify(url, { dimensions: 3 })).toEqual([]);
    for (const damage of [
      "ALTER TABLE memory.semantic_1 ALTER COLUMN value SET STATISTICS -1",
      "ALTER TABLE memory.semantic_derivations ALTER COLUMN adapter SET STATISTICS 10",
      "CREATE INDEX mine ON memory.semantic (lower(value))",
    ]) {
      await asOwner(url, (sql) => sql.unsafe(damage));
      expect(await verify(url, { dimensions: 3 })).toEqual(["pgvector-samples"]);
      await asOwner(url, (sql) =>
        sql.unsafe(
          "ALTER TABLE memory.semantic ALTER COLUMN value SET STATISTICS 0; ALTER TABLE memory.semantic_derivations ALTER COLUMN adapter SET STATISTICS 0",
        ),
      );
    }
  });

  it.each([undefined, 3])("warns of a table most of which no vacuum has seen (partitions: %s)", async (partitions) => {
    const url = await newDatabase();
    const options = { dimensions: 3 };
    await applySchema(url, { ...options, partitions });
    const load = (name: string, rows: number) =>
      asOwner(url, async (sql) => {
        await sql.unsafe(
          `ALTER TABLE memory.semantic ALTER COLUMN value SET STORAGE PLAIN;
           INSERT INTO memory.semantic (tenant_id, key, id, value, source, confidence, recorded_at, embedding)
           SELECT 't' || n % 50, '${name}' || n, n, '"' || repeat('x', 1900) || '"', 's', 1, 0, '[1,2,3]' FROM generate_series(1, ${rows}) n`,
        );
      });
    const off = (table: string) => `ALTER TABLE memory.${table} SET (autovacuum_enabled = off);`;
    const tables = partitions === undefined ? ["semantic"] : ["semantic_0", "semantic_1", "semantic_2"];
    await asOwner(url, (sql) => sql.unsafe(tables.map(off).join(" ")));
    await load("few", 400);
    expect(await verify(url, options)).toEqual([]);
    await load("many", 4_400);
    expect(await verify(url, options)).toEqual(["pgvector-unvacuumed"]);
    await asOwner(url, (sql) => sql.unsafe("VACUUM memory.semantic"));
    expect(await verify(url, options)).toEqual([]);
    await load("some", 2_000);
    expect(await verify(url, options)).toEqual([]);
    await load("more", 4_800);
    expect(await verify(url, options)).toEqual(["pgvector-unvacuumed"]);
  });

  it("says that the extension is too old", async () => {
    const url = await newDatabase();
    await applySchema(url, { dimensions: 3 });
    await asOwner(url, (sql) => sql.unsafe("UPDATE pg_extension SET extversion = '0.7.4' WHERE extname = 'vector'"));
    const [finding, ...others] = await findingsOf(url, { dimensions: 3 });
    expect([finding?.includes("0.7.4"), others]).toEqual([true, []]);
    await asOwner(url, (sql) => sql.unsafe("UPDATE pg_extension SET extversion = '0.10.0' WHERE extname = 'vector'"));
    expect(await findingsOf(url, { dimensions: 3 })).toEqual([]);
  });

  it("keeps collections side by side apart: records, erasures, derivations", async () => {
    const url = await newDatabase();
    const one = { dimensions: 3, collection: "one" } as const;
    const two = { dimensions: 2, collection: "two", metric: "l2" } as const;
    await asOwner(url, (sql) => sql.unsafe(`${schemaSql(one)}${schemaSql(two)}`));
    await using first = connect(url, one);
    await using second = connect(url, two);
    await first.index(scope, record([1, 0, 0]));
    await second.index(scope, record([1, 0]));
    await second.derived(scope, { artefactId: "a", sourceKind: "semantic", sourceId: "x", adapter: "none" });
    expect((await first.erase(scope)).records).toBe(1);
    expect((await second.recall(scope, "k"))?.embedding).toEqual([1, 0]);
    expect((await second.derivations(scope)).derivations).toHaveLength(1);
  });
});
