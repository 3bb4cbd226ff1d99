// The current task's scratch space: replacing writes, sequences that lose nothing, expiry that never shows a stale key.

import assert from "node:assert/strict";
import { isMemoryError } from "@memory/core";
import type { ConformanceCase } from "../case.ts";
import type { CaseContext } from "../context.ts";
import { record, refused } from "../kinds.ts";
import { untyped } from "../untyped.ts";

const working = { working: true } as const;

function workingCase(
  slug: string,
  promise: string,
  run: (context: CaseContext) => Promise<void>,
  more: Pick<ConformanceCase, "hooks"> = {},
): ConformanceCase {
  return { id: `working/${slug}`, promise, needs: working, run, ...more };
}

const elapse = { hooks: ["elapse"] } as const;
const MINUTE = 60_000;

/** Cases about working memory. */
export const workingCases: readonly ConformanceCase[] = [
  workingCase("write-replaces", "`write` replaces the record at its key, whole.", async (context) => {
    const store = await context.open();
    await store.write(context.scope(), { ...record("k", 1), subject: "s", metadata: { a: 1 }, id: "first" });
    const second = await store.write(context.scope(), { ...record("k", { b: 2 }), id: "second" });
    assert.deepEqual(await store.read(context.scope(), "k"), second);
    assert.equal(second.subject, undefined);
    assert.equal((await store.keys(context.scope())).keys.length, 1);
  }),
  workingCase("absent-reads-null", "`read` of a key that is not there is `null`.", async (context) => {
    const store = await context.open();
    assert.equal(await store.read(context.scope(), "k"), null);
    assert.equal(await store.read(context.scope(), "k", { last: 3 }), null);
  }),
  workingCase(
    "append-position-counts-from-one",
    "`append` returns the element's position, counting from 1, and `read` gives the elements in that order.",
    async (context) => {
      const store = await context.open();
      for (const [index, value] of ["a", { b: 1 }, [3]].entries()) {
        assert.equal(await store.append(context.scope(), "k", value), index + 1);
      }
      assert.deepEqual((await store.read(context.scope(), "k"))?.value, ["a", { b: 1 }, [3]]);
    },
  ),
  workingCase(
    "appends-lose-and-double-nothing",
    "Concurrent appends are ordered: each position is given once, the sequence holds each element at its position, and none is lost or doubled.",
    async (context) => {
      const stores = [await context.open(), await context.open()];
      const positions = await Promise.all(
        Array.from({ length: 100 }, (_, index) =>
          (stores[index % 2] ?? stores[0])?.append(context.scope(), "k", index),
        ),
      );
      assert.deepEqual(
        [...positions].sort((a, b) => Number(a) - Number(b)),
        Array.from({ length: 100 }, (_, index) => index + 1),
      );
      const found = await stores[0]?.read(context.scope(), "k");
      const expected: number[] = [];
      for (const [index, position] of positions.entries()) expected[Number(position) - 1] = index;
      assert.deepEqual(found?.value, expected);
    },
  ),
  workingCase(
    "sequence-keeps-its-head",
    "A sequence keeps its first id, source and metadata, and is one record.",
    async (context) => {
      const store = await context.open();
      const written = await store.write(context.scope(), {
        ...record("written", ["a"]),
        id: "head",
        metadata: { topic: "trip" },
        source: "first",
      });
      await store.append(context.scope(), "written", "b", { source: "second" });
      const found = await store.read(context.scope(), "written");
      assert.deepEqual(found, { ...written, value: ["a", "b"] });
      await store.append(context.scope(), "begun", 1, { source: "first" });
      const begun = await store.read(context.scope(), "begun");
      await store.append(context.scope(), "begun", 2, { source: "second" });
      assert.deepEqual(await store.read(context.scope(), "begun"), { ...begun, value: [1, 2] });
      assert.equal(begun?.source, "first");
      assert.equal((await store.keys(context.scope())).keys.length, 2);
    },
  ),
  workingCase(
    "append-source-defaults",
    "A sequence begun without a `source` has the source `append`.",
    async (context) => {
      const store = await context.open();
      await store.append(context.scope(), "k", 1);
      assert.equal((await store.read(context.scope(), "k"))?.source, "append");
    },
  ),
  workingCase("append-continues-an-array", "Appending to a written array continues it.", async (context) => {
    const store = await context.open();
    await store.write(context.scope(), record("k", [1, [2]]));
    assert.equal(await store.append(context.scope(), "k", 3), 3);
    assert.deepEqual((await store.read(context.scope(), "k"))?.value, [1, [2], 3]);
    await store.write(context.scope(), record("empty", []));
    assert.deepEqual((await store.read(context.scope(), "empty"))?.value, []);
    assert.equal(await store.append(context.scope(), "empty", 1), 1);
  }),
  workingCase(
    "append-takes-a-value-as-first",
    "Appending to any other written value makes that value the first element.",
    async (context) => {
      const store = await context.open();
      for (const [index, value] of [null, 0, "", {}, { a: [1] }, false].entries()) {
        await store.write(context.scope(), record(`k${index}`, value));
        assert.equal(await store.append(context.scope(), `k${index}`, "next"), 2);
        assert.deepEqual((await store.read(context.scope(), `k${index}`))?.value, [value, "next"]);
      }
    },
  ),
  workingCase(
    "write-replaces-a-sequence",
    "A write replaces a sequence; the next append continues what was written.",
    async (context) => {
      const store = await context.open();
      await store.append(context.scope(), "k", 1);
      await store.append(context.scope(), "k", 2);
      await store.write(context.scope(), record("k", "new"));
      assert.equal((await store.read(context.scope(), "k"))?.value, "new");
      assert.equal(await store.append(context.scope(), "k", 3), 2);
      assert.deepEqual((await store.read(context.scope(), "k"))?.value, ["new", 3]);
    },
  ),
  workingCase(
    "last-gives-the-newest",
    "`read` with `last: n` gives only the newest n elements of a sequence, all of them where there are fewer.",
    async (context) => {
      const store = await context.open();
      for (let turn = 1; turn <= 5; turn++) await store.append(context.scope(), "k", turn);
      const last = async (n: number) => (await store.read(context.scope(), "k", { last: n }))?.value;
      assert.deepEqual(await last(1), [5]);
      assert.deepEqual(await last(2), [4, 5]);
      assert.deepEqual(await last(5), [1, 2, 3, 4, 5]);
      assert.deepEqual(await last(50), [1, 2, 3, 4, 5]);
      await store.write(context.scope(), record("written", [1, 2, 3]));
      await store.append(context.scope(), "written", 4);
      assert.deepEqual((await store.read(context.scope(), "written", { last: 2 }))?.value, [3, 4]);
    },
  ),
  workingCase("last-leaves-values-whole", "`last` does not cut a value that is no sequence.", async (context) => {
    const store = await context.open();
    await store.write(context.scope(), record("k", { a: [1, 2, 3] }));
    assert.deepEqual((await store.read(context.scope(), "k", { last: 1 }))?.value, { a: [1, 2, 3] });
  }),
  workingCase(
    "after-insists-on-the-length",
    "`append` with `after: n` adds only to a sequence of exactly n elements; else it is a `MemoryConflictError` with the actual length, and nothing is added.",
    async (context) => {
      const store = await context.open();
      const scope = context.scope();
      await context.rejects(store.append(scope, "k", 1, { after: 1 }), "MEMORY_CONFLICT", {
        key: "k",
        expectedVersion: 1,
        actualVersion: 0,
      });
      assert.equal(await store.read(scope, "k"), null);
      assert.equal(await store.append(scope, "k", 1, { after: 0 }), 1);
      assert.equal(await store.append(scope, "k", 2, { after: 1 }), 2);
      for (const after of [0, 1, 3]) {
        await context.rejects(store.append(scope, "k", 3, { after }), "MEMORY_CONFLICT", {
          expectedVersion: after,
          actualVersion: 2,
        });
      }
      assert.deepEqual((await store.read(scope, "k"))?.value, [1, 2]);
    },
  ),
  workingCase(
    "after-has-one-winner",
    "Of concurrent appends with the same `after` exactly one wins.",
    async (context) => {
      const store = await context.open();
      await store.append(context.scope(), "k", "first");
      const settled = await Promise.allSettled(
        Array.from({ length: 20 }, (_, index) => store.append(context.scope(), "k", index, { after: 1 })),
      );
      assert.equal(settled.filter(({ status }) => status === "fulfilled").length, 1);
      for (const one of settled) {
        if (one.status === "rejected") assert.ok(isMemoryError(one.reason, "MEMORY_CONFLICT"), String(one.reason));
      }
      const found = await store.read(context.scope(), "k");
      assert.ok(Array.isArray(found?.value) && found.value.length === 2);
    },
  ),
  workingCase(
    "elements-are-measured",
    "`maxValueBytes` holds for each appended element, not for the sequence; a larger one is a `MemoryLimitError`, and nothing is added.",
    async (context) => {
      const store = await context.open({ maxValueBytes: 20 });
      for (let turn = 1; turn <= 5; turn++)
        assert.equal(await store.append(context.scope(), "k", "x".repeat(18)), turn);
      await context.rejects(store.append(context.scope(), "k", "x".repeat(19)), "MEMORY_LIMIT", {
        what: "value",
        limit: 20,
        size: 21,
      });
      const found = await store.read(context.scope(), "k");
      assert.ok(Array.isArray(found?.value) && found.value.length === 5);
    },
  ),
  workingCase(
    "sequences-are-bounded",
    "Beyond `maxElements` an append is a `MemoryLimitError`, and nothing is added; a longer written array is refused too.",
    async (context) => {
      const store = await context.open({ maxElements: 3 });
      const scope = context.scope();
      for (let turn = 1; turn <= 3; turn++) await store.append(scope, "k", turn);
      await context.rejects(store.append(scope, "k", 4), "MEMORY_LIMIT", { what: "elements", limit: 3 });
      assert.deepEqual((await store.read(scope, "k"))?.value, [1, 2, 3]);
      await context.rejects(store.write(scope, record("w", [1, 2, 3, 4])), "MEMORY_LIMIT", {
        what: "elements",
        limit: 3,
        size: 4,
      });
      assert.equal(await store.read(scope, "w"), null);
    },
  ),
  workingCase(
    "expire-now",
    "`expire` with `ttlMs: 0` is now: the key reads as absent, is not listed, and an append begins anew.",
    async (context) => {
      const store = await context.open();
      const scope = context.scope();
      await store.append(scope, "k", "old");
      await store.write(scope, record("w", "old"));
      assert.equal(await store.expire(scope, "k", { ttlMs: 0 }), true);
      assert.equal(await store.expire(scope, "w", { ttlMs: 0 }), true);
      assert.equal(await store.read(scope, "k"), null);
      assert.equal(await store.read(scope, "w"), null);
      assert.deepEqual((await store.keys(scope)).keys, []);
      assert.equal(await store.append(scope, "k", "new", { after: 0 }), 1);
      assert.equal(await store.append(scope, "w", "new"), 1);
      assert.deepEqual((await store.read(scope, "k"))?.value, ["new"]);
    },
  ),
  workingCase(
    "expire-of-absent-is-false",
    "`expire` of a key that is absent, or has expired, is `false` and makes nothing.",
    async (context) => {
      const store = await context.open();
      assert.equal(await store.expire(context.scope(), "k", { ttlMs: MINUTE }), false);
      await store.write(context.scope(), record("k"));
      assert.equal(await store.expire(context.scope(), "k", { ttlMs: 0 }), true);
      assert.equal(await store.expire(context.scope(), "k", { ttlMs: 0 }), false);
      assert.deepEqual((await store.keys(context.scope())).keys, []);
    },
  ),
  workingCase(
    "expire-hides-in-time",
    "A key reads as absent once its TTL has passed, and not before.",
    async (context) => {
      const store = await context.open();
      const scope = context.scope();
      await store.write(scope, record("w"));
      await store.append(scope, "k", 1);
      for (const key of ["w", "k"]) await store.expire(scope, key, { ttlMs: 10 * MINUTE });
      await context.elapse(9 * MINUTE);
      assert.equal((await store.read(scope, "w"))?.value, 1);
      assert.deepEqual((await store.read(scope, "k"))?.value, [1]);
      await context.elapse(2 * MINUTE);
      assert.equal(await store.read(scope, "w"), null);
      assert.equal(await store.read(scope, "k"), null);
      assert.deepEqual((await store.keys(scope)).keys, []);
      assert.equal(await store.append(scope, "k", 2), 1);
    },
    elapse,
  ),
  workingCase(
    "expire-can-be-moved",
    "A later `expire` replaces an earlier one, to shorter and to longer.",
    async (context) => {
      const store = await context.open();
      const scope = context.scope();
      await store.write(scope, record("longer"));
      await store.write(scope, record("shorter"));
      await store.expire(scope, "longer", { ttlMs: 5 * MINUTE });
      await store.expire(scope, "longer", { ttlMs: 50 * MINUTE });
      await store.expire(scope, "shorter", { ttlMs: 50 * MINUTE });
      await store.expire(scope, "shorter", { ttlMs: 5 * MINUTE });
      await context.elapse(10 * MINUTE);
      assert.notEqual(await store.read(scope, "longer"), null);
      assert.equal(await store.read(scope, "shorter"), null);
    },
    elapse,
  ),
  workingCase(
    "explicit-expiry-stays-without-a-ttl",
    "In a store without a TTL an explicit `expire` stays through later writes and appends.",
    async (context) => {
      const store = await context.open();
      const scope = context.scope();
      await store.write(scope, record("w"));
      await store.append(scope, "k", 1);
      for (const key of ["w", "k"]) await store.expire(scope, key, { ttlMs: 10 * MINUTE });
      await store.write(scope, record("w", 2));
      await store.append(scope, "k", 2);
      await context.elapse(11 * MINUTE);
      assert.equal(await store.read(scope, "w"), null);
      assert.equal(await store.read(scope, "k"), null);
    },
    elapse,
  ),
  workingCase(
    "ttl-is-armed-by-writes",
    "A store's own TTL is armed by each write and each append; a read does not re-arm it.",
    async (context) => {
      const store = await context.open({ ttlMs: 10 * MINUTE });
      const scope = context.scope();
      for (const key of ["written", "read"]) await store.write(scope, record(key));
      for (const key of ["appended", "listed"]) await store.append(scope, key, 1);
      await context.elapse(6 * MINUTE);
      await store.write(scope, record("written", 2));
      await store.append(scope, "appended", 2);
      await store.read(scope, "read");
      await store.read(scope, "listed");
      await context.elapse(6 * MINUTE);
      assert.equal((await store.read(scope, "written"))?.value, 2);
      assert.deepEqual((await store.read(scope, "appended"))?.value, [1, 2]);
      assert.equal(await store.read(scope, "read"), null);
      assert.equal(await store.read(scope, "listed"), null);
      await context.elapse(6 * MINUTE);
      assert.deepEqual((await store.keys(scope)).keys, []);
    },
    elapse,
  ),
  workingCase(
    "sliding-re-arms-on-read",
    "With `sliding: true` a read re-arms the store's TTL; a list does not.",
    async (context) => {
      const store = await context.open({ ttlMs: 10 * MINUTE, sliding: true });
      const scope = context.scope();
      for (const key of ["read", "listed"]) await store.write(scope, record(key));
      await context.elapse(6 * MINUTE);
      assert.notEqual(await store.read(scope, "read"), null);
      assert.equal((await store.keys(scope)).keys.length, 2);
      await context.elapse(6 * MINUTE);
      assert.notEqual(await store.read(scope, "read", { last: 1 }), null);
      assert.equal(await store.read(scope, "listed"), null);
      await context.elapse(6 * MINUTE);
      assert.notEqual(await store.read(scope, "read"), null);
      await context.elapse(11 * MINUTE);
      assert.equal(await store.read(scope, "read"), null);
    },
    elapse,
  ),
  workingCase(
    "explicit-expiry-holds",
    "An explicit `expire` holds, also against sliding reads, until the next write or append re-arms the store's TTL.",
    async (context) => {
      const store = await context.open({ ttlMs: 10 * MINUTE, sliding: true });
      const scope = context.scope();
      for (const key of ["shorter", "longer", "written", "appended"]) await store.append(scope, key, 1);
      await store.expire(scope, "longer", { ttlMs: 100 * MINUTE });
      for (const key of ["shorter", "written", "appended"]) await store.expire(scope, key, { ttlMs: 5 * MINUTE });
      await context.elapse(3 * MINUTE);
      await store.read(scope, "shorter");
      await store.write(scope, record("written", 2));
      await store.append(scope, "appended", 2);
      await context.elapse(3 * MINUTE);
      assert.equal(await store.read(scope, "shorter"), null);
      assert.equal((await store.read(scope, "written"))?.value, 2);
      assert.deepEqual((await store.read(scope, "appended"))?.value, [1, 2]);
      await store.read(scope, "longer");
      await context.elapse(50 * MINUTE);
      assert.notEqual(await store.read(scope, "longer"), null);
    },
    elapse,
  ),
  workingCase(
    "ttl-is-refused-unless-whole",
    "`ttlMs` is a whole number of milliseconds, 0 or more; anything else is a `MemoryRecordError`, and nothing expires.",
    async (context) => {
      const store = await context.open();
      await store.write(context.scope(), record("k"));
      for (const ttlMs of [-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, "5", null, undefined]) {
        await context.rejects(store.expire(context.scope(), "k", { ttlMs: untyped(ttlMs) }), "MEMORY_RECORD", {
          path: "options.ttlMs",
        });
      }
      await context.rejects(store.expire(context.scope(), "k", untyped(undefined)), "MEMORY_RECORD");
      assert.notEqual(await store.read(context.scope(), "k"), null);
    },
  ),
  workingCase(
    "keys-lists-what-is-there",
    "`keys` lists what is there without values, and how long each still has.",
    async (context) => {
      const store = await context.open();
      const scope = context.scope({ userId: "u" });
      await store.write(scope, record("stays"));
      await store.append(scope, "goes", 1);
      await store.expire(scope, "goes", { ttlMs: 10 * MINUTE });
      const { keys, cursor } = await store.keys(scope);
      assert.equal(cursor, null);
      assert.deepEqual(
        keys.map(({ key }) => key),
        ["goes", "stays"],
      );
      const [goes, stays] = keys;
      assert.deepEqual({ ...goes?.scope }, { tenantId: context.tenant, userId: "u" });
      assert.ok(goes?.expiresInMs !== undefined && goes.expiresInMs > 0 && goes.expiresInMs <= 10 * MINUTE);
      assert.deepEqual(Object.keys(stays ?? {}).sort(), ["key", "scope"]);
    },
  ),
  workingCase("key-prefix-is-exact", "`keyPrefix` is compared exactly: no pattern, no folding.", async (context) => {
    const store = await context.open();
    const keys = ["a", "a*", "a*b", "ab", "a_b", "a%", "A*", "a[b]", "é", "\\a"];
    for (const key of keys) await store.write(context.scope(), record(key));
    const under = async (keyPrefix: string) =>
      (await store.keys(context.scope(), { keyPrefix })).keys.map(({ key }) => key);
    assert.deepEqual(await under("a*"), ["a*", "a*b"]);
    assert.deepEqual(await under("a_"), ["a_b"]);
    assert.deepEqual(await under("a%"), ["a%"]);
    assert.deepEqual(await under("a["), ["a[b]"]);
    assert.deepEqual(await under("\\"), ["\\a"]);
    assert.deepEqual(await under("*"), []);
    assert.deepEqual(await under("a"), ["a", "a%", "a*", "a*b", "a[b]", "a_b", "ab"]);
    assert.equal((await under("")).length, keys.length);
  }),
  {
    id: "working/keys-reach-under",
    promise: '`keys` with `reach: "under"` pages over every scope that the one given contains, by scope and key.',
    needs: { working: true, reach: true },
    refusal: async (context) => {
      const store = await context.open();
      await refused(context, store, store.keys(context.scope(), { reach: "under" }));
    },
    async run(context) {
      const store = await context.open();
      const expected: (readonly [string | undefined, string])[] = [];
      for (const userId of [undefined, "u1", "u2"]) {
        for (const key of ["a", "b", "c"]) {
          await store.write(userId === undefined ? context.scope() : context.scope({ userId }), record(key));
          expected.push([userId, key]);
        }
      }
      const found: (readonly [string | undefined, string])[] = [];
      let cursor: string | undefined;
      do {
        const page = await store.keys(context.scope(), { reach: "under", limit: 2, cursor });
        found.push(...page.keys.map(({ scope, key }) => [scope.userId, key] as const));
        cursor = page.cursor ?? undefined;
      } while (cursor !== undefined && found.length <= expected.length);
      assert.deepEqual(found, expected);
    },
  },
];
