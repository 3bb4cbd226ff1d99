// The promises about forgetting: all of a scope and nothing beside it, at once, with exact counts, and with writes and
// reads that race it wholly before or wholly after. What was derived from the records stands in derivations.ts.

import assert from "node:assert/strict";
import type { MemoryEvent, MemoryScope } from "@memory/core";
import type { ConformanceCase } from "../case.ts";
import { fill, type Holdings, kindsOf, readable, sumOf, totalOf } from "../holdings.ts";
import { KINDS, record, refused } from "../kinds.ts";
import { untyped } from "../untyped.ts";

const HOUR = 3_600_000;

const erasing = { erasure: true } as const;
const narrowing = { erasure: true, erasureNarrowing: true } as const;

const upTo = (n: number): readonly number[] => Array.from({ length: n }, (_, index) => index + 1);

const whole: readonly ConformanceCase[] = [
  {
    id: "erasure/everything-of-the-scope-is-gone",
    promise: "`erase` makes everything of the scope unreadable, and its receipt counts every version exactly.",
    needs: erasing,
    async run(context) {
      const store = await context.open();
      const scope = context.scope({ userId: "u" });
      const held = sumOf(await fill(context, store, scope, "k1"), await fill(context, store, scope, "k2"));
      assert.deepEqual(await readable(context, store, scope), held);
      const receipt = await store.erase(scope);
      assert.deepEqual(receipt, {
        counts: held,
        records: totalOf(held),
        artefacts: 0,
        sharedArtefacts: 0,
        adapters: [],
        outstanding: [],
        completedAt: context.clock.now(),
        complete: true,
        dryRun: false,
      });
      assert.deepEqual(await readable(context, store, scope), {});
    },
    async refusal(context) {
      const store = await context.open();
      await refused(context, store, store.erase(context.scope()));
      await refused(context, store, store.erase(context.scope(), { dryRun: true }));
    },
  },
  {
    id: "erasure/keyed-reads-find-nothing",
    promise: "After an erasure keyed reads find nothing either.",
    needs: erasing,
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      await fill(context, store, scope, "k");
      await store.erase(scope);
      if (context.capabilities.working) assert.equal(await store.read(scope, "k"), null);
      if (context.capabilities.profile) {
        assert.equal(await store.profile(scope, "k"), null);
        assert.deepEqual(await store.history(scope, "k"), []);
        assert.deepEqual((await store.beliefs(scope)).beliefs, []);
      }
      if (context.capabilities.episodic) assert.deepEqual(await store.episodes(scope, { key: "k" }), []);
      if (context.capabilities.semantic) assert.equal(await store.recall(scope, "k"), null);
    },
  },
  {
    id: "erasure/second-run-reports-zero",
    promise: "A second run reports zero and is complete; so does the erasure of a scope that never held anything.",
    needs: erasing,
    async run(context) {
      const store = await context.open();
      const scope = context.scope({ userId: "u" });
      await fill(context, store, scope, "k");
      await store.erase(scope);
      for (const again of [scope, context.scope({ userId: "nobody" })]) {
        const receipt = await store.erase(again);
        assert.deepEqual(receipt.counts, {});
        assert.equal(receipt.records, 0);
        assert.equal(receipt.artefacts, 0);
        assert.equal(receipt.complete, true);
        assert.deepEqual(receipt.outstanding, []);
      }
    },
  },
  {
    id: "erasure/counts-lineages-and-lapsed-versions",
    promise: "Versions of every lineage count, also the lapsed, future-dated, decayed and settled ones.",
    needs: { erasure: true, profile: true, supersession: true },
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      const now = context.clock.now();
      const a = await store.supersede(scope, { ...record("k", "a"), subject: "a", validTo: now + HOUR });
      await store.supersede(scope, { ...record("k", "b"), subject: "b", validFrom: now + HOUR });
      await store.supersede(scope, { ...record("k", "c"), subject: "c" }, { resolves: [a.record.id] });
      await store.supersede(scope, { ...record("k", "c2"), subject: "c", validFrom: now - HOUR, validTo: now - HOUR });
      const receipt = await store.erase(scope);
      assert.deepEqual(receipt.counts, { profile: 4 });
    },
  },
  {
    id: "erasure/expired-keys-do-not-count",
    promise: "A working key that has expired is absent: an erasure does not count it.",
    needs: { erasure: true, working: true },
    hooks: ["elapse"],
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      await store.write(scope, record("expiring"));
      await store.write(scope, record("staying"));
      await store.expire(scope, "expiring", { ttlMs: 1_000 });
      await context.elapse(2_000);
      assert.deepEqual((await store.erase(scope)).counts, { working: 1 });
    },
  },
  {
    id: "erasure/under-and-no-further",
    promise:
      "`erase` reaches everything under the scope and stops there: the scopes above, beside and of other tenants keep theirs.",
    needs: erasing,
    async run(context) {
      const store = await context.open();
      const user = context.scope({ userId: "user1" });
      const under = [
        user,
        context.scope({ userId: "user1", sessionId: "s" }),
        context.scope({ userId: "user1", sessionId: "s", agent: "x" }),
        context.scope({ userId: "user1", agent: "x" }),
      ];
      const beside = [
        context.scope(),
        context.scope({ userId: "user10" }),
        context.scope({ userId: "USER1" }),
        context.scope({ userId: "user" }),
        context.scope({ sessionId: "user1" }),
        context.scope({ userId: "user1:s" }),
        context.scope({ userId: "user%" }),
        context.foreign({ userId: "user1" }),
        context.foreign({ userId: "user1", sessionId: "s" }),
      ];
      let expected: Holdings = {};
      for (const scope of under) expected = sumOf(expected, await fill(context, store, scope, "k"));
      const kept = await Promise.all(beside.map((scope) => fill(context, store, scope, "k")));
      assert.deepEqual((await store.erase(user)).counts, expected);
      for (const scope of under) assert.deepEqual(await readable(context, store, scope), {});
      for (const [index, scope] of beside.entries()) {
        assert.deepEqual(await readable(context, store, scope), kept[index], `beside scope ${index}`);
      }
    },
  },
  {
    id: "erasure/scopes-with-gaps",
    promise: "A scope that names a session or an agent and no user takes it over all users.",
    needs: erasing,
    async run(context) {
      const store = await context.open();
      const taken = [
        context.scope({ sessionId: "s" }),
        context.scope({ userId: "u", sessionId: "s" }),
        context.scope({ userId: "v", sessionId: "s", agent: "x" }),
      ];
      const kept = [
        context.scope({ userId: "s" }),
        context.scope({ userId: "u", sessionId: "t" }),
        context.scope({ agent: "s" }),
      ];
      let expected: Holdings = {};
      for (const scope of taken) expected = sumOf(expected, await fill(context, store, scope, "k"));
      const held = await Promise.all(kept.map((scope) => fill(context, store, scope, "k")));
      assert.deepEqual((await store.erase(context.scope({ sessionId: "s" }))).counts, expected);
      for (const scope of taken) assert.deepEqual(await readable(context, store, scope), {});
      for (const [index, scope] of kept.entries()) assert.deepEqual(await readable(context, store, scope), held[index]);
    },
  },
  {
    id: "erasure/a-whole-tenant",
    promise: "The scope of a tenant is everything of the tenant, and nothing of another.",
    needs: erasing,
    async run(context) {
      const store = await context.open();
      const parts = [{}, { userId: "u" }, { userId: "u", sessionId: "s" }, { agent: "x" }];
      let expected: Holdings = {};
      for (const part of parts) {
        expected = sumOf(expected, await fill(context, store, context.scope(part), "k"));
        await fill(context, store, context.foreign(part), "k");
      }
      assert.deepEqual((await store.erase(context.scope())).counts, expected);
      for (const part of parts) {
        assert.deepEqual(await readable(context, store, context.scope(part)), {});
        assert.notDeepEqual(await readable(context, store, context.foreign(part)), {});
      }
    },
  },
  {
    id: "erasure/starts-afresh",
    promise:
      "A write that is called after `erase` has settled is kept, and finds the scope as if nothing had ever been there.",
    needs: erasing,
    async run(context) {
      const store = await context.open();
      const scope = context.scope({ userId: "u" });
      await fill(context, store, scope, "k");
      const before = context.capabilities.episodic
        ? await store.log(scope, { ...record("k", "before"), id: "e" })
        : null;
      if (context.capabilities.profile) await store.upsert(scope, { ...record("k", "before"), id: "p" });
      await store.erase(scope);
      const held = await fill(context, store, scope, "k");
      assert.deepEqual(await readable(context, store, scope), held);
      if (context.capabilities.working) assert.deepEqual((await store.read(scope, "k"))?.value, [1, 2, 3]);
      if (context.capabilities.profile) {
        assert.deepEqual(
          (await store.history(scope, "k")).map((one) => [one.version, one.value]),
          [
            [1, 1],
            [2, 2],
            [3, 3],
          ],
        );
        assert.equal(
          (await store.upsert(scope, { ...record("other", "after"), id: "p" })).id,
          "p",
          "its ids are free again",
        );
      }
      if (before !== null) assert.equal((await store.log(scope, { ...record("k", "after"), id: "e" })).value, "after");
      const again = await store.erase(scope);
      assert.equal(again.records, totalOf(held) + (before === null ? 0 : 1) + (context.capabilities.profile ? 1 : 0));
    },
  },
  {
    id: "erasure/settled-writes-are-gone",
    promise:
      "A write that had settled before `erase` was called is gone, also one of another store over the same servers.",
    needs: erasing,
    async run(context) {
      const writer = await context.open();
      const eraser = await context.open();
      const scope = context.scope();
      for (const round of upTo(3)) {
        const held = await fill(context, writer, scope, `k${round}`);
        assert.deepEqual((await eraser.erase(scope)).counts, held);
        assert.deepEqual(await readable(context, writer, scope), {});
      }
    },
  },
  {
    id: "erasure/large-scopes",
    promise: "A scope of some thousand records goes in one call, counted exactly.",
    needs: { erasure: true, episodic: true },
    async run(context) {
      const store = await context.open();
      const user = context.scope({ userId: "u" });
      for (const n of upTo(3)) {
        const session = context.scope({ userId: "u", sessionId: `s${n}` });
        await store.logAll(
          session,
          upTo(900).map((m) => record(`k${m}`, m)),
        );
      }
      assert.deepEqual((await store.erase(user)).counts, { episodic: 2_700 });
      assert.deepEqual(await readable(context, store, context.scope({ userId: "u", sessionId: "s2" })), {});
      assert.equal((await store.erase(user)).records, 0);
    },
  },
];

const narrowed: readonly ConformanceCase[] = [
  {
    id: "erasure/dry-run",
    promise: "A dry run is exact, erases nothing, and is never `complete`.",
    needs: narrowing,
    async run(context) {
      const store = await context.open();
      const user = context.scope({ userId: "u" });
      const held = sumOf(
        await fill(context, store, user, "k"),
        await fill(context, store, context.scope({ userId: "u", sessionId: "s" }), "k"),
      );
      const expected = {
        counts: held,
        records: totalOf(held),
        artefacts: 0,
        sharedArtefacts: 0,
        adapters: [],
        outstanding: [],
        completedAt: null,
        complete: false,
        dryRun: true,
      };
      assert.deepEqual(await store.erase(user, { dryRun: true }), expected);
      assert.deepEqual(await store.erase(user, { dryRun: true }), expected);
      const exact = await store.erase(user, { dryRun: true, reach: "exact" });
      const receipt = await store.erase(user);
      assert.deepEqual(receipt.counts, held);
      assert.equal(exact.records, totalOf(held) / 2);
      assert.equal((await store.erase(user, { dryRun: true })).records, 0);
    },
    async refusal(context) {
      const store = await context.open();
      const scope = context.scope();
      const [kind] = kindsOf(context.capabilities);
      if (context.capabilities.erasure) await fill(context, store, scope, "k");
      for (const options of [
        { dryRun: true },
        { reach: "exact" },
        { keys: ["k"] },
        { kinds: kind === undefined ? [] : [kind] },
      ] as const) {
        await refused(context, store, store.erase(scope, options));
      }
      if (context.capabilities.erasure)
        assert.notDeepEqual(await readable(context, store, scope), {}, "nothing was erased");
    },
  },
  {
    id: "erasure/only-some-kinds",
    promise: "`kinds` narrows an erasure to those kinds, and the others keep theirs.",
    needs: narrowing,
    async run(context) {
      const store = await context.open();
      const kinds = kindsOf(context.capabilities);
      for (const kind of kinds) {
        const scope = context.scope({ userId: kind });
        const held = await fill(context, store, scope, "k");
        const receipt = await store.erase(scope, { kinds: [kind] });
        assert.deepEqual(receipt.counts, { [kind]: held[kind] });
        const { [kind]: _, ...rest } = held;
        assert.deepEqual(await readable(context, store, scope), rest);
      }
      const scope = context.scope({ userId: "all" });
      const held = await fill(context, store, scope, "k");
      assert.deepEqual((await store.erase(scope, { kinds })).counts, held);
    },
  },
  {
    id: "erasure/only-some-keys",
    promise: "`keys` narrows an erasure to those keys, compared exactly, with every version of theirs.",
    needs: narrowing,
    async run(context) {
      const store = await context.open();
      const scope = context.scope({ userId: "u" });
      const session = context.scope({ userId: "u", sessionId: "s" });
      const named = sumOf(
        await fill(context, store, scope, "a"),
        await fill(context, store, scope, "b%"),
        await fill(context, store, session, "a"),
      );
      const kept = sumOf(await fill(context, store, scope, "ab"), await fill(context, store, scope, "A"));
      assert.deepEqual((await store.erase(scope, { keys: ["a", "b%", "never", "a"] })).counts, named);
      assert.deepEqual(await readable(context, store, scope), kept);
      assert.deepEqual(await readable(context, store, session), {});
      assert.equal((await store.erase(scope, { keys: ["a"] })).records, 0);
    },
  },
  {
    id: "erasure/only-the-scope-itself",
    promise: '`reach: "exact"` narrows an erasure to the scope itself.',
    needs: narrowing,
    async run(context) {
      const store = await context.open();
      const user = context.scope({ userId: "u" });
      const session = context.scope({ userId: "u", sessionId: "s" });
      const own = await fill(context, store, user, "k");
      const below = await fill(context, store, session, "k");
      assert.deepEqual((await store.erase(user, { reach: "exact" })).counts, own);
      assert.deepEqual(await readable(context, store, user), {});
      assert.deepEqual(await readable(context, store, session), below);
    },
  },
  {
    id: "erasure/narrowed-several-ways",
    promise: "Kinds, keys and reach narrow together.",
    needs: narrowing,
    async run(context) {
      const store = await context.open();
      const user = context.scope({ userId: "u" });
      const session = context.scope({ userId: "u", sessionId: "s" });
      const [kind] = kindsOf(context.capabilities);
      if (kind === undefined) return;
      const held: Holdings[] = [];
      for (const scope of [user, session]) {
        for (const key of ["k1", "k2"]) held.push(await fill(context, store, scope, key));
      }
      const options = { kinds: [kind], keys: ["k1"], reach: "exact" } as const;
      const forecast = await store.erase(user, { ...options, dryRun: true });
      const receipt = await store.erase(user, options);
      assert.deepEqual(receipt.counts, { [kind]: held[0]?.[kind] });
      assert.deepEqual(forecast.counts, receipt.counts);
      assert.deepEqual(await readable(context, store, session), sumOf(held[2] ?? {}, held[3] ?? {}));
      assert.equal(
        totalOf(await readable(context, store, user)),
        totalOf(sumOf(held[0] ?? {}, held[1] ?? {})) - receipt.records,
      );
    },
  },
  {
    id: "erasure/kinds-that-the-store-lacks",
    promise:
      "Narrowing to a kind that the store does not hold is a `CapabilityError`, never zero rows; one that does not exist is refused.",
    needs: narrowing,
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      const held = await fill(context, store, scope, "k");
      const own = kindsOf(context.capabilities);
      for (const kind of KINDS.filter((one) => !own.includes(one))) {
        await context.rejects(store.erase(scope, { kinds: [...own, kind] }), "MEMORY_CAPABILITY", { missing: [kind] });
      }
      await context.rejects(store.erase(scope, { kinds: untyped(["everything"]) }), "MEMORY_RECORD");
      await context.rejects(store.erase(scope, untyped({ kind: "working" })), "MEMORY_RECORD");
      await context.rejects(store.erase(scope, { keys: ["k", " "] }), "MEMORY_RECORD");
      assert.deepEqual(await readable(context, store, scope), held);
    },
  },
];

const racing: readonly ConformanceCase[] = [
  {
    id: "erasure/racing-profile-writes",
    promise:
      "Profile writes that race an erasure are wholly before it or after it: what is left is numbered from 1 without a hole, and every version is counted or kept.",
    needs: { erasure: true, profile: true },
    async run(context) {
      const store = await context.open();
      const other = await context.open();
      const scope = context.scope();
      const keys = ["k1", "k2", "k3"];
      for (const key of keys) await store.upsert(scope, record(key, 0));
      const writes = upTo(24).map((n) => (n % 2 === 0 ? store : other).upsert(scope, record(keys[n % 3] ?? "k1", n)));
      const erasures = [store.erase(scope), other.erase(scope)];
      const more = upTo(12).map((n) => other.upsert(scope, record(keys[n % 3] ?? "k1", -n)));
      const receipts = await Promise.all(erasures);
      await Promise.all([...writes, ...more]);
      let left = 0;
      for (const key of keys) {
        const history = await store.history(scope, key);
        assert.deepEqual(
          history.map((one) => one.version),
          upTo(history.length),
          key,
        );
        if (history.length > 0) assert.equal((await store.profile(scope, key))?.version, history.length);
        left += history.length;
      }
      const erased = receipts.reduce((sum, one) => sum + one.records, 0);
      assert.equal(erased + left, keys.length + 36, "each version is counted in one receipt or is there");
    },
  },
  {
    id: "erasure/racing-working-writes",
    promise: "Working writes and appends that race an erasure are wholly before it or after it, counted or kept.",
    needs: { erasure: true, working: true },
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      const writes = upTo(20).map((n) => store.write(scope, record(`w${n}`, n)));
      const appends = upTo(10).map((n) => store.append(scope, "sequence", n));
      const erasure = store.erase(scope);
      const more = upTo(10).map((n) => store.append(scope, "sequence", 10 + n));
      const receipt = await erasure;
      await Promise.all([...writes, ...more, ...appends]);
      const { keys } = await store.keys(scope);
      const written = keys.filter(({ key }) => key.startsWith("w")).length;
      const erasedSequences = receipt.records - (20 - written);
      assert.ok(erasedSequences === 0 || erasedSequences === 1, "each write is counted or is there");
      const sequence = await store.read(scope, "sequence");
      const elements = Array.isArray(sequence?.value) ? sequence.value : [];
      assert.equal(new Set(elements).size, elements.length, "no element twice");
      for (const { key } of keys) assert.notEqual(await store.read(scope, key), null, "what is listed can be read");
    },
  },
  {
    id: "erasure/racing-batches",
    promise: "A batch of episodes or vectors that races an erasure is there wholly or not at all.",
    needs: erasing,
    async run(context) {
      const store = await context.open();
      const other = await context.open();
      const scope = context.scope();
      const { episodic, semantic } = context.capabilities;
      const batch = (n: number) => upTo(10).map((m) => record(`k${n}-${m}`, n));
      const write = (n: number): Promise<unknown>[] => [
        ...(episodic ? [(n % 2 === 0 ? store : other).logAll(scope, batch(n))] : []),
        ...(semantic
          ? [
              other.indexAll(
                scope,
                batch(n).map((one) => ({ ...one, embedding: context.vector(n) })),
              ),
            ]
          : []),
      ];
      const before = upTo(6).flatMap(write);
      const erasure = store.erase(scope);
      const after = upTo(6).flatMap((n) => write(n + 6));
      const receipt = await erasure;
      await Promise.all([...before, ...after]);
      const left = await readable(context, store, scope);
      for (const kind of ["episodic", "semantic"] as const) {
        if (!context.capabilities[kind]) continue;
        assert.equal((left[kind] ?? 0) % 10, 0, "no batch is half there");
        assert.equal((left[kind] ?? 0) + (receipt.counts[kind] ?? 0), 120, "each record is counted or is there");
      }
      if (semantic) {
        const hits = await store.search(scope, { embedding: context.vector(1), limit: 1_000 });
        for (const { record: found } of hits) {
          const whole = await store.recall(scope, found.key);
          assert.deepEqual(
            whole?.embedding,
            context.vector(Number(found.value)).map(Math.fround),
            "value with its own vector",
          );
        }
      }
    },
  },
  {
    id: "erasure/racing-reads",
    promise: "A read that races an erasure sees all of the scope or none of it.",
    needs: erasing,
    async run(context) {
      const store = await context.open();
      const other = await context.open();
      const scope = context.scope();
      const { working, profile, episodic, semantic } = context.capabilities;
      for (const n of upTo(10)) {
        if (working) await store.write(scope, record(`k${n}`));
        if (profile) await store.upsert(scope, record(`k${n}`));
        if (episodic) await store.log(scope, record(`k${n}`));
        if (semantic) await store.index(scope, { ...record(`k${n}`), embedding: context.vector(n) });
      }
      const look = (): Promise<number>[] => [
        ...(working ? [other.keys(scope).then((page) => page.keys.length)] : []),
        ...(profile ? [other.history(scope).then((list) => list.length)] : []),
        ...(profile ? [other.beliefs(scope).then((page) => page.beliefs.length)] : []),
        ...(episodic ? [other.episodes(scope, { limit: 100 }).then((hits) => hits.length)] : []),
        ...(semantic
          ? [other.search(scope, { embedding: context.vector(1), limit: 100 }).then((hits) => hits.length)]
          : []),
      ];
      const seen: number[] = [];
      let erased = false;
      const first = look();
      const erasure = store.erase(scope).finally(() => {
        erased = true;
      });
      seen.push(...(await Promise.all(first)));
      while (!erased) seen.push(...(await Promise.all(look())));
      await erasure;
      for (const count of seen) assert.ok(count === 0 || count === 10, `a read saw ${count} of 10`);
      assert.deepEqual(await readable(context, store, scope), {});
    },
  },
  {
    id: "erasure/concurrent-erasures-count-once",
    promise: "Of concurrent erasures of one scope each record is counted in exactly one receipt.",
    needs: erasing,
    async run(context) {
      const stores = [await context.open(), await context.open()];
      const scope = context.scope({ userId: "u" });
      const [first] = stores;
      if (first === undefined) return;
      const held = sumOf(await fill(context, first, scope, "k1"), await fill(context, first, scope, "k2"));
      const receipts = await Promise.all(upTo(4).map(async (n) => stores[n % 2]?.erase(scope)));
      assert.deepEqual(sumOf(...receipts.map((one) => one?.counts ?? {})), held);
      assert.deepEqual(await readable(context, first, scope), {});
    },
  },
];

const reporting: readonly ConformanceCase[] = [
  {
    id: "erasure/one-event",
    promise:
      "One event tells of an erasure, with counts and adapters and never a value or a key; none tells of a dry run.",
    needs: erasing,
    async run(context) {
      const events: MemoryEvent[] = [];
      const store = await context.open({ onEvent: (event) => events.push(event) });
      const scope: MemoryScope = context.scope({ userId: "secret-user" });
      const held = await fill(context, store, scope, "secret-key");
      if (context.capabilities.erasureNarrowing) await store.erase(scope, { dryRun: true });
      const told = () => events.filter((event) => event.name === "adk.memory.erased");
      assert.deepEqual(told(), []);
      await store.erase(scope);
      assert.deepEqual(told(), [
        {
          name: "adk.memory.erased",
          store: store.name,
          counts: held,
          records: totalOf(held),
          artefacts: 0,
          sharedArtefacts: 0,
          adapters: [],
          outstanding: [],
          complete: true,
        },
      ]);
      assert.doesNotMatch(JSON.stringify(events), /secret|tenant-/);
    },
  },
];

/** The promises about erasure. */
export const erasureCases: readonly ConformanceCase[] = [...whole, ...narrowed, ...racing, ...reporting];
