// The promises about lists of the profile: pages of beliefs, and the history of many keys.

import assert from "node:assert/strict";
import {
  type Belief,
  eachVersion,
  HalfLife,
  type JsonValue,
  type MemoryRecord,
  type MemoryScope,
  type MemoryStore,
} from "@memory/core";
import type { ConformanceCase } from "../case.ts";
import { record } from "../kinds.ts";

const DAY = 86_400_000;

const facts = { profile: true } as const;
const reaching = { profile: true, reach: true } as const;

/** Keys in UTF-8 byte order, which is neither the order of UTF-16 code units nor that of any language. */
const ORDERED = ["Z", "a", "a b", "a%", "a_b", "ab", "z", "\u00E9", "\uFF5E", "\u{1F600}"];

const shuffled = <T>(list: readonly T[]): readonly T[] => list.toSorted((a, b) => hash(a) - hash(b));

function hash(value: unknown): number {
  let sum = 7;
  for (const character of String(value)) sum = (sum * 31 + (character.codePointAt(0) ?? 0)) % 8_191;
  return sum;
}

async function allBeliefs(
  store: MemoryStore,
  scope: MemoryScope,
  options: Parameters<MemoryStore["beliefs"]>[1],
  between?: (page: number) => Promise<void>,
): Promise<readonly Belief[]> {
  const found: Belief[] = [];
  let cursor: string | undefined;
  for (let page = 1; page < 1_000; page++) {
    const answer = await store.beliefs(scope, cursor === undefined ? options : { ...options, cursor });
    assert.ok(answer.beliefs.length <= (options?.limit ?? 100), "a page holds no more than its limit");
    found.push(...answer.beliefs);
    if (answer.cursor === null) return found;
    cursor = answer.cursor;
    await between?.(page);
  }
  assert.fail("the pages do not end");
}

const keysOf = (list: readonly { readonly key: string }[]): readonly string[] => list.map((one) => one.key);

/** The promises about lists of beliefs and versions. */
export const beliefsCases: readonly ConformanceCase[] = [
  {
    id: "beliefs/one-per-key-in-byte-order",
    promise: "`beliefs` gives one `Belief` per key, in UTF-8 byte order of the keys, each as `belief` gives it.",
    needs: facts,
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      for (const key of shuffled(ORDERED)) await store.upsert(scope, record(key, key));
      await store.upsert(scope, record("ab", "again"));
      const page = await store.beliefs(scope);
      assert.deepEqual(keysOf(page.beliefs), ORDERED);
      assert.equal(page.cursor, null);
      for (const one of page.beliefs) assert.deepEqual(one, await store.belief(scope, one.key));
    },
  },
  {
    id: "beliefs/pages-give-every-key-once",
    promise: "Pages of beliefs give every key exactly once, and the cursor is `null` at the end.",
    needs: facts,
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      for (const key of shuffled(ORDERED)) await store.upsert(scope, record(key, key));
      for (const limit of [1, 3, 5, 10, 11]) {
        assert.deepEqual(keysOf(await allBeliefs(store, scope, { limit })), ORDERED, `limit ${limit}`);
      }
    },
  },
  {
    id: "beliefs/default-limit",
    promise: "A page of beliefs holds 100 keys where the caller does not say, and a cursor goes on behind them.",
    needs: facts,
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      const keys = Array.from({ length: 103 }, (_, index) => `k${String(index).padStart(3, "0")}`);
      for (let at = 0; at < keys.length; at += 20) {
        await Promise.all(keys.slice(at, at + 20).map((key) => store.upsert(scope, record(key))));
      }
      const first = await store.beliefs(scope);
      assert.deepEqual(keysOf(first.beliefs), keys.slice(0, 100));
      assert.notEqual(first.cursor, null);
      const second = await store.beliefs(scope, { cursor: first.cursor ?? "" });
      assert.deepEqual(keysOf(second.beliefs), keys.slice(100));
      assert.equal(second.cursor, null);
    },
  },
  {
    id: "beliefs/key-prefix-is-compared-exactly",
    promise: "`keyPrefix` is compared exactly: no character of it is a pattern, and case counts.",
    needs: facts,
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      const keys = ["a%b", "a*b", "a?c", "a[b]", "a\\b", "a_b", "aXb", "Axb", "{a}"];
      for (const key of keys) await store.upsert(scope, record(key));
      for (const keyPrefix of ["a%", "a_", "a*", "a?", "a[", "a\\", "A", "{a"]) {
        assert.deepEqual(
          keysOf((await store.beliefs(scope, { keyPrefix })).beliefs),
          keys.filter((key) => key.startsWith(keyPrefix)),
          keyPrefix,
        );
      }
      assert.equal((await store.beliefs(scope, { keyPrefix: "" })).beliefs.length, keys.length);
      const paged = await allBeliefs(store, scope, { keyPrefix: "a", limit: 2 });
      assert.equal(paged.length, keys.filter((key) => key.startsWith("a")).length);
    },
  },
  {
    id: "beliefs/reach-under",
    promise:
      '`reach: "under"` takes every scope that the one given contains, in the order of scope and key; each belief says which.',
    needs: reaching,
    async run(context) {
      const store = await context.open();
      const user = context.scope({ userId: "u" });
      const scopes = [
        user,
        context.scope({ userId: "u", agent: "x" }),
        context.scope({ userId: "u", sessionId: "a" }),
        context.scope({ userId: "u", sessionId: "a", agent: "x" }),
        context.scope({ userId: "u", sessionId: "b" }),
      ];
      for (const scope of shuffled([...scopes.keys()]).flatMap((index) => scopes[index] ?? [])) {
        for (const key of ["k2", "k1"]) await store.upsert(scope, record(key));
      }
      for (const outside of [context.scope(), context.scope({ userId: "u1" }), context.foreign({ userId: "u" })]) {
        await store.upsert(outside, record("k1"));
      }
      const expected = scopes.flatMap((scope) => ["k1", "k2"].map((key) => ({ scope, key })));
      const placed = (list: readonly { readonly scope: MemoryScope; readonly key: string }[]) =>
        list.map(({ scope, key }) => ({ scope, key }));
      assert.deepEqual(placed((await store.beliefs(user, { reach: "under" })).beliefs), expected);
      assert.deepEqual(placed(await allBeliefs(store, user, { reach: "under", limit: 3 })), expected);
      assert.deepEqual(placed(await store.history(user, undefined, { reach: "under" })), expected);
      assert.deepEqual(
        placed(await store.history(user, "k1", { reach: "under" })),
        expected.filter(({ key }) => key === "k1"),
      );
      assert.deepEqual(
        placed((await store.beliefs(context.scope({ sessionId: "a" }), { reach: "under" })).beliefs),
        expected.filter(({ scope }) => scope.sessionId === "a"),
        "also where the scope leaves out a part in the middle",
      );
    },
  },
  {
    id: "beliefs/lists-what-holds-no-record",
    promise: "`beliefs` lists every key that is known, also one of which nothing is live: its record is `null`.",
    needs: facts,
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      const now = context.clock.now();
      await store.upsert(scope, { ...record("future"), validFrom: now + DAY });
      await store.upsert(scope, { ...record("lapsed"), validFrom: now - 2 * DAY, validTo: now - DAY });
      await store.upsert(scope, record("live"));
      const { beliefs } = await store.beliefs(scope);
      assert.deepEqual(
        beliefs.map((one) => [one.key, one.record === null, one.weight]),
        [
          ["future", true, 0],
          ["lapsed", true, 0],
          ["live", false, 1],
        ],
      );
    },
  },
  {
    id: "beliefs/tells-contradictions-and-decay",
    promise:
      "`beliefs` never raises for a contradiction: it tells what disagrees, and what has decayed, beside what is held.",
    needs: { profile: true, supersession: true },
    async run(context) {
      const store = await context.open({ decay: new HalfLife({ halfLifeMs: DAY, floor: 0.1 }) });
      const scope = context.scope();
      const now = context.clock.now();
      const write = (key: string, subject: string, validFrom: number) =>
        store.supersede(scope, { ...record(key, subject), subject, validFrom });
      await write("disputed", "a", now);
      await write("disputed", "b", now);
      await write("faded", "a", now - 30 * DAY);
      await write("mixed", "a", now - 30 * DAY);
      await write("mixed", "b", now - DAY);
      const { beliefs } = await store.beliefs(scope);
      const values = (records: readonly { readonly value: JsonValue }[] | undefined) =>
        records?.map((one) => one.value);
      assert.deepEqual(
        beliefs.map((one) => [
          one.key,
          one.record?.value ?? null,
          one.weight,
          values(one.contradiction?.holds),
          values(one.decayed),
        ]),
        [
          ["disputed", null, 0, ["a", "b"], []],
          ["faded", null, 0, undefined, ["a"]],
          ["mixed", "b", 0.5, undefined, ["a"]],
        ],
      );
    },
  },
  {
    id: "beliefs/settled-lineages-are-over",
    promise: "In a list too, a lineage that a decision has settled is over from the decision's `validFrom` on.",
    needs: { profile: true, supersession: true, asOf: true },
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      const now = context.clock.now();
      for (const key of ["k1", "k2"]) {
        await store.supersede(scope, { ...record(key, "a"), subject: "a", validFrom: now - 3 * DAY });
        const b = await store.supersede(scope, { ...record(key, "b"), subject: "b", validFrom: now - 3 * DAY });
        await store.supersede(
          scope,
          { ...record(key, "c"), subject: "a", validFrom: now - DAY },
          { resolves: [b.record.id] },
        );
      }
      const at = async (asOf: number) =>
        (await store.beliefs(scope, { asOf })).beliefs.map((one) => [
          one.record?.value ?? null,
          one.contradiction?.holds.length ?? 0,
        ]);
      assert.deepEqual(await at(now), [
        ["c", 0],
        ["c", 0],
      ]);
      assert.deepEqual(await at(now - DAY - 1), [
        [null, 2],
        [null, 2],
      ]);
    },
  },
  {
    id: "beliefs/as-of",
    promise: "`beliefs` answers as of an instant, for every key of the page.",
    needs: { profile: true, asOf: true },
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      const now = context.clock.now();
      for (const key of ["k1", "k2", "k3"]) {
        await store.upsert(scope, { ...record(key, "old"), validFrom: now - 10 * DAY });
        await store.upsert(scope, { ...record(key, "new"), validFrom: now - 5 * DAY });
      }
      const at = async (asOf: number) =>
        (await allBeliefs(store, scope, { asOf, limit: 2 })).map((one) => one.record?.value ?? null);
      assert.deepEqual(await at(now - 11 * DAY), [null, null, null]);
      assert.deepEqual(await at(now - 6 * DAY), ["old", "old", "old"]);
      assert.deepEqual(await at(now - 5 * DAY), ["new", "new", "new"]);
    },
  },
  {
    id: "beliefs/known-at",
    promise: "`beliefs` lists every key that has a version known at `knownAt`, and no other.",
    needs: { profile: true, knownAt: true },
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      const t1 = context.clock.now();
      await store.upsert(scope, record("k1", "first"));
      context.clock.advance(DAY);
      await store.upsert(scope, record("k1", "second"));
      await store.upsert(scope, record("k2", "only"));
      const at = async (knownAt: number) =>
        (await store.beliefs(scope, { knownAt })).beliefs.map((one) => [one.key, one.record?.value]);
      assert.deepEqual(await at(t1 - 1), []);
      assert.deepEqual(await at(t1), [["k1", "first"]]);
      assert.deepEqual(await at(t1 + DAY), [
        ["k1", "second"],
        ["k2", "only"],
      ]);
    },
  },
  {
    id: "beliefs/history-is-by-key-and-version",
    promise: "`history` gives every version, by key in UTF-8 byte order and by version; `eachVersion` walks the same.",
    needs: facts,
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      const now = context.clock.now();
      for (const round of [3, 1, 2]) {
        for (const key of shuffled(ORDERED)) {
          await store.upsert(scope, { ...record(key, round), validFrom: now - round * DAY });
        }
      }
      const history = await store.history(scope);
      assert.deepEqual(
        history.map((one) => [one.key, one.version, one.value]),
        ORDERED.flatMap((key) => [
          [key, 1, 3],
          [key, 2, 1],
          [key, 3, 2],
        ]),
      );
      const walked: MemoryRecord[] = [];
      for await (const version of eachVersion(store, scope)) walked.push(version);
      assert.deepEqual(walked, history);
    },
  },
  {
    id: "beliefs/long-histories-are-whole",
    promise: "The history of one key is whole, however many versions it has.",
    needs: facts,
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      for (let n = 1; n <= 120; n++) await store.upsert(scope, record("k", n));
      const history = await store.history(scope, "k");
      assert.deepEqual(
        history.map((one) => [one.version, one.value]),
        Array.from({ length: 120 }, (_, index) => [index + 1, index + 1]),
      );
      assert.equal((await store.profile(scope, "k"))?.version, 120);
    },
  },
];
