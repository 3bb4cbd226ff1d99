// The promises about things that happened: logging once, all or nothing, and reading newest first, a page at a time.

import assert from "node:assert/strict";
import {
  eachEpisode,
  isMemoryError,
  type MemoryHit,
  type MemoryQuery,
  type MemoryRecordInput,
  type MemoryScope,
  type MemoryStore,
  type Scalar,
} from "@memory/core";
import type { ConformanceCase } from "../case.ts";
import { record, refused } from "../kinds.ts";
import { untyped } from "../untyped.ts";

const HOUR = 3_600_000;

const events = { episodic: true } as const;
const reaching = { episodic: true, reach: true } as const;
const filtering = { episodic: true, filter: true } as const;

const keysOf = (hits: readonly MemoryHit[]): readonly string[] => hits.map((hit) => hit.record.key);
const idsOf = (hits: readonly MemoryHit[]): readonly string[] => hits.map((hit) => hit.record.id);
const upTo = (n: number): readonly number[] => Array.from({ length: n }, (_, index) => index + 1);
const padded = (n: number): string => String(n).padStart(4, "0");

async function walk(
  store: MemoryStore,
  scope: MemoryScope,
  query: MemoryQuery,
  between?: (page: number) => Promise<void>,
): Promise<readonly MemoryHit[]> {
  const hits: MemoryHit[] = [];
  let cursor: string | null = null;
  for (let page = 1; page < 1_000; page++) {
    const answer = await store.page(scope, query, { cursor });
    assert.ok(answer.hits.length <= (query.limit ?? 10), "a page holds no more than its limit");
    hits.push(...answer.hits);
    if (answer.cursor === null) return hits;
    cursor = answer.cursor;
    await between?.(page);
  }
  assert.fail("the pages do not end");
}

const logging: readonly ConformanceCase[] = [
  {
    id: "episodic/log-and-read-back",
    promise: "A logged episode comes back as it went in, with `validFrom` now where the call left it out, at score 1.",
    needs: events,
    async run(context) {
      const store = await context.open();
      const scope = context.scope({ userId: "u", sessionId: "s" });
      const now = context.clock.now();
      const plain = await store.log(scope, record("turn", "hello"));
      assert.deepEqual(plain, {
        id: plain.id,
        kind: "episodic",
        scope,
        key: "turn",
        value: "hello",
        source: "case",
        confidence: 1,
        validFrom: now,
        recordedAt: now,
      });
      const given = {
        id: context.unique("id"),
        confidence: 0.5,
        validFrom: now - HOUR,
        validTo: now + HOUR,
        subject: "Ana",
        predicate: ["asked", "booked"],
        metadata: { tool: "search", turn: 3, ok: true },
      };
      const full = await store.log(scope, { ...record("turn", [1, { a: null }]), ...given });
      assert.deepEqual(full, {
        ...given,
        kind: "episodic",
        scope,
        key: "turn",
        value: [1, { a: null }],
        source: "case",
        recordedAt: now,
      });
      assert.deepEqual(await store.episodes(scope), [
        { record: plain, score: 1 },
        { record: full, score: 1 },
      ]);
    },
    async refusal(context) {
      const store = await context.open();
      const scope = context.scope();
      await refused(context, store, store.log(scope, record("k")));
      await refused(context, store, store.logAll(scope, [record("k")]));
      await refused(context, store, store.logAll(scope, []));
      await refused(context, store, store.episodes(scope));
      await refused(context, store, store.page(scope));
    },
  },
  {
    id: "episodic/log-is-idempotent",
    promise:
      "The same episode logged again is a no-op, also later, with `validFrom` left out, or with its members in another order.",
    needs: events,
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      const episode = { ...record("k", { a: 1, b: [2] }), id: "e", metadata: { x: 1, y: "z" }, predicate: ["p", "q"] };
      await store.log(scope, episode);
      const first = await store.episodes(scope);
      context.clock.advance(HOUR);
      await store.log(scope, episode);
      await store.log(scope, { ...episode, value: { b: [2], a: 1 }, metadata: { y: "z", x: 1 } });
      await store.log(scope, { ...episode, validFrom: first[0]?.record.validFrom });
      assert.deepEqual(await store.episodes(scope), first);
      assert.equal(first.length, 1);
    },
  },
  {
    id: "episodic/same-id-other-content-conflicts",
    promise: "The same id with other content is a `MemoryConflictError`, and what was logged first stays as it is.",
    needs: events,
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      const now = context.clock.now();
      const episode: MemoryRecordInput = {
        ...record("k", { a: 1 }),
        id: "e",
        validFrom: now - HOUR,
        validTo: now + HOUR,
        subject: "s",
        predicate: ["p", "q"],
        metadata: { x: 1 },
      };
      await store.log(scope, episode);
      const first = await store.episodes(scope);
      const changes: readonly Partial<MemoryRecordInput>[] = [
        { value: { a: 2 } },
        { value: { a: "1" } },
        { value: { a: 1, b: null } },
        { key: "other" },
        { source: "other" },
        { confidence: 0.5 },
        { validFrom: now - HOUR + 1 },
        { validTo: undefined },
        { subject: "t" },
        { predicate: ["p"] },
        { metadata: { x: "1" } },
        { metadata: undefined },
      ];
      for (const change of changes) {
        const error = await context.rejects(store.log(scope, { ...episode, ...change }), "MEMORY_CONFLICT", {
          id: "e",
        });
        assert.equal(error.key, change.key ?? "k");
      }
      assert.deepEqual(await store.episodes(scope), first);
    },
  },
  {
    id: "episodic/concurrent-logs-of-one-episode",
    promise: "One episode logged several times at once is there once; of several contents under one id exactly one is.",
    needs: events,
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      await Promise.all(upTo(6).map(() => store.log(scope, { ...record("same"), id: "same" })));
      const settled = await Promise.allSettled(
        upTo(6).map((n) => store.log(scope, { ...record("other", n), id: "other" })),
      );
      const lost = settled.filter((one) => one.status === "rejected");
      assert.equal(lost.length, 5);
      for (const { reason } of lost) assert.ok(isMemoryError(reason, "MEMORY_CONFLICT"), String(reason));
      assert.deepEqual(keysOf(await store.episodes(scope)).toSorted(), ["other", "same"]);
    },
  },
  {
    id: "episodic/log-all",
    promise:
      "`logAll` logs every record, gives them back in the order given, and passes over those that are there already.",
    needs: events,
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      const now = context.clock.now();
      const episodes = upTo(7).map((n) => ({ ...record(`k${n}`, n), id: `e${n}`, validFrom: now - n }));
      await store.log(scope, { ...record("k3", 3), id: "e3", validFrom: now - 3 });
      const stored = await store.logAll(scope, episodes);
      assert.deepEqual(
        stored.map((one) => one.id),
        episodes.map((one) => one.id),
      );
      await store.logAll(scope, [...episodes, ...episodes]);
      assert.deepEqual(
        idsOf(await store.episodes(scope, { limit: 100 })),
        episodes.map((one) => one.id),
      );
      assert.deepEqual(await store.logAll(scope, []), []);
    },
  },
  {
    id: "episodic/log-all-is-atomic",
    promise: "`logAll` is all or nothing: one bad or conflicting record among many, and none of them is stored.",
    needs: events,
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      await store.log(scope, { ...record("k", "first"), id: "taken" });
      const good = upTo(20).map((n) => ({ ...record("k", n), id: `e${n}` }));
      const bad = { ...record("k", untyped(Number.NaN)), id: "bad" };
      await context.rejects(store.logAll(scope, [...good, bad]), "MEMORY_RECORD");
      await context.rejects(
        store.logAll(scope, [...good, { ...record("k", "second"), id: "taken" }]),
        "MEMORY_CONFLICT",
        {
          id: "taken",
        },
      );
      await context.rejects(store.logAll(scope, [...good, { ...record("k", "again"), id: "e7" }]), "MEMORY_CONFLICT", {
        id: "e7",
      });
      await context.rejects(
        store.logAll(scope, [...good, { ...record("k", 0), scope: context.foreign() }]),
        "MEMORY_SCOPE",
      );
      await context.rejects(store.logAll(scope, untyped({})), "MEMORY_RECORD");
      assert.deepEqual(idsOf(await store.episodes(scope, { limit: 100 })), ["taken"]);
    },
  },
  {
    id: "episodic/log-all-in-bulk",
    promise: "`logAll` takes thousands of records in one call, and pages give every one of them back.",
    needs: events,
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      const now = context.clock.now();
      const episodes = upTo(2_500).map((n) => ({ ...record("k", n), id: padded(n), validFrom: now - (n % 50) }));
      await store.logAll(scope, episodes);
      const hits = await walk(store, scope, { limit: 1_000 });
      assert.deepEqual(idsOf(hits).toSorted(), upTo(2_500).map(padded));
      await context.rejects(store.logAll(scope, [...episodes, { ...record("k", -1), id: "0001" }]), "MEMORY_CONFLICT");
    },
  },
  {
    id: "episodic/concurrent-batches-are-whole",
    promise: "Of concurrent batches that contend for one id each is there wholly or not at all.",
    needs: events,
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      const batch = (name: string) => {
        const episodes = upTo(10).map((n) => ({ ...record(name, n), id: `${name}-${n}` }));
        episodes.splice(name.length % 10, 0, { ...record(name, name), id: "contended" });
        return episodes;
      };
      const names = ["a", "bb", "ccc", "dddd"];
      const settled = await Promise.allSettled(names.map((name) => store.logAll(scope, batch(name))));
      const won = names.filter((_, index) => settled[index]?.status === "fulfilled");
      assert.equal(won.length, 1);
      const keys = keysOf(await store.episodes(scope, { limit: 100 }));
      assert.equal(keys.length, 11);
      assert.ok(keys.every((key) => key === won[0]));
    },
  },
];

const reading: readonly ConformanceCase[] = [
  {
    id: "episodic/newest-first",
    promise: "Episodes come newest first by (`validFrom`, `id`), both descending, ids in UTF-8 byte order.",
    needs: events,
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      const now = context.clock.now();
      const ids = ["\u{1F600}", "\uFF5E", "\u00E9", "b", "a", "Z"];
      for (const id of ["b", "\uFF5E", "Z", "\u{1F600}", "a", "\u00E9"]) {
        await store.log(scope, { ...record("same"), id, validFrom: now - HOUR });
      }
      await store.log(scope, { ...record("new"), id: "0", validFrom: now });
      await store.log(scope, { ...record("old"), id: "~", validFrom: now - 2 * HOUR });
      assert.deepEqual(idsOf(await store.episodes(scope)), ["0", ...ids, "~"]);
      assert.deepEqual(idsOf(await walk(store, scope, { limit: 3 })), ["0", ...ids, "~"]);
    },
  },
  {
    id: "episodic/limit",
    promise:
      "A list holds 10 episodes where the caller does not say, the newest; a limit outside 1 to 1,000 is refused.",
    needs: events,
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      const now = context.clock.now();
      await store.logAll(
        scope,
        upTo(12).map((n) => ({ ...record("k", n), id: padded(n), validFrom: now - n })),
      );
      assert.deepEqual(idsOf(await store.episodes(scope)), upTo(10).map(padded));
      assert.equal((await store.page(scope)).hits.length, 10);
      assert.deepEqual(idsOf(await store.episodes(scope, { limit: 3 })), upTo(3).map(padded));
      assert.equal((await store.episodes(scope, { limit: 1_000 })).length, 12);
      for (const limit of [0, -1, 2.5, 1_001, Number.NaN]) {
        await context.rejects(store.episodes(scope, { limit }), "MEMORY_RECORD", { path: "query.limit" });
      }
    },
  },
  {
    id: "episodic/since-and-until-are-inclusive",
    promise: "`since` and `until` are inclusive bounds on `validFrom`, also given as a `Date`.",
    needs: events,
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      const now = context.clock.now();
      await store.logAll(
        scope,
        upTo(5).map((n) => ({ ...record("k", n), id: `e${n}`, validFrom: now - n })),
      );
      const found = async (query: MemoryQuery) => idsOf(await store.episodes(scope, query)).join(" ");
      assert.equal(await found({ since: now - 3 }), "e1 e2 e3");
      assert.equal(await found({ until: now - 3 }), "e3 e4 e5");
      assert.equal(await found({ since: now - 4, until: now - 2 }), "e2 e3 e4");
      assert.equal(await found({ since: new Date(now - 2), until: new Date(now - 2) }), "e2");
      assert.equal(await found({ since: now - 2, until: now - 4 }), "");
      assert.equal(await found({ since: now }), "");
      assert.deepEqual(idsOf(await walk(store, scope, { since: now - 4, until: now - 2, limit: 1 })), [
        "e2",
        "e3",
        "e4",
      ]);
    },
  },
  {
    id: "episodic/by-key",
    promise: "`key` takes the episodes of exactly that key.",
    needs: events,
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      for (const key of ["a", "ab", "A", "a%"]) await store.log(scope, record(key));
      assert.deepEqual(keysOf(await store.episodes(scope, { key: "a" })), ["a"]);
      assert.deepEqual(keysOf(await store.episodes(scope, { key: "a%" })), ["a%"]);
      assert.deepEqual(keysOf(await store.episodes(scope, { key: "b" })), []);
    },
  },
  {
    id: "episodic/validity-only-with-as-of",
    promise:
      "Without `asOf` nothing is filtered by validity; with it only episodes whose window contains the instant come.",
    needs: events,
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      const now = context.clock.now();
      await store.log(scope, { ...record("past"), validFrom: now - 3 * HOUR, validTo: now - HOUR });
      await store.log(scope, { ...record("open"), validFrom: now - 2 * HOUR });
      await store.log(scope, { ...record("future"), validFrom: now + HOUR });
      const found = async (query: MemoryQuery) => keysOf(await store.episodes(scope, query)).join(" ");
      assert.equal(await found({}), "future open past");
      assert.equal(await found({ asOf: now }), "open");
      assert.equal(await found({ asOf: now + HOUR }), "future open");
      assert.equal(await found({ asOf: now - HOUR }), "open", "a window ends just before its `validTo`");
      assert.equal(await found({ asOf: now - HOUR - 1 }), "open past");
      assert.equal(await found({ asOf: now - 3 * HOUR }), "past");
      assert.equal(await found({ asOf: now - 3 * HOUR - 1 }), "");
    },
  },
  {
    id: "episodic/reach-under",
    promise:
      '`reach: "under"` takes a user\'s episodes over all sessions, newest first and then by scope; each hit says which.',
    needs: reaching,
    async run(context) {
      const store = await context.open();
      const now = context.clock.now();
      const user = context.scope({ userId: "u" });
      const scopes = [
        user,
        context.scope({ userId: "u", agent: "x" }),
        context.scope({ userId: "u", sessionId: "a" }),
        context.scope({ userId: "u", sessionId: "b" }),
        context.scope({ userId: "u", sessionId: "b", agent: "x" }),
      ];
      for (const scope of scopes.toReversed()) {
        await store.log(scope, { ...record("k"), id: "same", validFrom: now });
        await store.log(scope, { ...record("k"), id: "old", validFrom: now - HOUR });
      }
      await store.log(scopes[3] ?? user, { ...record("k"), id: "newest", validFrom: now + 1 });
      for (const outside of [context.scope(), context.scope({ userId: "u1" }), context.foreign({ userId: "u" })]) {
        await store.log(outside, { ...record("outside"), id: "same", validFrom: now });
      }
      const expected = [
        { id: "newest", scope: scopes[3] },
        ...scopes.map((scope) => ({ id: "same", scope })),
        ...scopes.map((scope) => ({ id: "old", scope })),
      ];
      const placed = (hits: readonly MemoryHit[]) => hits.map(({ record: { id, scope } }) => ({ id, scope }));
      assert.deepEqual(placed(await store.episodes(user, { reach: "under", limit: 100 })), expected);
      for (const limit of [1, 2, 4])
        assert.deepEqual(placed(await walk(store, user, { reach: "under", limit })), expected);
      assert.deepEqual(
        placed(await store.episodes(context.scope({ sessionId: "b" }), { reach: "under", limit: 100 })),
        expected.filter(({ scope }) => scope?.sessionId === "b"),
        "also where the scope leaves out a part in the middle",
      );
    },
  },
];

const filters: readonly ConformanceCase[] = [
  {
    id: "episodic/filter-is-and-of-equal",
    promise:
      'A filter takes what has every name with an equal value, of the same type: `"1"` is not `1`, `"true"` is not `true`.',
    needs: filtering,
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      const metadata: Readonly<Record<string, Readonly<Record<string, Scalar>> | undefined>> = {
        number: { x: 1 },
        text: { x: "1" },
        boolean: { x: true },
        word: { x: "true" },
        zero: { x: 0 },
        no: { x: false },
        empty: { x: "" },
        fraction: { x: 0.1 },
        both: { x: 1, y: "z" },
        none: undefined,
      };
      for (const [key, one] of Object.entries(metadata)) await store.log(scope, { ...record(key), metadata: one });
      const found = async (filter: NonNullable<MemoryQuery["filter"]>) =>
        keysOf(await store.episodes(scope, { filter, limit: 100 }))
          .toSorted()
          .join(" ");
      assert.equal(await found({ x: 1 }), "both number");
      assert.equal(await found({ x: "1" }), "text");
      assert.equal(await found({ x: true }), "boolean");
      assert.equal(await found({ x: "true" }), "word");
      assert.equal(await found({ x: 0 }), "zero");
      assert.equal(await found({ x: -0 }), "zero");
      assert.equal(await found({ x: false }), "no");
      assert.equal(await found({ x: "" }), "empty");
      assert.equal(await found({ x: 0.1 }), "fraction");
      assert.equal(await found({ x: 1, y: "z" }), "both");
      assert.equal(await found({ x: 1, y: "other" }), "");
      assert.equal(await found({ unheard: 1 }), "");
      assert.equal(await found({}), Object.keys(metadata).toSorted().join(" "));
    },
  },
  {
    id: "episodic/filter-one-of",
    promise: "A list in a filter takes one of its values; an empty one matches nothing.",
    needs: filtering,
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      for (const x of ["a", "b", "c", 1, true] as const) {
        await store.log(scope, { ...record(String(x)), metadata: { x, odd: x === "a" } });
      }
      await store.log(scope, record("none"));
      const found = async (filter: NonNullable<MemoryQuery["filter"]>) =>
        keysOf(await store.episodes(scope, { filter }))
          .toSorted()
          .join(" ");
      assert.equal(await found({ x: ["a", "c"] }), "a c");
      assert.equal(await found({ x: ["b", 1, "1"] }), "1 b");
      assert.equal(await found({ x: [true, "true"] }), "true");
      assert.equal(await found({ x: ["a", "b"], odd: [false, true] }), "a b");
      assert.equal(await found({ x: ["a", "b"], odd: true }), "a");
      assert.equal(await found({ x: [] }), "");
      assert.equal(await found({ x: "a", y: [] }), "");
      assert.deepEqual(await store.page(scope, { filter: { x: [] } }), { hits: [], cursor: null });
    },
  },
  {
    id: "episodic/filter-takes-any-name",
    promise: "Any metadata name and value can be filtered by: no character of them has a meaning.",
    needs: filtering,
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      const names = ["a.b", "a", "$.a", "'", '"', "\\", "%", "a b", "\u{1F600}", "constructor", "__proto__", "0"];
      for (const name of names) {
        await store.log(scope, { ...record(name), metadata: Object.fromEntries([[name, `${name}'"%\\`]]) });
      }
      for (const name of names) {
        const filter = Object.fromEntries([[name, `${name}'"%\\`]]);
        assert.deepEqual(keysOf(await store.episodes(scope, { filter })), [name], name);
        assert.deepEqual(await store.episodes(scope, { filter: Object.fromEntries([[name, "%"]]) }), [], name);
      }
    },
  },
  {
    id: "episodic/filter-refuses-what-is-no-scalar",
    promise: "A filter that holds anything but scalars and lists of scalars is refused.",
    needs: filtering,
    async run(context) {
      const store = await context.open();
      for (const filter of [{ x: null }, { x: { a: 1 } }, { x: [[1]] }, { x: Number.NaN }, [1], "x"]) {
        const query: MemoryQuery = { filter: untyped(filter) };
        await context.rejects(store.episodes(context.scope(), query), "MEMORY_RECORD");
      }
    },
  },
  {
    id: "episodic/filter-in-pages",
    promise: "Pages under a filter are as full as the matches allow, and give every match exactly once.",
    needs: filtering,
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      const now = context.clock.now();
      await store.logAll(
        scope,
        upTo(60).map((n) => ({
          ...record("k", n),
          id: padded(n),
          validFrom: now - (n % 4),
          metadata: { third: n % 3 === 0 },
        })),
      );
      const query = { filter: { third: true }, limit: 7 };
      assert.equal((await store.page(scope, query)).hits.length, 7);
      const hits = await walk(store, scope, query);
      assert.deepEqual(
        idsOf(hits).toSorted(),
        upTo(60)
          .filter((n) => n % 3 === 0)
          .map(padded),
      );
    },
  },
];

const paging: readonly ConformanceCase[] = [
  {
    id: "episodic/pages-give-every-record-once",
    promise:
      "Pages give every episode exactly once also among equal instants, in the order of `episodes`, to a `null` cursor.",
    needs: events,
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      const now = context.clock.now();
      await store.logAll(
        scope,
        upTo(24).map((n) => ({ ...record("k", n), id: padded((n * 7) % 24), validFrom: now - (n > 18 ? 1 : 0) })),
      );
      const all = await store.episodes(scope, { limit: 100 });
      assert.equal(all.length, 24);
      for (const limit of [1, 4, 5, 8, 24, 25]) {
        assert.deepEqual(await walk(store, scope, { limit }), all, `limit ${limit}`);
      }
      assert.deepEqual(await store.page(context.scope({ userId: "nobody" })), { hits: [], cursor: null });
    },
  },
  {
    id: "episodic/pages-hold-while-others-write",
    promise:
      "Every episode that was there when paging began is given exactly once, also while others write, at the same instants too.",
    needs: events,
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      const now = context.clock.now();
      const before = upTo(20).map((n) => ({ ...record("before", n), id: `m${padded(n)}`, validFrom: now - (n % 2) }));
      await store.logAll(scope, before);
      const hits = await walk(store, scope, { limit: 3 }, async (page) => {
        await store.logAll(scope, [
          { ...record("newer"), id: `a${page}`, validFrom: now + page },
          { ...record("same"), id: `m${padded(page)}x`, validFrom: now },
          { ...record("same"), id: `z${page}`, validFrom: now - 1 },
          { ...record("older"), id: `o${page}`, validFrom: now - HOUR - page },
        ]);
      });
      const ids = idsOf(hits);
      assert.equal(new Set(ids).size, ids.length, "none twice");
      assert.deepEqual(
        hits.flatMap((hit) => (hit.record.key === "before" ? [hit.record.id] : [])).toSorted(),
        before.map((one) => one.id).toSorted(),
      );
    },
  },
  {
    id: "episodic/each-episode-walks-all-pages",
    promise: "`eachEpisode` gives everything that the query matches, in the order of `episodes`.",
    needs: events,
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      const now = context.clock.now();
      await store.logAll(
        scope,
        upTo(25).map((n) => ({ ...record(n % 2 === 0 ? "even" : "odd", n), id: padded(n), validFrom: now - (n % 3) })),
      );
      const found: MemoryHit[] = [];
      for await (const hit of eachEpisode(store, scope, { key: "even", limit: 5 })) found.push(hit);
      assert.deepEqual(found, await store.episodes(scope, { key: "even", limit: 100 }));
      assert.equal(found.length, 12);
    },
  },
];

/** The promises about episodes. */
export const episodicCases: readonly ConformanceCase[] = [...logging, ...reading, ...filters, ...paging];
