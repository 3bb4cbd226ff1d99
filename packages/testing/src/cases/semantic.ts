// The promises about things found by resemblance: vectors in and out, the order of a search, its exact counts, and what
// is refused because a server would store it as something else. The store's metric is found out by measuring.

import assert from "node:assert/strict";
import {
  isMemoryError,
  type MemoryHit,
  type MemoryQuery,
  type MemoryRecordInput,
  type MemoryScope,
  type MemoryStore,
  type Metric,
} from "@memory/core";
import type { ConformanceCase } from "../case.ts";
import type { CaseContext } from "../context.ts";
import { record, refused } from "../kinds.ts";
import { untyped } from "../untyped.ts";

const HOUR = 3_600_000;

const vectors = { semantic: true } as const;
const reaching = { semantic: true, reach: true } as const;
const filtering = { semantic: true, filter: true } as const;

const keysOf = (hits: readonly MemoryHit[]): readonly string[] => hits.map((hit) => hit.record.key);
const upTo = (n: number): readonly number[] => Array.from({ length: n }, (_, index) => index + 1);

/** A vector in the plane of the first two axes. A store of one dimension has no plane; there is no such store. */
function planar(context: CaseContext, x: number, y: number): number[] {
  const vector = new Array<number>(context.capabilities.embeddingDimensions ?? 0).fill(0);
  vector[0] = x;
  vector[1] = y;
  return vector;
}

/** The unit vector at an angle from the first axis, in degrees: the greater the angle, the less alike by every metric. */
function at(context: CaseContext, degrees: number): number[] {
  const angle = (degrees / 180) * Math.PI;
  return planar(context, Math.cos(angle), Math.sin(angle));
}

function entry(key: string, embedding: readonly number[], rest: Partial<MemoryRecordInput> = {}): MemoryRecordInput {
  return { ...record(key, `about ${key}`), embedding, ...rest };
}

/** 1 - distance of (1.2, 1.6) from (1, 0), by each metric: the angle's cosine, a length, a negated product. */
const SCORES: Readonly<Record<Metric, number>> = { cosine: 0.6, l2: 1 - Math.hypot(0.2, 1.6), inner: 1 + 1.2 };

/** Which metric the store measures by. */
async function metricOf(context: CaseContext, store: MemoryStore): Promise<Metric> {
  const scope = context.scope({ userId: context.unique("probe") });
  await store.index(scope, entry("probe", planar(context, 1.2, 1.6)));
  const [hit] = await store.search(scope, { embedding: planar(context, 1, 0) });
  const names: readonly Metric[] = ["cosine", "l2", "inner"];
  const found = names.find((name) => Math.abs((hit?.score ?? Number.NaN) - SCORES[name]) < 1e-5);
  assert.ok(found !== undefined, `a score of ${hit?.score} is 1 - distance by no metric`);
  return found;
}

async function everything(context: CaseContext, store: MemoryStore, scope: MemoryScope): Promise<readonly string[]> {
  return keysOf(await store.search(scope, { embedding: at(context, 0), limit: 1_000 }));
}

const storing: readonly ConformanceCase[] = [
  {
    id: "semantic/index-and-recall",
    promise: "An indexed record comes back by its key as it went in, its embedding as float32.",
    needs: vectors,
    async run(context) {
      const store = await context.open();
      const scope = context.scope({ userId: "u" });
      const now = context.clock.now();
      const given = {
        id: context.unique("id"),
        confidence: 0.75,
        validFrom: now - HOUR,
        validTo: now + HOUR,
        metadata: { page: 3, draft: false, lang: "en" },
      };
      const embedding = planar(context, 0.1, -0.7);
      const stored = await store.index(scope, { ...record("doc", { text: "x" }), ...given, embedding });
      const expected = {
        ...given,
        kind: "semantic",
        scope,
        key: "doc",
        value: { text: "x" },
        source: "case",
        recordedAt: now,
        embedding: embedding.map(Math.fround),
      };
      assert.deepEqual(stored, expected);
      assert.deepEqual(await store.recall(scope, "doc"), expected);
      assert.equal(await store.recall(scope, "other"), null);
    },
    async refusal(context) {
      const store = await context.open();
      const scope = context.scope();
      await refused(context, store, store.index(scope, { ...record("k"), embedding: [1] }));
      await refused(context, store, store.indexAll(scope, []));
      await refused(context, store, store.recall(scope, "k"));
      await refused(context, store, store.search(scope, { embedding: [1] }));
    },
  },
  {
    id: "semantic/index-replaces-by-key",
    promise: "`index` replaces by key: value, vector and metadata together, leaving nothing of what was there.",
    needs: vectors,
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      await store.index(scope, entry("k", at(context, 0), { metadata: { x: 1 }, subject: "s", validTo: 1 }));
      const second = await store.index(scope, entry("k", at(context, 90), { value: "new" }));
      assert.deepEqual(await store.recall(scope, "k"), second);
      assert.equal(second.metadata, undefined);
      const [hit, ...more] = await store.search(scope, { embedding: at(context, 90) });
      assert.equal(more.length, 0);
      assert.equal(hit?.record.value, "new");
      const ofTheOldOne = await store.search(scope, { embedding: at(context, 0) });
      assert.ok((ofTheOldOne[0]?.score ?? 0) < (hit?.score ?? 0), "the vector is the new one");
    },
  },
  {
    id: "semantic/value-and-vector-belong-together",
    promise: "Of concurrent writes to one key one is there wholly: its value with its own vector.",
    needs: vectors,
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      await Promise.all(
        upTo(8).map((n) => store.index(scope, entry("k", context.vector(n), { value: n, metadata: { n } }))),
      );
      const found = await store.recall(scope, "k");
      const n = Number(found?.value);
      assert.deepEqual(found?.embedding, context.vector(n).map(Math.fround));
      assert.deepEqual(found?.metadata, { n });
      assert.equal((await everything(context, store, scope)).length, 1);
    },
  },
  {
    id: "semantic/index-all",
    promise:
      "`indexAll` stores in bulk; of equal keys the last one wins; it gives the records back in the order given.",
    needs: vectors,
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      const stored = await store.indexAll(scope, [
        entry("a", at(context, 0), { value: 1 }),
        entry("b", at(context, 10), { value: 2 }),
        entry("a", at(context, 20), { value: 3 }),
      ]);
      assert.deepEqual(
        stored.map((one) => one.value),
        [1, 2, 3],
      );
      assert.deepEqual(await store.recall(scope, "a"), stored[2]);
      assert.deepEqual(await store.recall(scope, "b"), stored[1]);
      assert.deepEqual(await everything(context, store, scope), ["b", "a"]);
      assert.deepEqual(await store.indexAll(scope, []), []);
    },
  },
  {
    id: "semantic/index-all-is-atomic",
    promise: "`indexAll` is all or nothing: one bad record among many, and none of them is stored or replaced.",
    needs: vectors,
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      await store.index(scope, entry("k3", at(context, 0), { value: "before" }));
      const good = upTo(10).map((n) => entry(`k${n}`, at(context, n)));
      const wide = [...at(context, 1), 0];
      await context.rejects(store.indexAll(scope, [...good, entry("bad", wide)]), "EMBEDDING_DIMENSION");
      await context.rejects(
        store.indexAll(scope, [...good, entry("bad", planar(context, Number.NaN, 1))]),
        "MEMORY_RECORD",
      );
      await context.rejects(
        store.indexAll(scope, [...good, entry("bad", at(context, 1), { scope: context.foreign() })]),
        "MEMORY_SCOPE",
      );
      await context.rejects(store.indexAll(scope, untyped({})), "MEMORY_RECORD");
      assert.deepEqual(await everything(context, store, scope), ["k3"]);
      assert.equal((await store.recall(scope, "k3"))?.value, "before");
    },
  },
  {
    id: "semantic/concurrent-bulk-writes",
    promise: "Bulk writes of the same keys in opposite orders all land, each key with a whole record.",
    needs: vectors,
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      const keys = upTo(20).map((n) => `k${String(n).padStart(2, "0")}`);
      await Promise.all(
        upTo(6).map((writer) => {
          const batch = keys.map((key) => entry(key, context.vector(writer), { value: writer }));
          return store.indexAll(scope, writer % 2 === 0 ? batch : batch.toReversed());
        }),
      );
      for (const key of keys) {
        const found = await store.recall(scope, key);
        assert.deepEqual(found?.embedding, context.vector(Number(found?.value)).map(Math.fround), key);
      }
      assert.equal((await everything(context, store, scope)).length, 20);
    },
  },
];

const checking: readonly ConformanceCase[] = [
  {
    id: "semantic/embedding-of-the-right-width",
    promise:
      "A missing or wrong-width embedding, in a record or a query, is an `EmbeddingDimensionError` with both widths; nothing is stored.",
    needs: vectors,
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      const expected = context.capabilities.embeddingDimensions;
      const wide = [...at(context, 0), 0];
      for (const embedding of [undefined, [], wide, wide.slice(2)]) {
        const received = embedding?.length ?? 0;
        const fields = { expected, received };
        await context.rejects(store.index(scope, { ...record("k"), embedding }), "EMBEDDING_DIMENSION", fields);
        await context.rejects(store.search(scope, untyped({ embedding })), "EMBEDDING_DIMENSION", fields);
      }
      assert.equal(await store.recall(scope, "k"), null);
    },
  },
  {
    id: "semantic/embedding-of-finite-float32",
    promise:
      "A component that is not finite as a float32, in a record or a query, is a `MemoryRecordError`; nothing is stored.",
    needs: vectors,
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      for (const component of [
        Number.NaN,
        Number.POSITIVE_INFINITY,
        Number.NEGATIVE_INFINITY,
        3.5e38,
        -3.5e38,
        1e308,
      ]) {
        const embedding = planar(context, 1, component);
        await context.rejects(store.index(scope, entry("k", embedding)), "MEMORY_RECORD", { path: "embedding.1" });
        await context.rejects(store.search(scope, { embedding }), "MEMORY_RECORD");
      }
      for (const component of ["1", null, undefined, {}, [1], true, 1n]) {
        const embedding: number[] = untyped(planar(context, 1, 0).with(1, untyped(component)));
        await context.rejects(store.index(scope, entry("k", embedding)), "MEMORY_RECORD");
        await context.rejects(store.search(scope, { embedding }), "MEMORY_RECORD");
      }
      assert.equal(await store.recall(scope, "k"), null);
    },
  },
  {
    id: "semantic/embedding-is-rounded-to-float32",
    promise: "Components are kept as float32: what is too small for one is stored as 0, beside others that are not.",
    needs: vectors,
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      const stored = await store.index(scope, entry("k", planar(context, 0.1, 1e-50)));
      assert.deepEqual(stored.embedding, planar(context, Math.fround(0.1), 0));
      assert.deepEqual((await store.recall(scope, "k"))?.embedding, stored.embedding);
    },
  },
  {
    id: "semantic/no-direction-no-cosine",
    promise:
      "For `cosine` a vector that is zero, or becomes zero as float32, is a `MemoryRecordError`; other metrics take it.",
    needs: vectors,
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      const metric = await metricOf(context, store);
      for (const embedding of [planar(context, 0, 0), planar(context, 1e-50, -1e-50)]) {
        if (metric === "cosine") {
          await context.rejects(store.index(scope, entry("k", embedding)), "MEMORY_RECORD");
          await context.rejects(store.search(scope, { embedding }), "MEMORY_RECORD");
          assert.equal(await store.recall(scope, "k"), null);
        } else {
          await store.index(scope, entry("k", embedding));
          assert.deepEqual((await store.recall(scope, "k"))?.embedding, planar(context, 0, 0));
          assert.equal((await store.search(scope, { embedding })).length, 1);
        }
      }
    },
  },
];

const searching: readonly ConformanceCase[] = [
  {
    id: "semantic/score-is-one-minus-distance",
    promise: "The score is 1 minus the distance by the store's metric, unclamped; the hits carry no embedding.",
    needs: vectors,
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      const metric = await metricOf(context, store);
      await store.index(scope, entry("same", planar(context, 1, 0)));
      await store.index(scope, entry("far", planar(context, 1.2, 1.6)));
      await store.index(scope, entry("opposite", planar(context, -3, 0)));
      const expected = {
        cosine: [
          ["same", 1],
          ["far", 0.6],
          ["opposite", -1],
        ],
        l2: [
          ["same", 1],
          ["far", 1 - Math.hypot(0.2, 1.6)],
          ["opposite", -3],
        ],
        inner: [
          ["far", 2.2],
          ["same", 2],
          ["opposite", -2],
        ],
      }[metric];
      const hits = await store.search(scope, { embedding: planar(context, 1, 0) });
      assert.deepEqual(
        keysOf(hits),
        expected.map(([key]) => key),
      );
      for (const [index, hit] of hits.entries()) {
        assert.ok(Math.abs(hit.score - Number(expected[index]?.[1])) < 1e-5, `${hit.record.key} scores ${hit.score}`);
        assert.equal(Object.hasOwn(hit.record, "embedding"), false);
      }
    },
  },
  {
    id: "semantic/closest-first",
    promise: "`search` gives the closest first.",
    needs: vectors,
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      const angles = [80, 5, 170, 40, 20, 110, 60, 0, 140];
      await store.indexAll(
        scope,
        angles.map((angle) => entry(`${angle}`, at(context, angle))),
      );
      const hits = await store.search(scope, { embedding: at(context, 0) });
      assert.deepEqual(keysOf(hits), angles.toSorted((a, b) => a - b).map(String));
      assert.deepEqual(
        hits.map((hit) => hit.score),
        hits.map((hit) => hit.score).toSorted((a, b) => b - a),
      );
    },
  },
  {
    id: "semantic/ties-by-key",
    promise: "Equally close records come by key, in UTF-8 byte order.",
    needs: vectors,
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      const keys = ["Z", "a", "a b", "b", "\u00E9", "\uFF5E", "\u{1F600}"];
      for (const key of ["b", "\u{1F600}", "a", "\uFF5E", "Z", "\u00E9", "a b"]) {
        await store.index(scope, entry(key, at(context, 30)));
      }
      const found = async (limit: number) => keysOf(await store.search(scope, { embedding: at(context, 0), limit }));
      assert.deepEqual(await found(10), keys);
      assert.deepEqual(await found(3), keys.slice(0, 3));
    },
  },
  {
    id: "semantic/ties-by-scope",
    promise:
      'Under `reach: "under"` every contained scope is searched; equally close records come by key and then by scope.',
    needs: reaching,
    async run(context) {
      const store = await context.open();
      const user = context.scope({ userId: "u" });
      const scopes = [
        user,
        context.scope({ userId: "u", agent: "x" }),
        context.scope({ userId: "u", sessionId: "a" }),
        context.scope({ userId: "u", sessionId: "b" }),
      ];
      for (const scope of scopes.toReversed()) {
        for (const key of ["k2", "k1"]) await store.index(scope, entry(key, at(context, 30)));
      }
      await store.index(scopes[3] ?? user, entry("z", at(context, 10)));
      for (const outside of [context.scope(), context.scope({ userId: "u1" }), context.foreign({ userId: "u" })]) {
        await store.index(outside, entry("k1", at(context, 0)));
      }
      const hits = await store.search(user, { embedding: at(context, 0), reach: "under", limit: 100 });
      assert.deepEqual(
        hits.map(({ record: { key, scope } }) => ({ key, scope })),
        [{ key: "z", scope: scopes[3] }, ...["k1", "k2"].flatMap((key) => scopes.map((scope) => ({ key, scope })))],
      );
      const bySession = await store.search(context.scope({ sessionId: "b" }), {
        embedding: at(context, 0),
        reach: "under",
      });
      assert.deepEqual(keysOf(bySession), ["z", "k1", "k2"], "also where the scope leaves out a part in the middle");
    },
  },
  {
    id: "semantic/limit",
    promise: "A search gives 10 records where the caller does not say; a limit outside 1 to 1,000 is refused.",
    needs: vectors,
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      await store.indexAll(
        scope,
        upTo(12).map((n) => entry(`k${n}`, at(context, n))),
      );
      const embedding = at(context, 0);
      assert.deepEqual(
        keysOf(await store.search(scope, { embedding })),
        upTo(10).map((n) => `k${n}`),
      );
      assert.deepEqual(keysOf(await store.search(scope, { embedding, limit: 2 })), ["k1", "k2"]);
      assert.equal((await store.search(scope, { embedding, limit: 1_000 })).length, 12);
      for (const limit of [0, -1, 2.5, 1_001, Number.NaN]) {
        await context.rejects(store.search(scope, { embedding, limit }), "MEMORY_RECORD", { path: "query.limit" });
      }
    },
  },
  {
    id: "semantic/min-score",
    promise: "`minScore` leaves out what scores less, and may leave nothing.",
    needs: vectors,
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      await store.indexAll(
        scope,
        upTo(6).map((n) => entry(`k${n}`, at(context, n * 25))),
      );
      const embedding = at(context, 0);
      const scores = (await store.search(scope, { embedding })).map((hit) => hit.score);
      const between = ((scores[2] ?? 0) + (scores[3] ?? 0)) / 2;
      const found = async (minScore: number) => keysOf(await store.search(scope, { embedding, minScore }));
      assert.deepEqual(await found(between), ["k1", "k2", "k3"]);
      assert.equal((await found(-100)).length, 6);
      assert.deepEqual(await found(100), []);
      assert.equal((await found(Number.NEGATIVE_INFINITY)).length, 6);
      await context.rejects(store.search(scope, { embedding, minScore: Number.NaN }), "MEMORY_RECORD");
    },
  },
  {
    id: "semantic/min-score-takes-a-hits-own",
    promise: "A hit's own score, given as `minScore`, leaves the hit in, and all that are closer.",
    needs: vectors,
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      await store.indexAll(
        scope,
        upTo(20).map((n) => entry(`k${n}`, context.vector(n))),
      );
      const embedding = context.vector(99);
      const hits = await store.search(scope, { embedding, limit: 20 });
      for (const { score } of hits) {
        const found = await store.search(scope, { embedding, limit: 20, minScore: score });
        assert.deepEqual(
          found.map((hit) => hit.score),
          hits.map((hit) => hit.score).filter((one) => one >= score),
        );
      }
    },
  },
  {
    id: "semantic/as-of",
    promise: "Records whose named window does not contain `asOf`, by default now, are not found.",
    needs: vectors,
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      const now = context.clock.now();
      const windows = {
        always: {},
        past: { validFrom: now - 3 * HOUR, validTo: now - HOUR },
        present: { validFrom: now - HOUR, validTo: now + HOUR },
        future: { validFrom: now + HOUR },
        ending: { validTo: now + HOUR },
      };
      for (const [key, window] of Object.entries(windows)) await store.index(scope, entry(key, at(context, 0), window));
      const found = async (asOf?: number | Date) =>
        keysOf(await store.search(scope, { embedding: at(context, 0), ...(asOf === undefined ? {} : { asOf }) })).join(
          " ",
        );
      assert.equal(await found(), "always ending present");
      assert.equal(await found(now - HOUR - 1), "always ending past");
      assert.equal(await found(now - HOUR), "always ending present", "half-open at both ends");
      assert.equal(await found(new Date(now + HOUR)), "always future");
      context.clock.advance(HOUR);
      assert.equal(await found(), "always future");
    },
  },
  {
    id: "semantic/fills-the-limit-in-a-crowd",
    promise:
      "If the scope holds at least `limit` records, `limit` come back, however many closer ones other scopes hold.",
    needs: vectors,
    async run(context) {
      const store = await context.open();
      const user = context.scope({ userId: "u" });
      const crowd = upTo(150).map((n) => entry(`crowd${n}`, at(context, n / 100)));
      await store.indexAll(context.foreign({ userId: "u" }), crowd);
      await store.indexAll(context.scope({ userId: "other" }), crowd);
      await store.indexAll(
        user,
        upTo(12).map((n) => entry(`own${String(n).padStart(2, "0")}`, at(context, 120 + n))),
      );
      assert.deepEqual(
        keysOf(await store.search(user, { embedding: at(context, 0), limit: 10 })),
        upTo(10).map((n) => `own${String(n).padStart(2, "0")}`),
      );
    },
  },
  {
    id: "semantic/fills-the-limit-under-a-filter",
    promise:
      "If the scope holds at least `limit` matching records, `limit` come back, whatever the index does with filters.",
    needs: filtering,
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      await store.indexAll(
        scope,
        upTo(200).map((n) => entry(`near${n}`, at(context, n / 100), { metadata: { rare: false } })),
      );
      await store.indexAll(
        scope,
        upTo(12).map((n) =>
          entry(`rare${String(n).padStart(2, "0")}`, at(context, 100 + n), { metadata: { rare: true } }),
        ),
      );
      const query = { embedding: at(context, 0), filter: { rare: true } };
      assert.deepEqual(
        keysOf(await store.search(scope, { ...query, limit: 10 })),
        upTo(10).map((n) => `rare${String(n).padStart(2, "0")}`),
      );
      assert.equal((await store.search(scope, { ...query, limit: 1_000 })).length, 12);
    },
  },
  {
    id: "semantic/fills-the-limit-at-an-instant",
    promise:
      "If the scope holds at least `limit` records that are valid at `asOf`, `limit` come back, however many lapsed ones are closer.",
    needs: vectors,
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      const now = context.clock.now();
      await store.indexAll(
        scope,
        upTo(150).map((n) => entry(`lapsed${n}`, at(context, n / 100), { validTo: now })),
      );
      await store.indexAll(
        scope,
        upTo(10).map((n) => entry(`valid${n}`, at(context, 100 + n))),
      );
      assert.equal((await store.search(scope, { embedding: at(context, 0), limit: 10 })).length, 10);
    },
  },
  {
    id: "semantic/filter",
    promise:
      "A filter takes what has every name with an equal value of the same type, or one of a list; `[]` matches nothing.",
    needs: filtering,
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      const metadata = {
        number: { x: 1 },
        text: { x: "1" },
        boolean: { x: true },
        both: { x: 1, "y.z": "'" },
        none: undefined,
      };
      for (const [key, one] of Object.entries(metadata))
        await store.index(scope, entry(key, at(context, 0), { metadata: one }));
      const found = async (filter: NonNullable<MemoryQuery["filter"]>) =>
        keysOf(await store.search(scope, { embedding: at(context, 0), filter })).join(" ");
      assert.equal(await found({ x: 1 }), "both number");
      assert.equal(await found({ x: "1" }), "text");
      assert.equal(await found({ x: [true, "1"] }), "boolean text");
      assert.equal(await found({ x: 1, "y.z": "'" }), "both");
      assert.equal(await found({ x: "true" }), "");
      assert.equal(await found({ x: [] }), "");
      assert.equal(await found({}), "boolean both none number text");
    },
  },
  {
    id: "semantic/fills-the-limit-under-a-user",
    promise:
      'Under `reach: "under"` the limit is filled from all the scopes that are contained, however many closer records others hold.',
    needs: reaching,
    async run(context) {
      const store = await context.open();
      const user = context.scope({ userId: "u" });
      await store.indexAll(
        context.scope({ userId: "other" }),
        upTo(300).map((n) => entry(`crowd${n}`, at(context, n / 100))),
      );
      const sessions = upTo(30).map((n) => context.scope({ userId: "u", sessionId: `s${n}` }));
      for (const [n, session] of sessions.entries()) {
        await store.index(session, entry(`own${n}`, at(context, 90 + n)));
      }
      const query = { embedding: at(context, 0), reach: "under" } as const;
      assert.deepEqual(
        keysOf(await store.search(user, query)),
        upTo(10).map((n) => `own${n - 1}`),
      );
      assert.equal((await store.search(user, { ...query, limit: 1_000 })).length, 30);
    },
  },
  {
    id: "semantic/closest-of-many",
    promise:
      "The closest of a thousand comes first, also where most of them lie in one direction; all of them can be had.",
    needs: vectors,
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      const degrees = (n: number) => 5 + ((n * 617) % 1_000) / 10;
      await store.indexAll(
        scope,
        upTo(1_000).map((n) => entry(`k${n}`, at(context, degrees(n)))),
      );
      for (const n of [1, 500, 999]) {
        const [hit] = await store.search(scope, { embedding: at(context, degrees(n)), limit: 10 });
        // By other metrics than the angle the same one is closest, as all have one length.
        assert.equal(hit?.record.key, `k${n}`);
      }
      const all = keysOf(await store.search(scope, { embedding: at(context, 0), limit: 1_000 }));
      assert.equal(new Set(all).size, 1_000);
    },
  },
  {
    id: "semantic/sees-what-was-written-last",
    promise:
      "A search sees every write that was acknowledged before it: a vector that was replaced is found where it is now.",
    needs: vectors,
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      await store.indexAll(
        scope,
        upTo(100).map((n) => entry(`k${n}`, at(context, 30 + n))),
      );
      const nearest = async (degrees: number) =>
        keysOf(await store.search(scope, { embedding: at(context, degrees), limit: 1 }));
      for (const n of [7, 50, 100]) {
        await store.index(scope, entry(`k${n}`, at(context, n / 10)));
        assert.deepEqual(await nearest(n / 10), [`k${n}`]);
        assert.notDeepEqual(await nearest(30 + n), [`k${n}`], "it is no longer where it was");
      }
    },
  },
  {
    id: "semantic/repeats-the-answer",
    promise: "The same search of the same records gives the same answer each time, however often it is asked.",
    needs: vectors,
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      await store.indexAll(
        scope,
        upTo(150).map((n) => entry(`k${n}`, context.vector(n))),
      );
      const embedding = context.vector(1_000);
      const first = await store.search(scope, { embedding });
      assert.equal(first.length, 10);
      // Servers look at a statement anew some times, and then keep how it is done.
      for (let turn = 0; turn < 12; turn += 1) assert.deepEqual(await store.search(scope, { embedding }), first);
    },
  },
  {
    id: "semantic/search-while-others-write",
    promise: "A search that races writes gives every record that was there, each whole and once.",
    needs: vectors,
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      const keys = upTo(10).map((n) => `k${n}`);
      await store.indexAll(
        scope,
        keys.map((key) => entry(key, at(context, 10))),
      );
      const writes = upTo(10).map((n) => store.index(scope, entry(`k${n}`, at(context, 20), { value: "again" })));
      const searches = upTo(10).map(() => everything(context, store, scope));
      for (const found of await Promise.all(searches)) assert.deepEqual(found.toSorted(), keys.toSorted());
      const settled = await Promise.allSettled(writes);
      assert.ok(settled.every((one) => one.status === "fulfilled" || !isMemoryError(one.reason)));
    },
  },
];

/** The promises about semantic records. */
export const semanticCases: readonly ConformanceCase[] = [...storing, ...checking, ...searching];
