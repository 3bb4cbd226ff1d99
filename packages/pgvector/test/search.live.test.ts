// A search gives the exact answer, whatever it is asked and however often, and goes the way it is meant to: by the index of
// the first pass, before the table was ever analysed as after it, and as a plan for any parameters as for these.

import { type MemoryQuery, type Metric, memoryScope, memoryStoreSettings } from "@memory/core";
import type { PostgresServer } from "@tooling/servers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PgvectorMemoryStore } from "../src/index.ts";
import { describeOnEach } from "./lanes.ts";
import { plansOf, sentBy } from "./sent.ts";
import { applySchema } from "./target.ts";
import { faultsOf, missedBy, type Point, vectorsOf } from "./world.ts";

const LARGE = 3_000;
const SESSIONS = 40;
const PER_SESSION = 50;
const TOPICS = [...Array(12).keys()];
const OFF_TOPIC = [100, 101, 102];
const HOUR = 3_600_000;

const large = memoryScope({ tenantId: "acme", userId: "large" });
const user = memoryScope({ tenantId: "acme", userId: "sessions" });
const session = (n: number) => memoryScope({ ...user, sessionId: `s${n}` });

interface Collection {
  readonly name: string;
  readonly metric: Metric;
  readonly dimensions: number;
  readonly partitions?: number;
}

const collections: readonly Collection[] = [
  { name: "cosine", metric: "cosine", dimensions: 48 },
  { name: "l2", metric: "l2", dimensions: 48 },
  { name: "inner", metric: "inner", dimensions: 48, partitions: 3 },
  { name: "wide", metric: "cosine", dimensions: 1_100 },
  { name: "wide_l2", metric: "l2", dimensions: 1_100 },
  { name: "wide_inner", metric: "inner", dimensions: 1_100 },
];

describeOnEach("a search", (lane) => {
  let server: PostgresServer;
  const opened: PgvectorMemoryStore[] = [];

  beforeAll(async () => {
    server = await lane.start({ settings: { autovacuum: "off" } });
  });
  afterAll(async () => {
    await Promise.all(opened.map((store) => store.close()));
    await server?.stop();
  });

  const connect = ({ name, metric, dimensions }: Collection) => {
    const store = PgvectorMemoryStore.connect(memoryStoreSettings({ dsn: server.url, attemptTimeoutMs: 60_000 }), {
      dimensions,
      metric,
      collection: name,
    });
    opened.push(store);
    return store;
  };

  // Thousands of exact distances in this process: on a busy machine half a minute is not enough.
  describe.each(collections)("of the collection $name", { timeout: 120_000 }, (collection) => {
    const { name, metric, dimensions, partitions } = collection;
    const own = { dimensions, metric, collection: name };
    const isWide = dimensions > 1_024;
    const size = isWide && metric !== "inner" ? LARGE / 2 : LARGE;
    let store: PgvectorMemoryStore;
    let points: readonly Point[];
    let ofSessions: readonly Point[];
    const now = Date.now();

    beforeAll(async () => {
      await applySchema(server.url, {
        dimensions,
        metric,
        collection: name,
        ...(partitions === undefined ? {} : { partitions }),
      });
      store = connect(collection);
      points = vectorsOf(dimensions, size, TOPICS, 1).map((vector, n) => ({ key: `k${n}`, vector }));
      await store.indexAll(
        large,
        points.map(({ key, vector }, n) => ({
          key,
          value: n,
          source: "t",
          embedding: vector,
          metadata: { rare: n % 300 === 0, half: n % 2 === 0 },
          ...(n % 2 === 0 ? {} : { validFrom: now - 2 * HOUR, validTo: now + 1_000 * HOUR }),
        })),
      );
      // The same keys in every session.
      const all: Point[] = [];
      for (let n = 0; n < SESSIONS; n += 1) {
        const own = vectorsOf(dimensions, PER_SESSION, [n % 12], 100 + n).map((vector, index) => ({ index, vector }));
        all.push(...own.map(({ index, vector }) => ({ key: `${n}/${index}`, vector })));
        await store.indexAll(
          session(n),
          own.map(({ index, vector }) => ({ key: `${n}/${index}`, value: n, source: "t", embedding: vector })),
        );
      }
      ofSessions = all;
    }, 120_000);

    const onTopic = () => vectorsOf(dimensions, 12, TOPICS, 7);
    const offTopic = () => vectorsOf(dimensions, 12, OFF_TOPIC, 8);
    const queries = () => [...onTopic(), ...offTopic()];

    async function faults(
      query: Omit<MemoryQuery, "embedding">,
      among: readonly Point[] = points,
      scope = large,
    ): Promise<readonly string[]> {
      const found: string[] = [];
      for (const embedding of queries()) {
        const hits = await store.search(scope, { ...query, embedding });
        const { limit = 10 } = query;
        found.push(...faultsOf(hits, among, embedding, metric, limit));
      }
      return found;
    }

    // Signs are an estimate: of what is asked on a topic a place in a hundred may be another's.
    const allowed = isWide ? Math.ceil(24 * 10 * 0.01) : 0;

    it("gives the closest of a large scope in their order, on topic and off it", async () => {
      expect((await faults({})).length).toBeLessThanOrEqual(allowed);
    });

    it.runIf(isWide)("misses hardly one in a hundred of what is asked off topic, whatever the lengths", async () => {
      const asked = vectorsOf(
        dimensions,
        40,
        [...Array(40).keys()].map((n) => 200 + n),
        9,
      );
      let missed = 0;
      for (const embedding of asked) {
        missed += missedBy(await store.search(large, { embedding }), points, embedding, metric, 10);
      }
      expect(missed).toBeLessThanOrEqual(asked.length * 10 * 0.01);
    });

    it("gives the closest of a small scope in their order", async () => {
      const own = ofSessions.filter(({ key }) => key.startsWith("3/"));
      expect(await faults({}, own, session(3))).toEqual([]);
      expect(await faults({ limit: 1_000 }, own, session(3))).toEqual([]);
    });

    it("fills a limit of 1 and of 1,000", async () => {
      expect((await faults({ limit: 1 })).length).toBeLessThanOrEqual(allowed);
      expect((await faults({ limit: 1_000 })).length).toBeLessThanOrEqual(allowed * 100);
    });

    it("gives the closest under a user, over all sessions", async () => {
      const found = await faults({ reach: "under" }, ofSessions, user);
      expect(found.length).toBeLessThanOrEqual(allowed);
    });

    it("gives the closest of what a filter keeps, of one in 300 and of half", async () => {
      const kept = (every: number) => points.filter((_, n) => n % every === 0);
      expect(await faults({ filter: { rare: true } }, kept(300))).toEqual([]);
      expect(await faults({ filter: { rare: true }, limit: 1_000 }, kept(300))).toEqual([]);
      expect((await faults({ filter: { half: true } }, kept(2))).length).toBeLessThanOrEqual(allowed);
      expect(await faults({ filter: { half: true, rare: true, none: 1 } }, [])).toEqual([]);
    });

    it("gives the closest of what is valid then", async () => {
      const before = points.filter((_, n) => n % 2 === 0);
      expect((await faults({ asOf: now - 3 * HOUR }, before)).length).toBeLessThanOrEqual(allowed);
    });

    it("gives what scores no less than is asked, and not more than the limit", async () => {
      for (const embedding of queries()) {
        const all = await store.search(large, { embedding, limit: 1_000 });
        for (const place of [0, 4, 30]) {
          const minScore = all[place]?.score ?? 0;
          const hits = await store.search(large, { embedding, minScore });
          expect(hits.map((hit) => hit.record.key)).toEqual(
            all.slice(0, Math.min(10, place + 1)).map((hit) => hit.record.key),
          );
        }
      }
    });

    it("goes by the index of the first pass, before and after ANALYZE, for these parameters and for any", async () => {
      const embedding = onTopic()[0] ?? [];
      for (const isAnalysed of [false, true]) {
        if (isAnalysed) await server.psql(`VACUUM ANALYZE memory.${name}`);
        for (const [scope, query] of [
          [large, { embedding }],
          [user, { embedding, reach: "under" }],
        ] as const) {
          const statements = [...(await sentBy(server.url, own, scope, query))];
          if (!isWide) expect(statements).toHaveLength(1);
          statements.push(...(await sentBy(server.url, own, scope, query, "again")));
          for (const statement of statements) {
            for (const plan of await plansOf(server.url, statement)) {
              expect(plan).toMatch(
                partitions === undefined ? RegExp(`Index (?:Only )?Scan using ${name}_near`) : /_idx/,
              );
              // Whatever else could serve the same conditions would look at the whole scope for each record.
              expect(plan).not.toMatch(/Rows Removed by Filter: \d{3}/);
              expect(plan).not.toMatch(/Seq Scan on (?!.*never executed)|Bitmap Heap|Gather|_pkey/);
            }
          }
        }
      }
    });

    it("goes by the index of metadata where a filter keeps little of a large scope", async () => {
      const [statement, ...others] = await sentBy(server.url, own, large, {
        embedding: onTopic()[0] ?? [],
        filter: { rare: true },
      });
      expect(others).toEqual([]);
      for (const plan of statement === undefined ? [] : await plansOf(server.url, statement)) {
        expect(plan).toMatch(
          partitions === undefined ? RegExp(`Bitmap Index Scan on ${name}_metadata`) : /Bitmap Index Scan/,
        );
        expect(plan).toMatch(/never executed/);
      }
    });

    it("counts a large scope under a filter once, and then goes straight by the metadata", async () => {
      const query = { embedding: onTopic()[0] ?? [], filter: { rare: true } };
      const [statement, ...others] = await sentBy(server.url, own, large, query, "again");
      expect(others).toEqual([]);
      for (const plan of await plansOf(server.url, statement ?? { text: "", params: [] })) {
        expect(plan).toMatch(/Bitmap Index Scan/);
        expect(plan).not.toMatch(/_near|user_id_session_id_agent_handle/);
      }
    });

    it.each([[[20, 1_200, 20]], [[1_200, 600, 1_200]]])(
      "is right in a scope of %j records, one after the other",
      async (counts) => {
        const changing = memoryScope({ tenantId: "acme", userId: `changing-${name}-${counts[0]}` });
        for (const count of counts) {
          const some = points.slice(0, count);
          const records = some.map(({ key, vector }, n) => ({
            ...{ key, value: n, source: "t", embedding: vector, metadata: { odd: n % 2 === 1 } },
          }));
          await store.erase(changing);
          await store.indexAll(changing, records);
          const odd = some.filter((_, n) => n % 2 === 1);
          expect(await faults({ filter: { odd: true } }, odd, changing)).toEqual([]);
          expect((await faults({}, some, changing)).length).toBeLessThanOrEqual(count > 1_000 ? allowed : 0);
        }
      },
    );

    it("is the same at the sixth and the hundredth time", async () => {
      const [embedding = []] = offTopic();
      const first = await store.search(large, { embedding });
      for (let turn = 2; turn <= 100; turn += 1) {
        const hits = await store.search(large, { embedding });
        if (turn === 6 || turn === 100) expect(hits).toEqual(first);
      }
    });
  });

  it.each([1, 8, 384, 768, 769, 1_024, 1_025, 1_536, 2_000, 2_001, 4_000, 16_000])(
    "finds records with the longest names there are, in %i dimensions",
    async (dimensions) => {
      for (const metric of ["cosine", "l2"] as const) {
        const collection = { name: `long_${metric}_${dimensions}`, metric, dimensions };
        await applySchema(server.url, { dimensions, metric, collection: collection.name });
        const store = connect(collection);
        // So random that nothing of it can be compressed.
        const text = (bytes: number, seed: number) =>
          vectorsOf(bytes, 1, [seed], seed)
            .flat()
            .map((value) => String.fromCharCode(33 + (Math.abs(Math.floor(value * 1e6)) % 90)))
            .join("");
        const scope = memoryScope({
          tenantId: text(256, 1),
          userId: text(256, 2),
          sessionId: text(256, 3),
          agent: text(256, 4),
        });
        const vectors = vectorsOf(dimensions, 30, TOPICS, 5);
        const points = vectors.map((vector, n) => ({ key: text(1_024, 10 + n), vector }));
        await store.indexAll(
          scope,
          points.map(({ key, vector }, n) => ({ key, value: n, source: "t", embedding: vector })),
        );
        for (const query of vectorsOf(dimensions, 3, OFF_TOPIC, 6)) {
          const hits = await store.search(scope, { embedding: query });
          expect(faultsOf(hits, points, query, metric, 10)).toEqual([]);
        }
      }
    },
  );
});
