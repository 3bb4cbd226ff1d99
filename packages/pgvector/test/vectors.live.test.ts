// Vectors at the edges of float32: what can be kept comes back bit by bit, what cannot is refused before any I/O, and what
// float32 sums make of the largest of them is still an answer.

import { isMemoryError, type Metric, memoryScope, memoryStoreSettings } from "@memory/core";
import type { PostgresServer } from "@tooling/servers";
import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import { PgvectorMemoryStore } from "../src/index.ts";
import { describeOnEach } from "./lanes.ts";
import { applySchema, asOwner } from "./target.ts";

const WIDTH = 4;
const metrics: readonly Metric[] = ["cosine", "l2", "inner"];

describeOnEach("vectors", (lane) => {
  let server: PostgresServer;
  let count = 0;

  beforeAll(async () => {
    server = await lane.start();
    for (const metric of metrics) await applySchema(server.url, { dimensions: WIDTH, metric, collection: metric });
  });
  afterAll(async () => {
    await server?.stop();
  });

  const connect = (metric: Metric, dsn = server.url) =>
    PgvectorMemoryStore.connect(memoryStoreSettings({ dsn, connectTimeoutMs: 500, maxAttempts: 1 }), {
      dimensions: WIDTH,
      metric,
      collection: metric,
    });
  const newScope = () => memoryScope({ tenantId: `vectors-${++count}` });
  const record = (embedding: readonly number[], key = "k") => ({ key, value: 1, source: "t", embedding });

  // Bits of any float32, the smallest and largest among them; what is not finite is left out.
  const float = fc
    .oneof(
      fc.integer({ min: 0, max: 0xffff_ffff }),
      fc.constantFrom(0, 1, 0x7f_ffff, 0x80_0000, 0x7f7f_ffff, 0xff7f_ffff, 0x3dcc_cccd, 0x8000_0001),
    )
    .map((bits) => new Float32Array(new Uint32Array([bits]).buffer)[0] ?? 0)
    .filter(Number.isFinite)
    .map((value) => value + 0);

  it("come back bit by bit, one by one and in bulk", { timeout: 120_000 }, async () => {
    await using store = connect("l2");
    const vectors = fc.array(fc.array(float, { minLength: WIDTH, maxLength: WIDTH }), { minLength: 1, maxLength: 40 });
    const property = fc.asyncProperty(vectors, async (list) => {
      const scope = newScope();
      await store.indexAll(
        scope,
        list.map((embedding, n) => record(embedding, `bulk${n}`)),
      );
      await store.index(scope, record(list[0] ?? [], "one"));
      expect((await store.recall(scope, "one"))?.embedding).toEqual(list[0]);
      for (const [n, embedding] of list.entries()) {
        expect((await store.recall(scope, `bulk${n}`))?.embedding).toEqual(embedding);
      }
    });
    await fc.assert(property, { numRuns: 25 });
  });

  const hostile: readonly (readonly [string, readonly unknown[], string, readonly Metric[]])[] = [
    ["NaN", [1, Number.NaN, 0, 0], "MEMORY_RECORD", metrics],
    ["infinity", [1, Number.POSITIVE_INFINITY, 0, 0], "MEMORY_RECORD", metrics],
    ["minus infinity", [Number.NEGATIVE_INFINITY, 0, 0, 0], "MEMORY_RECORD", metrics],
    ["3.5e38", [3.5e38, 1, 0, 0], "MEMORY_RECORD", metrics],
    ["a text", [1, "1", 0, 0], "MEMORY_RECORD", metrics],
    ["null", [1, null, 0, 0], "MEMORY_RECORD", metrics],
    ["a hole", Object.assign(new Array(4), { 0: 1 }), "MEMORY_RECORD", metrics],
    ["zeros", [0, 0, 0, 0], "MEMORY_RECORD", ["cosine"]],
    ["what becomes zeros", [1e-50, -1e-50, 0, 0], "MEMORY_RECORD", ["cosine"]],
    ["what has no length as float32", [1e-30, 0, 0, 0], "MEMORY_RECORD", ["cosine"]],
    ["what is too long for float32", [3e38, 3e38, 0, 0], "MEMORY_RECORD", ["cosine"]],
    ["one too few", [1, 0, 0], "EMBEDDING_DIMENSION", metrics],
    ["one too many", [1, 0, 0, 0, 0], "EMBEDDING_DIMENSION", metrics],
    ["none", [], "EMBEDDING_DIMENSION", metrics],
  ];

  it.each(hostile)("%s are refused before any I/O, and nothing is stored", async (_, embedding, code, refusing) => {
    const untyped: number[] = Reflect.apply(Array.from, Array, [embedding]);
    if (Object.keys(embedding).length < embedding.length) delete untyped[1];
    for (const metric of refusing) {
      const scope = newScope();
      // Nothing listens there: what would go out would be unavailable.
      await using nowhere = connect(metric, "postgres://agent@127.0.0.1:1/memory");
      for (const call of [
        nowhere.index(scope, record(untyped)),
        nowhere.indexAll(scope, [record([1, 0, 0, 0], "good"), record(untyped)]),
        nowhere.search(scope, { embedding: untyped }),
      ]) {
        await expect(call).rejects.toMatchObject({ code });
      }
      await using store = connect(metric);
      await store.indexAll(scope, [record([1, 0, 0, 0], "good"), record(untyped)]).catch((error: unknown) => {
        expect(isMemoryError(error) && error.code).toBe(code);
      });
      expect(await store.search(scope, { embedding: [1, 0, 0, 0] })).toEqual([]);
    }
  });

  it("refuses what only the server could: the table takes no vector that is not finite, nor of another width", async () => {
    await asOwner(server.url, async (sql) => {
      for (const text of ["[NaN,0,0,0]", "[Infinity,0,0,0]", "[4e38,0,0,0]", "[1,0,0]"]) {
        const insert = sql.unsafe(
          `INSERT INTO memory.l2 (tenant_id, key, id, value, source, confidence, recorded_at, embedding) VALUES ('t', 'k', 'i', '1', 's', 1, 0, '${text}')`,
        );
        await expect(insert).rejects.toThrow(/vector|dimensions|infinite|NaN/);
      }
    });
  });

  it.each<Metric>(["l2", "inner"])(
    "whose distance is beyond float32 are ranked, and have a score, by %s",
    async (metric) => {
      await using store = connect(metric);
      const scope = newScope();
      const [most, least] = [3.4e38, 1e-45];
      await store.indexAll(scope, [
        record([1, 0, 0, 0], "plain"),
        record([most, most, most, most], "large"),
        record([-most, most, -most, most], "mixed"),
        record([least, 0, 0, 0], "small"),
        record([0, 0, 0, 0], "zero"),
      ]);
      for (const embedding of [
        [most, most, most, most],
        [-most, most, most, most],
        [1, 0, 0, 0],
        [0, 0, 0, 0],
      ]) {
        const hits = await store.search(scope, { embedding });
        expect(hits).toHaveLength(5);
        expect(hits.filter(({ score }) => Number.isNaN(score))).toEqual([]);
        const scores = hits.map(({ score }) => score);
        expect(scores).toEqual(scores.toSorted((a, b) => (a === b ? 0 : b - a)));
        expect(await store.search(scope, { embedding, minScore: Number.NEGATIVE_INFINITY })).toEqual(hits);
      }
    },
  );

  it.each(metrics)("keep a hit in whose own score is the least that is asked for, by %s", async (metric) => {
    await using store = connect(metric);
    const scope = newScope();
    await store.indexAll(
      scope,
      [...Array(30).keys()].map((n) => record([Math.sin(n), Math.cos(n), n / 7, 0.1], `k${n}`)),
    );
    const embedding = [0.3, -0.7, 0.11, 0.9];
    const hits = await store.search(scope, { embedding, limit: 30 });
    for (const [n, { score }] of hits.entries()) {
      const least = await store.search(scope, { embedding, limit: 30, minScore: score });
      expect(least).toHaveLength(n + 1);
    }
  });
});
