// The graph: it serves what it is meant to, its answer is taken where it can be trusted, and where it cannot the exact one
// comes instead; whether it is over everything or over one scope, in any partition, there or not.

import { type Metric, memoryScope, memoryStoreSettings } from "@memory/core";
import type { PostgresServer } from "@tooling/servers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PgvectorMemoryStore } from "../src/index.ts";
import { graphSql, type SchemaOptions, schemaSql } from "../src/schema.ts";
import { describeOnEach } from "./lanes.ts";
import { plansOf, sentBy } from "./sent.ts";
import { applySchema, asOwner } from "./target.ts";
import { faultsOf, missedBy, type Point, vectorsOf } from "./world.ts";

const SIZE = 5_200;
const TOPICS = [...Array(12).keys()];
const OFF_TOPIC = [100, 101, 102];
const large = memoryScope({ tenantId: `it's a "tenant"`, userId: "back\\slash" });
const small = memoryScope({ tenantId: "small" });
const same = memoryScope({ tenantId: "equal" });

describeOnEach("a graph", (lane) => {
  let server: PostgresServer;
  const opened: PgvectorMemoryStore[] = [];

  beforeAll(async () => {
    server = await lane.start({ settings: { maintenance_work_mem: "256MB" } });
  });
  afterAll(async () => {
    await Promise.all(opened.map((store) => store.close()));
    await server?.stop();
  });

  const connect = ({ dimensions, metric, collection }: SchemaOptions) => {
    const settings = memoryStoreSettings({ dsn: server.url, attemptTimeoutMs: 60_000 });
    const store = PgvectorMemoryStore.connect(settings, { dimensions, metric, collection });
    opened.push(store);
    return store;
  };

  async function load(store: PgvectorMemoryStore, dimensions: number): Promise<readonly Point[]> {
    const points = vectorsOf(dimensions, SIZE, TOPICS, 1).map((vector, n) => ({ key: `k${n}`, vector }));
    const record = ({ key, vector }: Point, n: number) => ({
      key,
      value: n,
      source: "t",
      embedding: vector,
      metadata: { half: n % 2 === 0 },
    });
    await store.indexAll(large, points.map(record));
    await store.indexAll(small, points.slice(0, 50).map(record));
    return points;
  }

  const ways: readonly (readonly [string, SchemaOptions])[] = [
    ["over everything", { dimensions: 64, collection: "all_cosine", index: "hnsw" }],
    ["over everything, by l2", { dimensions: 64, metric: "l2", collection: "all_l2", index: "hnsw" }],
    ["over everything, by inner product", { dimensions: 64, metric: "inner", collection: "all_inner", index: "hnsw" }],
    ["over one scope", { dimensions: 64, collection: "own", index: { hnsw: [large, small, same] } }],
    [
      "over one scope, in partitions",
      { dimensions: 64, metric: "l2", collection: "own_parts", index: { hnsw: [large] }, partitions: 3 },
    ],
  ];

  describe.each(ways)("%s", (_, options) => {
    const { dimensions, collection = "", metric = "cosine" as Metric } = options;
    const { index: __, partitions: ___, ...own } = options;
    let store: PgvectorMemoryStore;
    let points: readonly Point[];

    beforeAll(async () => {
      const { index: _index, ...without } = options;
      await applySchema(server.url, without);
      store = connect(options);
      points = await load(store, dimensions);
      // Made afterwards, as one does.
      await asOwner(server.url, (sql) => sql.unsafe(`BEGIN; ${graphSql(options)} COMMIT;`));
      store = connect(options);
    }, 180_000);

    const [onTopic, offTopic] = [vectorsOf(dimensions, 30, TOPICS, 7), vectorsOf(dimensions, 12, OFF_TOPIC, 8)];

    it("finds what is on topic and what is off it, with a filter and without", async () => {
      const half = points.filter((__, n) => n % 2 === 0);
      for (const queries of [onTopic, offTopic]) {
        let missed = 0;
        for (const embedding of queries) {
          missed += missedBy(await store.search(large, { embedding }), points, embedding, metric, 10);
          const hits = await store.search(large, { embedding, filter: { half: true } });
          missed += missedBy(hits, half, embedding, metric, 10);
        }
        // Of a graph's answers one hit in a hundred may be another's.
        expect(missed).toBeLessThanOrEqual(queries.length * 20 * 0.01);
      }
    });

    it("is asked by its index alone, for these parameters and for any", async () => {
      const [statement] = await sentBy(server.url, own, large, { embedding: onTopic[0] ?? [] });
      for (const plan of statement === undefined ? [""] : await plansOf(server.url, statement)) {
        expect(plan).toMatch(
          options.partitions === undefined
            ? RegExp(`Index Scan using ${collection}_graph`)
            : /Index Scan using own_parts_2_expr_idx|Index Scan using own_parts_\d_\w*idx/,
        );
        expect(plan).not.toMatch(/Seq Scan|Sort Key: .*l2_normalize|_pkey|_near/);
      }
    });

    it("is not trusted where everything is equally far", async () => {
      const equal = Array.from({ length: dimensions }, () => 1);
      await store.indexAll(
        same,
        [...Array(60).keys()].map((n) => ({
          key: `k${String(n).padStart(2, "0")}`,
          value: n,
          source: "t",
          embedding: equal,
        })),
      );
      const hits = await store.search(same, { embedding: equal, limit: 3 });
      expect(hits.map((hit) => hit.record.key)).toEqual(["k00", "k01", "k02"]);
    });

    it("leaves small scopes exact", async () => {
      for (const embedding of onTopic) {
        const hits = await store.search(small, { embedding });
        expect(faultsOf(hits, points.slice(0, 50), embedding, metric, 10)).toEqual([]);
      }
    });

    it("is right by verify(), and its settings stay in its own statement", async () => {
      await store.verify();
      expect(await server.psql("SELECT count(*) FROM pg_db_role_setting")).toBe("0");
    });
  });

  it("goes over everything only where there are no partitions", () => {
    expect(() => schemaSql({ dimensions: 3, index: "hnsw", partitions: 2 })).toThrow(
      expect.objectContaining({ code: "MEMORY_SETTINGS", setting: "index" }),
    );
  });

  it("is half as wide above 2,000 dimensions, and refused above 4,000", async () => {
    for (const metric of ["cosine", "l2", "inner"] as const) {
      const collection = `wide_${metric}`;
      await applySchema(server.url, { dimensions: 2_001, metric, collection, index: "hnsw" });
      const store = connect({ dimensions: 2_001, metric, collection });
      const points = vectorsOf(2_001, 40, TOPICS, 1).map((vector, n) => ({ key: `k${n}`, vector }));
      await store.indexAll(
        small,
        points.map(({ key, vector }, n) => ({ key, value: n, source: "t", embedding: vector })),
      );
      const [embedding = []] = vectorsOf(2_001, 1, TOPICS, 2);
      expect(faultsOf(await store.search(small, { embedding }), points, embedding, metric, 10)).toEqual([]);
      await store.verify();
      expect(await server.psql(`SELECT indexdef FROM pg_indexes WHERE indexname = '${collection}_graph'`)).toContain(
        "halfvec",
      );
    }
    expect(() => schemaSql({ dimensions: 4_001, index: "hnsw" })).toThrow(
      expect.objectContaining({ code: "MEMORY_SETTINGS", setting: "index" }),
    );
  });
});
