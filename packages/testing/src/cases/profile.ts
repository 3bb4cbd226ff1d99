// The promises about durable facts: which version of a lineage is live when, what a write supersedes, branches or settles,
// and what concurrent and repeated writes come to. Every expectation is worked out by hand from the rule, so that a store
// and the reference cannot be wrong together.

import assert from "node:assert/strict";
import type { JsonValue, MemoryRecord, MemoryRecordInput, MemoryScope, MemoryStore } from "@memory/core";
import { ConfidenceFloor, HalfLife, isMemoryError } from "@memory/core";
import { type DriverCall, driverOf, type StoredRecord } from "@memory/core/driver";
import type { ConformanceCase } from "../case.ts";
import type { CaseContext } from "../context.ts";
import { FakeClock } from "../fake-clock.ts";
import { refused } from "../kinds.ts";
import { untyped } from "../untyped.ts";

const DAY = 86_400_000;
const HOUR = 3_600_000;

const facts = { profile: true } as const;
const timed = { profile: true, asOf: true } as const;
const bitemporal = { profile: true, asOf: true, knownAt: true } as const;
const known = { profile: true, knownAt: true } as const;
const lineages = { profile: true, supersession: true } as const;
const timedLineages = { profile: true, supersession: true, asOf: true } as const;

type Extra = Partial<Omit<MemoryRecordInput, "key" | "value">>;

const fact = (key: string, value: JsonValue, extra: Extra = {}): MemoryRecordInput => ({
  key,
  value,
  source: "case",
  ...extra,
});

const about = (subject: string, predicate: readonly string[] = ["is"]): Extra => ({ subject, predicate });

/** The values that `profile` gives at each of the instants; `null` where nothing is live. */
async function timeline(
  store: MemoryStore,
  scope: MemoryScope,
  key: string,
  instants: readonly number[],
  knownAt?: number,
): Promise<readonly JsonValue[]> {
  const records = await Promise.all(
    instants.map((asOf) => store.profile(scope, key, knownAt === undefined ? { asOf } : { asOf, knownAt })),
  );
  return records.map((record) => record?.value ?? null);
}

/** Each version of the key as [version, value, validFrom, validTo, supersededBy], `null` for what is absent. */
async function trail(store: MemoryStore, scope: MemoryScope, key: string): Promise<readonly (readonly unknown[])[]> {
  const versions = await store.history(scope, key);
  return versions.map((one) => [one.version, one.value, one.validFrom, one.validTo ?? null, one.supersededBy ?? null]);
}

async function holds(
  store: MemoryStore,
  scope: MemoryScope,
  key: string,
  asOf?: number,
): Promise<readonly JsonValue[]> {
  const belief = await store.belief(scope, key, asOf === undefined ? {} : { asOf });
  return belief.contradiction?.holds.map((record) => record.value) ?? (belief.record ? [belief.record.value] : []);
}

const versionsOf = (records: readonly MemoryRecord[]): readonly (number | undefined)[] =>
  records.map((record) => record.version).sort((a, b) => (a ?? 0) - (b ?? 0));

const upTo = (n: number): readonly number[] => Array.from({ length: n }, (_, index) => index + 1);

/** A key with two lineages: "a" about subject a since ten days ago, "b" about subject b since eight days ago. */
async function contradicted(context: CaseContext, store: MemoryStore, scope: MemoryScope, key: string) {
  const now = context.clock.now();
  const a = await store.supersede(scope, fact(key, "a", { ...about("a"), validFrom: now - 10 * DAY }));
  const b = await store.supersede(scope, fact(key, "b", { ...about("b"), validFrom: now - 8 * DAY }));
  return { a: a.record, b: b.record, now };
}

const startAndRead: readonly ConformanceCase[] = [
  {
    id: "profile/upsert-starts-the-key",
    promise:
      "`upsert` of a new key stores version 1, true from the moment it was recorded when the caller names no other.",
    needs: facts,
    async run(context) {
      const store = await context.open();
      const scope = context.scope({ userId: "u" });
      const now = context.clock.now();
      const stored = await store.upsert(scope, fact("diet", { vegan: true }));
      assert.deepEqual(stored, {
        id: stored.id,
        kind: "profile",
        scope,
        key: "diet",
        value: { vegan: true },
        source: "case",
        confidence: 1,
        validFrom: now,
        recordedAt: now,
        version: 1,
      });
      assert.deepEqual(await store.profile(scope, "diet"), stored);
    },
  },
  {
    id: "profile/absent-is-null",
    promise: "A key that nothing was written to reads as `null`, as a belief in nothing, and as an empty history.",
    needs: facts,
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      assert.equal(await store.profile(scope, "nothing"), null);
      assert.deepEqual(await store.belief(scope, "nothing"), {
        scope,
        key: "nothing",
        record: null,
        weight: 0,
        contradiction: null,
        decayed: [],
      });
      assert.deepEqual(await store.history(scope, "nothing"), []);
    },
  },
  {
    id: "profile/upsert-continues-whatever-it-speaks-about",
    promise: "`upsert` continues the key's single open lineage whatever the record speaks about.",
    needs: facts,
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      const first = await store.upsert(scope, fact("city", "Paris", about("home", ["city"])));
      context.clock.advance(HOUR);
      const second = await store.upsert(scope, fact("city", "Rome", about("office", ["town"])));
      assert.equal((await store.belief(scope, "city")).contradiction, null);
      assert.deepEqual(await trail(store, scope, "city"), [
        [1, "Paris", first.recordedAt, second.recordedAt, second.id],
        [2, "Rome", second.recordedAt, null, null],
      ]);
    },
  },
  {
    id: "profile/nothing-is-overwritten",
    promise: "Every version stays on the trail with what it said, numbered 1, 2, 3, ... in its key.",
    needs: facts,
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      for (const n of upTo(5)) {
        await store.upsert(scope, fact("counter", n));
        context.clock.advance(1);
      }
      await store.upsert(scope, fact("other", "x"));
      const versions = await store.history(scope, "counter");
      assert.deepEqual(
        versions.map((one) => [one.version, one.value]),
        upTo(5).map((n) => [n, n]),
      );
      assert.deepEqual(versionsOf(await store.history(scope, "other")), [1]);
    },
  },
  {
    id: "profile/takes-instants-as-dates",
    promise: "Instants are whole milliseconds; a `Date` is taken for one, in records and in options.",
    needs: timed,
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      const now = context.clock.now();
      const stored = await store.upsert(
        scope,
        fact("k", 1, { validFrom: new Date(now - DAY), validTo: new Date(now) }),
      );
      assert.equal(stored.validFrom, now - DAY);
      assert.equal(stored.validTo, now);
      assert.equal((await store.profile(scope, "k", { asOf: new Date(now - 1) }))?.value, 1);
      assert.equal(await store.profile(scope, "k", { asOf: new Date(now) }), null);
      await context.rejects(store.profile(scope, "k", { asOf: 1.5 }), "MEMORY_RECORD", { path: "options.asOf" });
      await context.rejects(store.upsert(scope, fact("k", 2, { validFrom: new Date(Number.NaN) })), "MEMORY_RECORD", {
        path: "validFrom",
      });
    },
  },
];

const live: readonly ConformanceCase[] = [
  {
    id: "profile/window-is-half-open",
    promise:
      "A version is live from its `validFrom` until just before its own `validTo`, and its lineage is silent after it.",
    needs: timed,
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      const now = context.clock.now();
      const [from, to] = [now - 10 * DAY, now - 5 * DAY];
      await store.upsert(scope, fact("k", "held", { validFrom: from, validTo: to }));
      assert.deepEqual(await timeline(store, scope, "k", [from - 1, from, to - 1, to, now]), [
        null,
        "held",
        "held",
        null,
        null,
      ]);
      assert.equal(await store.profile(scope, "k"), null);
      assert.equal((await store.history(scope, "k")).length, 1);
    },
    async refusal(context) {
      const store = await context.open();
      const asOf = context.clock.now();
      await refused(context, store, store.profile(context.scope(), "k", { asOf }));
      await refused(context, store, store.belief(context.scope(), "k", { asOf }));
      await refused(context, store, store.beliefs(context.scope(), { asOf }));
    },
  },
  {
    id: "profile/empty-window-is-never-live",
    promise: "A version whose `validTo` equals its `validFrom` is on the trail and never live.",
    needs: timed,
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      const now = context.clock.now();
      await store.upsert(scope, fact("k", "never", { validFrom: now - DAY, validTo: now - DAY }));
      assert.deepEqual(await timeline(store, scope, "k", [now - DAY - 1, now - DAY, now]), [null, null, null]);
      assert.deepEqual(await trail(store, scope, "k"), [[1, "never", now - DAY, now - DAY, null]]);
    },
  },
  {
    id: "profile/lapse-without-successor",
    promise: "A fact with a `validTo` of its own lapses by the store's clock when it comes, with no write.",
    needs: facts,
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      await store.upsert(scope, fact("k", "voucher", { validTo: context.clock.now() + HOUR }));
      context.clock.advance(HOUR - 1);
      assert.equal((await store.profile(scope, "k"))?.value, "voucher");
      context.clock.advance(1);
      assert.equal(await store.profile(scope, "k"), null);
    },
  },
  {
    id: "profile/late-note-does-not-override",
    promise: "A late note about the past does not override what is known to have come after it.",
    needs: timed,
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      const now = context.clock.now();
      const newer = await store.upsert(scope, fact("k", "newer", { validFrom: now - 2 * DAY }));
      context.clock.advance(HOUR);
      const late = await store.upsert(scope, fact("k", "late note", { validFrom: now - 10 * DAY }));
      assert.equal((await store.profile(scope, "k"))?.value, "newer");
      assert.deepEqual(
        await timeline(store, scope, "k", [now - 11 * DAY, now - 10 * DAY, now - 2 * DAY - 1, now - 2 * DAY]),
        [null, "late note", "late note", "newer"],
      );
      assert.equal(late.version, 2);
      assert.deepEqual(await trail(store, scope, "k"), [
        [1, "newer", now - 2 * DAY, null, null],
        [2, "late note", now - 10 * DAY, now - 2 * DAY, newer.id],
      ]);
    },
  },
  {
    id: "profile/future-fact-waits-for-its-time",
    promise: "A `validFrom` in the future is on the trail at once and recalled when its time comes.",
    needs: facts,
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      const now = context.clock.now();
      await store.upsert(scope, fact("k", "today"));
      const moving = await store.upsert(scope, fact("k", "tomorrow", { validFrom: now + DAY }));
      assert.deepEqual(await trail(store, scope, "k"), [
        [1, "today", now, now + DAY, moving.id],
        [2, "tomorrow", now + DAY, null, null],
      ]);
      const today = await store.profile(scope, "k");
      assert.equal(today?.value, "today");
      assert.equal(today?.validTo, now + DAY);
      context.clock.advance(DAY - 1);
      assert.equal((await store.profile(scope, "k"))?.value, "today");
      context.clock.advance(1);
      assert.equal((await store.profile(scope, "k"))?.value, "tomorrow");
    },
  },
  {
    id: "profile/future-only-is-not-live-yet",
    promise: "A key whose only version lies in the future has no live record, and one in its history.",
    needs: timed,
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      const now = context.clock.now();
      await store.upsert(scope, fact("k", "later", { validFrom: now + DAY }));
      assert.equal(await store.profile(scope, "k"), null);
      assert.deepEqual(await timeline(store, scope, "k", [now, now + DAY]), [null, "later"]);
      assert.equal((await store.history(scope, "k")).length, 1);
    },
  },
  {
    id: "profile/equal-valid-from-the-later-version-wins",
    promise:
      "Of versions with an equal `validFrom` the later one is live, and the outranked one shows `validTo = validFrom`.",
    needs: timed,
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      const from = context.clock.now() - DAY;
      await store.upsert(scope, fact("k", "one", { validFrom: from }));
      const two = await store.upsert(scope, fact("k", "two", { validFrom: from }));
      const three = await store.upsert(scope, fact("k", "three", { validFrom: from }));
      assert.deepEqual(await timeline(store, scope, "k", [from - 1, from, from + DAY]), [null, "three", "three"]);
      assert.deepEqual(await trail(store, scope, "k"), [
        [1, "one", from, from, two.id],
        [2, "two", from, from, three.id],
        [3, "three", from, null, null],
      ]);
    },
  },
  {
    id: "profile/correction-names-the-valid-from-it-corrects",
    promise: "A correction that names the `validFrom` of what it corrects takes its place, and what came later stays.",
    needs: timed,
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      const now = context.clock.now();
      const [f1, f2] = [now - 10 * DAY, now - 5 * DAY];
      await store.upsert(scope, fact("k", "Pariss", { validFrom: f1 }));
      const rome = await store.upsert(scope, fact("k", "Rome", { validFrom: f2 }));
      const paris = await store.upsert(scope, fact("k", "Paris", { validFrom: f1 }));
      assert.deepEqual(await timeline(store, scope, "k", [f1, f2 - 1, f2, now]), ["Paris", "Paris", "Rome", "Rome"]);
      assert.deepEqual(await trail(store, scope, "k"), [
        [1, "Pariss", f1, f1, paris.id],
        [2, "Rome", f2, null, null],
        [3, "Paris", f1, f2, rome.id],
      ]);
    },
  },
  {
    id: "profile/every-order-of-arrival-tells-one-story",
    promise: "At most one version of a lineage is live at any instant, the same one in every order of arrival.",
    needs: timed,
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      const now = context.clock.now();
      const [f1, f2, f3] = [now - 9 * DAY, now - 6 * DAY, now - 3 * DAY];
      const told = { one: { validFrom: f1 }, two: { validFrom: f2, validTo: f2 + DAY }, three: { validFrom: f3 } };
      const orders = [
        "one two three",
        "one three two",
        "two one three",
        "two three one",
        "three one two",
        "three two one",
      ];
      for (const order of orders) {
        for (const name of order.split(" ")) {
          await store.upsert(
            scope,
            fact(order, name, name === "one" ? told.one : name === "two" ? told.two : told.three),
          );
          context.clock.advance(HOUR);
        }
        assert.deepEqual(
          await timeline(store, scope, order, [f1 - 1, f1, f2 - 1, f2, f2 + DAY - 1, f2 + DAY, f3 - 1, f3, now]),
          [null, "one", "one", "two", "two", null, null, "three", "three"],
          order,
        );
      }
    },
  },
  {
    id: "profile/lapse-does-not-bring-back-what-it-replaced",
    promise:
      "When a version lapses by its own `validTo` its lineage falls silent; what it replaced does not come back.",
    needs: timed,
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      const now = context.clock.now();
      await store.upsert(scope, fact("k", "home", { validFrom: now - 10 * DAY }));
      const trip = await store.upsert(scope, fact("k", "trip", { validFrom: now - 8 * DAY, validTo: now - 6 * DAY }));
      assert.deepEqual(
        await timeline(store, scope, "k", [now - 9 * DAY, now - 8 * DAY, now - 6 * DAY - 1, now - 6 * DAY, now]),
        ["home", "trip", "trip", null, null],
      );
      assert.deepEqual(await trail(store, scope, "k"), [
        [1, "home", now - 10 * DAY, now - 8 * DAY, trip.id],
        [2, "trip", now - 8 * DAY, now - 6 * DAY, null],
      ]);
    },
  },
  {
    id: "profile/shows-the-smaller-valid-to",
    promise: "A version shows as its `validTo` the smaller of its own and the next greater `validFrom` in its lineage.",
    needs: timed,
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      const now = context.clock.now();
      await store.upsert(scope, fact("own", 1, { validFrom: now - 10 * DAY, validTo: now - 8 * DAY }));
      const own = await store.upsert(scope, fact("own", 2, { validFrom: now - 5 * DAY }));
      await store.upsert(scope, fact("next", 1, { validFrom: now - 10 * DAY, validTo: now - 3 * DAY }));
      const next = await store.upsert(scope, fact("next", 2, { validFrom: now - 5 * DAY }));
      assert.deepEqual((await trail(store, scope, "own"))[0], [1, 1, now - 10 * DAY, now - 8 * DAY, own.id]);
      assert.deepEqual((await trail(store, scope, "next"))[0], [1, 1, now - 10 * DAY, now - 5 * DAY, next.id]);
      assert.equal((await store.profile(scope, "own", { asOf: now - 9 * DAY }))?.validTo, now - 8 * DAY);
      assert.equal((await store.profile(scope, "next", { asOf: now - 9 * DAY }))?.validTo, now - 5 * DAY);
    },
  },
  {
    id: "profile/known-at-hides-what-was-not-known-yet",
    promise: "At `knownAt` only versions recorded by then count, the one recorded at that very instant included.",
    needs: known,
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      const t1 = context.clock.now();
      await store.upsert(scope, fact("k", "first", { validFrom: t1 - 10 * DAY }));
      context.clock.advance(HOUR);
      const t2 = context.clock.now();
      await store.upsert(scope, fact("k", "second", { validFrom: t1 - 5 * DAY }));
      const then = async (knownAt: number) => store.profile(scope, "k", { knownAt });
      assert.equal(await then(t1 - 1), null);
      assert.equal((await then(t1))?.value, "first");
      assert.equal((await then(t2 - 1))?.value, "first");
      assert.equal((await then(t2))?.value, "second");
      const first = await then(t1);
      assert.equal(first?.validTo, undefined, "the end of a version is not known before what ended it");
      assert.equal(first?.supersededBy, undefined);
    },
    async refusal(context) {
      const store = await context.open();
      const knownAt = context.clock.now();
      await refused(context, store, store.profile(context.scope(), "k", { knownAt }));
      await refused(context, store, store.belief(context.scope(), "k", { knownAt }));
      await refused(context, store, store.beliefs(context.scope(), { knownAt }));
    },
  },
  {
    id: "profile/two-time-axes",
    promise: "What held at `asOf` is answered as it was known at `knownAt`, for every pair of the two.",
    needs: bitemporal,
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      const t1 = context.clock.now();
      const day = (n: number) => t1 - 40 * DAY + n * DAY;
      await store.upsert(scope, fact("k", "A", { validFrom: day(10) }));
      context.clock.advance(HOUR);
      const t2 = context.clock.now();
      await store.upsert(scope, fact("k", "B", { validFrom: day(30) }));
      context.clock.advance(HOUR);
      const t3 = context.clock.now();
      await store.upsert(scope, fact("k", "C", { validFrom: day(20), validTo: day(25) }));
      const asOf = [day(5), day(10), day(22), day(25), day(27), day(30), day(35)];
      assert.deepEqual(await timeline(store, scope, "k", asOf, t1), [null, "A", "A", "A", "A", "A", "A"]);
      assert.deepEqual(await timeline(store, scope, "k", asOf, t2), [null, "A", "A", "A", "A", "B", "B"]);
      assert.deepEqual(await timeline(store, scope, "k", asOf, t3), [null, "A", "C", null, null, "B", "B"]);
      assert.deepEqual(await timeline(store, scope, "k", asOf), [null, "A", "C", null, null, "B", "B"]);
    },
  },
];

const clocks: readonly ConformanceCase[] = [
  {
    id: "profile/recorded-at-never-decreases",
    promise: "`recordedAt` never decreases with the version, also when a writer's clock steps back.",
    needs: facts,
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      const now = context.clock.now();
      await store.upsert(scope, fact("k", 1));
      context.clock.set(now - HOUR);
      const second = await store.upsert(scope, fact("k", 2));
      context.clock.set(now - 2 * HOUR);
      const third = await store.upsert(scope, fact("k", 3));
      assert.ok((second.recordedAt ?? 0) >= now);
      assert.ok((third.recordedAt ?? 0) >= (second.recordedAt ?? 0));
      assert.equal(second.validFrom, second.recordedAt, "a `validFrom` that is left out is the `recordedAt`");
      assert.equal((await store.profile(scope, "k"))?.value, 3, "what was acknowledged last is seen");
    },
  },
  {
    id: "profile/sees-what-was-acknowledged",
    promise:
      "By default `asOf` is the later of the store's clock and the key's newest `recordedAt`, so that what was acknowledged is seen by stores whose clocks are behind.",
    needs: facts,
    async run(context) {
      const ahead = await context.open({ clock: new FakeClock(context.clock.now() + HOUR) });
      const behind = await context.open();
      const scope = context.scope();
      const written = await ahead.upsert(scope, fact("k", "fresh"));
      assert.equal(written.recordedAt, context.clock.now() + HOUR);
      assert.deepEqual(await behind.profile(scope, "k"), written);
      assert.deepEqual((await behind.belief(scope, "k")).record, written);
      assert.deepEqual(
        (await behind.beliefs(scope)).beliefs.map((one) => one.record),
        [written],
      );
      const next = await behind.upsert(scope, fact("k", "fresher"));
      assert.deepEqual((await ahead.profile(scope, "k"))?.value, "fresher");
      assert.ok((next.recordedAt ?? 0) >= (written.recordedAt ?? 0));
    },
  },
  {
    id: "profile/explicit-as-of-is-taken-at-its-word",
    promise: "An `asOf` that the caller names is taken as it is, also before what another clock has recorded.",
    needs: timed,
    async run(context) {
      const ahead = await context.open({ clock: new FakeClock(context.clock.now() + HOUR) });
      const behind = await context.open();
      const scope = context.scope();
      await ahead.upsert(scope, fact("k", "fresh"));
      assert.deepEqual(await timeline(behind, scope, "k", [context.clock.now(), context.clock.now() + HOUR]), [
        null,
        "fresh",
      ]);
    },
  },
];

const supersession: readonly ConformanceCase[] = [
  {
    id: "profile/supersede-starts-the-key",
    promise: "`supersede` of a new key starts it: resolution `started`, nothing superseded, no contradiction.",
    needs: lineages,
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      const answer = await store.supersede(scope, fact("k", 1, about("Ana")));
      assert.equal(answer.resolution, "started");
      assert.equal(answer.superseded, null);
      assert.equal(answer.contradiction, null);
      assert.equal(answer.record.version, 1);
      assert.deepEqual(await store.profile(scope, "k"), answer.record);
    },
    async refusal(context) {
      const store = await context.open();
      await refused(context, store, store.supersede(context.scope(), fact("k", 1)));
    },
  },
  {
    id: "profile/same-subject-and-predicates-supersede",
    promise: "By default a record with the same subject and the same set of predicates, in any order, supersedes.",
    needs: lineages,
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      const now = context.clock.now();
      const first = await store.supersede(scope, fact("k", "window", about("Ana", ["seat", "class"])));
      context.clock.advance(HOUR);
      const second = await store.supersede(scope, fact("k", "aisle", about("Ana", ["class", "seat"])));
      assert.equal(second.resolution, "supersede");
      assert.equal(second.contradiction, null);
      assert.deepEqual(second.superseded, { ...first.record, validTo: now + HOUR, supersededBy: second.record.id });
      assert.deepEqual(await store.profile(scope, "k"), second.record);
      assert.deepEqual(await store.history(scope, "k"), [second.superseded, second.record]);
    },
  },
  {
    id: "profile/facts-about-nothing-in-particular-supersede",
    promise: "By default records that name neither subject nor predicate speak about the same thing and supersede.",
    needs: lineages,
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      await store.supersede(scope, fact("k", 1));
      const second = await store.supersede(scope, fact("k", 2));
      assert.equal(second.resolution, "supersede");
      assert.equal(second.superseded?.value, 1);
    },
  },
  {
    id: "profile/other-subjects-branch",
    promise: "By default a record about another subject branches: both stay, and the answer says that they disagree.",
    needs: lineages,
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      const ana = await store.supersede(scope, fact("k", "vegan", about("Ana", ["diet"])));
      const ben = await store.supersede(scope, fact("k", "steak", about("Ben", ["diet"])));
      assert.equal(ben.resolution, "branch");
      assert.equal(ben.superseded, null);
      assert.deepEqual(ben.contradiction, { subject: null, aspects: ["diet"], holds: [ana.record, ben.record] });
      const none = await store.supersede(scope, fact("k", "none"));
      assert.equal(none.resolution, "branch");
      assert.deepEqual(await holds(store, scope, "k"), ["vegan", "steak", "none"]);
    },
  },
  {
    id: "profile/other-predicates-branch",
    promise: "By default a record with another set of predicates branches, a smaller or a larger set as well.",
    needs: lineages,
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      await store.supersede(scope, fact("k", "both", about("Ana", ["zeta", "alpha"])));
      const fewer = await store.supersede(scope, fact("k", "fewer", about("Ana", ["zeta"])));
      const more = await store.supersede(
        scope,
        fact("k", "more", about("Ana", ["zeta", "alpha", "\u{1F600}", "\uFF5E"])),
      );
      assert.equal(fewer.resolution, "branch");
      assert.equal(more.resolution, "branch");
      assert.equal(more.contradiction?.subject, "Ana");
      assert.deepEqual(
        more.contradiction?.aspects,
        ["alpha", "zeta", "\uFF5E", "\u{1F600}"],
        "once each, in UTF-8 byte order",
      );
    },
  },
  {
    id: "profile/contradiction-is-raised-by-profile-and-told-by-belief",
    promise:
      "Where lineages disagree `profile` raises a `MemoryContradictionError` with the records; `belief` never raises for that.",
    needs: lineages,
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      const { a, b } = await contradicted(context, store, scope, "k");
      const error = await context.rejects(store.profile(scope, "k"), "MEMORY_CONTRADICTION", { key: "k" });
      assert.deepEqual(error.records, [a, b]);
      assert.deepEqual(await store.belief(scope, "k"), {
        scope,
        key: "k",
        record: null,
        weight: 0,
        contradiction: { subject: null, aspects: ["is"], holds: [a, b] },
        decayed: [],
      });
    },
  },
  {
    id: "profile/a-write-continues-its-own-lineage",
    promise: "On a contradicted key a write supersedes the lineage that it matches, and the other lineage stays.",
    needs: timedLineages,
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      const { a, b, now } = await contradicted(context, store, scope, "k");
      const second = await store.supersede(scope, fact("k", "a2", { ...about("a"), validFrom: now - 4 * DAY }));
      assert.equal(second.resolution, "supersede");
      assert.deepEqual(second.superseded, { ...a, validTo: now - 4 * DAY, supersededBy: second.record.id });
      assert.equal(second.record.version, 3, "versions are numbered across the lineages of the key");
      assert.deepEqual(second.contradiction?.holds, [second.record, b], "in the order of the lineages");
      assert.deepEqual(await holds(store, scope, "k", now - 9 * DAY), ["a"]);
      assert.deepEqual(await holds(store, scope, "k", now - 5 * DAY), ["a", "b"]);
      assert.deepEqual(await holds(store, scope, "k"), ["a2", "b"]);
    },
  },
  {
    id: "profile/lineages-disagree-only-while-both-are-live",
    promise:
      "A contradiction lasts only while several lineages are live: before one begins or after it lapses the other is the record.",
    needs: timedLineages,
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      const now = context.clock.now();
      await store.supersede(scope, fact("k", "a", { ...about("a"), validFrom: now - 10 * DAY }));
      await store.supersede(scope, fact("k", "b", { ...about("b"), validFrom: now - 6 * DAY, validTo: now - 3 * DAY }));
      assert.equal((await store.profile(scope, "k", { asOf: now - 7 * DAY }))?.value, "a");
      await context.rejects(store.profile(scope, "k", { asOf: now - 6 * DAY }), "MEMORY_CONTRADICTION");
      await context.rejects(store.profile(scope, "k", { asOf: now - 3 * DAY - 1 }), "MEMORY_CONTRADICTION");
      assert.equal((await store.profile(scope, "k", { asOf: now - 3 * DAY }))?.value, "a");
      assert.equal((await store.profile(scope, "k"))?.value, "a");
    },
  },
  {
    id: "profile/judged-by-the-newest-version",
    promise: "A lineage is judged by its newest version, also where an older one is live.",
    needs: lineages,
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      const now = context.clock.now();
      await store.upsert(scope, fact("k", "live", { ...about("a"), validFrom: now - 2 * DAY }));
      await store.upsert(scope, fact("k", "newest", { ...about("b"), validFrom: now - 10 * DAY }));
      assert.equal((await store.profile(scope, "k"))?.value, "live");
      const matching = await store.supersede(scope, fact("k", "b2", about("b")));
      assert.equal(matching.resolution, "supersede");
      assert.equal(matching.superseded?.value, "live");
      const other = await store.supersede(scope, fact("k", "a2", about("a")));
      assert.equal(other.resolution, "branch");
    },
  },
  {
    id: "profile/lapsed-lineage-is-open",
    promise:
      "A lapsed lineage is still open: a matching write continues it, and supersedes nothing where nothing held.",
    needs: lineages,
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      const now = context.clock.now();
      await store.supersede(scope, fact("k", 1, { ...about("a"), validFrom: now - 10 * DAY, validTo: now - 5 * DAY }));
      const second = await store.supersede(scope, fact("k", 2, about("a")));
      assert.equal(second.resolution, "supersede");
      assert.equal(second.superseded, null);
      const [first] = await trail(store, scope, "k");
      assert.deepEqual(first, [1, 1, now - 10 * DAY, now - 5 * DAY, second.record.id]);
    },
  },
  {
    id: "profile/future-lineage-is-open",
    promise:
      "A lineage whose only version lies in the future is open: a matching write of today continues it and ends where it begins.",
    // The end that the answer shows is looked up as of the new version.
    needs: { ...lineages, asOf: true },
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      const now = context.clock.now();
      const later = await store.supersede(scope, fact("k", "later", { ...about("a"), validFrom: now + DAY }));
      const today = await store.supersede(scope, fact("k", "today", about("a")));
      assert.equal(today.resolution, "supersede");
      assert.equal(today.superseded, null);
      assert.equal(today.record.validTo, now + DAY);
      assert.deepEqual(await trail(store, scope, "k"), [
        [1, "later", now + DAY, null, null],
        [2, "today", now, now + DAY, later.record.id],
      ]);
      context.clock.advance(DAY);
      assert.equal((await store.profile(scope, "k"))?.value, "later");
    },
  },
  {
    id: "profile/superseded-is-what-held-at-the-new-valid-from",
    promise:
      "`superseded` in the answer is the version that held at the new `validFrom` and now ends there, or `null`.",
    needs: lineages,
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      const now = context.clock.now();
      const write = (key: string, value: string, days: number, to?: number) =>
        store.supersede(
          scope,
          fact(key, value, { validFrom: now - days * DAY, ...(to === undefined ? {} : { validTo: now - to * DAY }) }),
        );
      await write("between", "A", 10);
      await write("between", "B", 5);
      const between = await write("between", "C", 7);
      assert.equal(between.superseded?.value, "A");
      assert.equal(between.superseded?.validTo, now - 7 * DAY);
      assert.equal(between.superseded?.supersededBy, between.record.id);
      assert.equal(between.record.validTo, now - 5 * DAY, "and the new version ends where the next begins");

      await write("before", "A", 10);
      assert.equal((await write("before", "B", 12)).superseded, null);

      await write("equal", "A", 10);
      const equal = await write("equal", "B", 10);
      assert.equal(equal.superseded?.value, "A");
      assert.equal(equal.superseded?.validTo, now - 10 * DAY);

      await write("cut", "A", 10, 6);
      const cut = await write("cut", "B", 7);
      assert.equal(cut.superseded?.value, "A");
      assert.equal(cut.superseded?.validTo, now - 7 * DAY);

      await write("lapsed", "A", 10, 6);
      assert.equal((await write("lapsed", "B", 6)).superseded, null);
    },
  },
  {
    id: "profile/upsert-does-not-settle-a-contradiction",
    promise: "`upsert` on a contradicted key is a `MemoryContradictionError` with the records, and writes nothing.",
    needs: lineages,
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      const { a, b } = await contradicted(context, store, scope, "k");
      const error = await context.rejects(store.upsert(scope, fact("k", "c")), "MEMORY_CONTRADICTION", { key: "k" });
      assert.deepEqual(
        error.records.map((one) => one.id),
        [a.id, b.id],
      );
      assert.deepEqual(await store.history(scope, "k"), [a, b]);
    },
  },
  {
    id: "profile/upsert-counts-lapsed-lineages-as-open",
    promise: "A key with several open lineages is contradicted for `upsert` also when only one of them is live.",
    needs: lineages,
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      const now = context.clock.now();
      await store.supersede(scope, fact("k", "a", { ...about("a"), validFrom: now - 10 * DAY }));
      await store.supersede(scope, fact("k", "b", { ...about("b"), validFrom: now - 8 * DAY, validTo: now - 5 * DAY }));
      assert.equal((await store.profile(scope, "k"))?.value, "a");
      await context.rejects(store.upsert(scope, fact("k", "c")), "MEMORY_CONTRADICTION", { key: "k" });
      assert.equal((await store.history(scope, "k")).length, 2);
    },
  },
];

const settling: readonly ConformanceCase[] = [
  {
    id: "profile/resolves-ends-the-other-lineage",
    promise: "`resolves` names the open records that the write settles: their lineages end at its `validFrom`.",
    needs: timedLineages,
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      const { a, b, now } = await contradicted(context, store, scope, "k");
      const decided = await store.supersede(scope, fact("k", "a2", { ...about("a"), validFrom: now - 2 * DAY }), {
        resolves: [b.id],
      });
      const ended = { validTo: now - 2 * DAY, supersededBy: decided.record.id };
      assert.equal(decided.resolution, "supersede");
      assert.deepEqual(decided.superseded, { ...a, ...ended });
      assert.equal(decided.contradiction, null);
      assert.deepEqual(await store.history(scope, "k"), [{ ...a, ...ended }, { ...b, ...ended }, decided.record]);
      assert.deepEqual(await store.profile(scope, "k"), decided.record);
      assert.deepEqual(await holds(store, scope, "k", now - 2 * DAY - 1), ["a", "b"]);
      assert.deepEqual(await holds(store, scope, "k", now - 2 * DAY), ["a2"]);
    },
  },
  {
    id: "profile/resolves-several-lineages",
    promise: "One write settles every lineage that it names, and is the only one that holds from then on.",
    needs: timedLineages,
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      const { a, b, now } = await contradicted(context, store, scope, "k");
      const c = await store.supersede(scope, fact("k", "c", { ...about("c"), validFrom: now - 6 * DAY }));
      const decided = await store.supersede(scope, fact("k", "truth", { ...about("d"), validFrom: now - DAY }), {
        resolves: [c.record.id, a.id, b.id],
      });
      assert.equal(decided.contradiction, null);
      assert.deepEqual(await store.profile(scope, "k"), decided.record);
      for (const version of (await store.history(scope, "k")).slice(0, 3)) {
        assert.equal(version.validTo, now - DAY);
        assert.equal(version.supersededBy, decided.record.id);
      }
      assert.deepEqual(await holds(store, scope, "k", now - 2 * DAY), ["a", "b", "c"]);
    },
  },
  {
    id: "profile/resolves-and-branches",
    promise:
      "A decision that matches no lineage starts one of its own; `superseded` is what held in the lineage that it settled.",
    needs: timedLineages,
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      const { a, b, now } = await contradicted(context, store, scope, "k");
      const decided = await store.supersede(scope, fact("k", "c", { ...about("c"), validFrom: now - DAY }), {
        resolves: [a.id],
      });
      assert.equal(decided.resolution, "branch");
      assert.deepEqual(decided.superseded, { ...a, validTo: now - DAY, supersededBy: decided.record.id });
      assert.deepEqual(decided.contradiction?.holds, [b, decided.record]);
      assert.deepEqual(await holds(store, scope, "k", now - DAY - 1), ["a", "b"]);
    },
  },
  {
    id: "profile/resolves-in-the-future",
    promise: "A decision dated in the future leaves the contradiction as it is until then.",
    needs: lineages,
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      const { b, now } = await contradicted(context, store, scope, "k");
      await store.supersede(scope, fact("k", "a2", { ...about("a"), validFrom: now + DAY }), { resolves: [b.id] });
      assert.deepEqual(await holds(store, scope, "k"), ["a", "b"]);
      context.clock.advance(DAY);
      assert.equal((await store.profile(scope, "k"))?.value, "a2");
    },
  },
  {
    id: "profile/resolves-before-the-lineage-began",
    promise: "A lineage that is settled at an instant before it began is live at no instant.",
    needs: timedLineages,
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      const { b, now } = await contradicted(context, store, scope, "k");
      await store.supersede(scope, fact("k", "a2", { ...about("a"), validFrom: now - 9 * DAY }), { resolves: [b.id] });
      assert.deepEqual(await timeline(store, scope, "k", [now - 9 * DAY - 1, now - 9 * DAY, now - 8 * DAY, now]), [
        "a",
        "a2",
        "a2",
        "a2",
      ]);
    },
  },
  {
    id: "profile/resolves-as-known-before-the-decision",
    promise: "As known before the decision, the lineages that it settled still disagree, at every `asOf`.",
    needs: { profile: true, supersession: true, asOf: true, knownAt: true },
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      const { a, b, now } = await contradicted(context, store, scope, "k");
      context.clock.advance(HOUR);
      await store.supersede(scope, fact("k", "a2", { ...about("a"), validFrom: now - 2 * DAY }), { resolves: [b.id] });
      const before = await store.belief(scope, "k", { asOf: now + DAY, knownAt: now });
      assert.deepEqual(before.contradiction?.holds, [a, b]);
      const after = await store.belief(scope, "k", { asOf: now + DAY, knownAt: now + HOUR });
      assert.equal(after.record?.value, "a2");
    },
  },
  {
    id: "profile/settled-lineage-ends-for-good",
    promise:
      "A settled lineage ends for good: no later write continues it, whatever it speaks about and wherever it is dated.",
    needs: timedLineages,
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      const { b, now } = await contradicted(context, store, scope, "k");
      const decided = await store.supersede(scope, fact("k", "a2", { ...about("a"), validFrom: now - 4 * DAY }), {
        resolves: [b.id],
      });
      const again = await store.supersede(scope, fact("k", "b2", { ...about("b"), validFrom: now - 2 * DAY }));
      assert.equal(again.resolution, "branch");
      assert.deepEqual(again.contradiction?.holds, [decided.record, again.record]);
      assert.deepEqual(await holds(store, scope, "k", now - 6 * DAY), ["a", "b"]);
      assert.deepEqual(await holds(store, scope, "k", now - 3 * DAY), ["a2"]);
      assert.deepEqual(await holds(store, scope, "k"), ["a2", "b2"]);
    },
  },
  {
    id: "profile/upsert-after-a-decision",
    promise: "Once all but one lineage are settled `upsert` continues the one that is open.",
    needs: lineages,
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      const { b } = await contradicted(context, store, scope, "k");
      const decided = await store.supersede(scope, fact("k", "a2", about("a")), { resolves: [b.id] });
      context.clock.advance(HOUR);
      const next = await store.upsert(scope, fact("k", "next", about("anything")));
      assert.deepEqual(await store.profile(scope, "k"), next);
      assert.equal(next.version, 4);
      assert.equal((await store.history(scope, "k"))[2]?.supersededBy, next.id);
      assert.equal(decided.record.version, 3);
    },
  },
  {
    id: "profile/resolves-what-holds-or-is-newest",
    promise:
      "Open is the newest version of a lineage, and what holds now or at the new `validFrom`; a lapsed version before the newest is not.",
    needs: lineages,
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      const now = context.clock.now();
      const later = { ...about("b"), validFrom: now + 9 * DAY };
      const settle = (key: string, id: string, from: number) =>
        store.supersede(scope, fact(key, "c", { ...about("c"), validFrom: from }), { resolves: [id] });
      const past = { ...about("b"), validFrom: now - 2 * DAY, validTo: now - DAY };
      const lapsed = await store.upsert(scope, fact("lapsed", 1, past));
      await store.supersede(scope, fact("lapsed", 2, later));
      await context.rejects(settle("lapsed", lapsed.id, now), "MEMORY_CONFLICT", { id: lapsed.id });
      const held = await settle("lapsed", lapsed.id, past.validFrom);
      assert.equal(held.superseded?.id, lapsed.id);
      const live = await store.upsert(scope, fact("live", 1, { ...past, validTo: now + DAY }));
      await store.supersede(scope, fact("live", 2, later));
      const settled = await settle("live", live.id, now + 2 * DAY);
      assert.deepEqual([settled.resolution, settled.superseded], ["branch", null]);
    },
  },
  {
    id: "profile/resolves-only-what-is-open",
    promise: "Naming a record in `resolves` that is not open is a `MemoryConflictError`, and nothing is written.",
    needs: lineages,
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      const { a, b } = await contradicted(context, store, scope, "k");
      const elsewhere = await store.supersede(scope, fact("other", 1));
      const attempt = (resolves: readonly string[], key = "k") =>
        context.rejects(store.supersede(scope, fact(key, "c", about("c")), { resolves }), "MEMORY_CONFLICT", { key });
      await attempt([context.unique("id")]);
      await attempt([elsewhere.record.id]);
      await attempt([a.id, context.unique("id")]);
      await attempt([a.id], "new");
      assert.deepEqual(await store.history(scope, "k"), [a, b]);
      assert.deepEqual(await store.history(scope, "new"), []);
      await store.supersede(scope, fact("k", "a2", about("a")), { resolves: [b.id] });
      await attempt([b.id]);
      assert.equal((await store.history(scope, "k")).length, 3);
    },
  },
  {
    id: "profile/one-decision-wins",
    promise:
      "Of concurrent writes that settle the same record exactly one wins; the others are `MemoryConflictError`s.",
    needs: lineages,
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      const { b } = await contradicted(context, store, scope, "k");
      const settled = await Promise.allSettled(
        upTo(4).map((n) => store.supersede(scope, fact("k", n, about("a")), { resolves: [b.id] })),
      );
      const lost = settled.filter((one) => one.status === "rejected");
      assert.equal(lost.length, 3);
      for (const one of lost) assert.ok(isMemoryError(one.reason, "MEMORY_CONFLICT"), String(one.reason));
      assert.equal((await store.history(scope, "k")).length, 3);
      assert.notEqual(await store.profile(scope, "k"), null);
    },
  },
];

const expectations: readonly ConformanceCase[] = [
  {
    id: "profile/expected-version-of-the-lineage",
    promise: "`expectedVersion` is compared with the newest version of the lineage that is continued.",
    needs: lineages,
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      await store.supersede(scope, fact("k", "a1", about("a")));
      await store.supersede(scope, fact("k", "b1", about("b")));
      await store.supersede(scope, fact("k", "a2", about("a")));
      await context.rejects(
        store.supersede(scope, fact("k", "b2", about("b")), { expectedVersion: 3 }),
        "MEMORY_CONFLICT",
        {
          key: "k",
          expectedVersion: 3,
          actualVersion: 2,
        },
      );
      await context.rejects(
        store.supersede(scope, fact("k", "a3", about("a")), { expectedVersion: 1 }),
        "MEMORY_CONFLICT",
        {
          key: "k",
          expectedVersion: 1,
          actualVersion: 3,
        },
      );
      assert.equal((await store.history(scope, "k")).length, 3, "nothing was written");
      const next = await store.supersede(scope, fact("k", "b2", about("b")), { expectedVersion: 2 });
      assert.equal(next.record.version, 4);
    },
  },
  {
    id: "profile/expected-version-of-a-branch",
    promise: "On a branch `expectedVersion` is compared with the key's newest version.",
    needs: lineages,
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      await store.supersede(scope, fact("k", "a1", about("a")));
      await store.supersede(scope, fact("k", "b1", about("b")));
      await context.rejects(
        store.supersede(scope, fact("k", "c1", about("c")), { expectedVersion: 1 }),
        "MEMORY_CONFLICT",
        {
          key: "k",
          expectedVersion: 1,
          actualVersion: 2,
        },
      );
      assert.equal((await store.history(scope, "k")).length, 2);
      const branch = await store.supersede(scope, fact("k", "c1", about("c")), { expectedVersion: 2 });
      assert.equal(branch.resolution, "branch");
    },
  },
  {
    id: "profile/expected-version-zero-is-a-new-key",
    promise: "`expectedVersion: 0` means that the key has no version.",
    needs: lineages,
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      await context.rejects(store.supersede(scope, fact("k", 1), { expectedVersion: 1 }), "MEMORY_CONFLICT", {
        key: "k",
        expectedVersion: 1,
        actualVersion: 0,
      });
      assert.deepEqual(await store.history(scope, "k"), []);
      assert.equal((await store.supersede(scope, fact("k", 1), { expectedVersion: 0 })).resolution, "started");
      await context.rejects(store.supersede(scope, fact("k", 2), { expectedVersion: 0 }), "MEMORY_CONFLICT", {
        expectedVersion: 0,
        actualVersion: 1,
      });
      await context.rejects(
        store.supersede(scope, fact("k", 2, about("b")), { expectedVersion: 0 }),
        "MEMORY_CONFLICT",
        {
          expectedVersion: 0,
          actualVersion: 1,
        },
      );
      assert.equal((await store.history(scope, "k")).length, 1);
    },
  },
  {
    id: "profile/expected-version-is-a-whole-number",
    promise: "An `expectedVersion` that is no whole number of 0 or more is refused as malformed.",
    needs: lineages,
    async run(context) {
      const store = await context.open();
      for (const expectedVersion of [-1, 0.5, Number.NaN]) {
        await context.rejects(store.supersede(context.scope(), fact("k", 1), { expectedVersion }), "MEMORY_RECORD", {
          path: "options.expectedVersion",
        });
      }
    },
  },
  {
    id: "profile/one-of-n-writers-wins",
    promise:
      "Of N concurrent writers with the same `expectedVersion` exactly one wins; the others are `MemoryConflictError`s.",
    needs: lineages,
    async run(context) {
      const stores = [await context.open(), await context.open()];
      const scope = context.scope();
      for (const [key, base, subject] of [
        ["new", 0, (_: number) => "a"],
        ["continued", 1, (_: number) => "a"],
        ["branched", 1, (n: number) => `b${n}`],
      ] as const) {
        if (base === 1) await stores[0]?.supersede(scope, fact(key, 0, about("a")));
        const settled = await Promise.allSettled(
          upTo(8).map(async (n) =>
            stores[n % 2]?.supersede(scope, fact(key, n, about(subject(n))), { expectedVersion: base }),
          ),
        );
        const lost = settled.filter((one) => one.status === "rejected");
        assert.equal(lost.length, 7, key);
        for (const { reason } of lost) {
          assert.ok(isMemoryError(reason, "MEMORY_CONFLICT"), String(reason));
          assert.equal(reason.expectedVersion, base);
          assert.equal(reason.actualVersion, base + 1);
        }
        assert.equal((await stores[0]?.history(scope, key))?.length, base + 1, key);
      }
    },
  },
  {
    id: "profile/n-writers-all-land",
    promise:
      "N concurrent writers without `expectedVersion` all land, as versions 1..N of one lineage with one live record.",
    needs: lineages,
    async run(context) {
      const stores = [await context.open(), await context.open()];
      const scope = context.scope();
      const answers = await Promise.all(upTo(8).map(async (n) => stores[n % 2]?.supersede(scope, fact("k", n))));
      const records = answers.flatMap((one) => (one === undefined ? [] : [one.record]));
      assert.deepEqual(versionsOf(records), upTo(8));
      assert.equal(answers.filter((one) => one?.resolution === "started").length, 1);
      assert.equal(answers.filter((one) => one?.resolution === "supersede").length, 7);
      const history = (await stores[0]?.history(scope, "k")) ?? [];
      assert.deepEqual(
        history.map((one) => one.version),
        upTo(8),
      );
      assert.equal(history.filter((one) => one.validTo === undefined).length, 1, "one is open-ended");
      assert.equal((await stores[1]?.profile(scope, "k"))?.version, 8);
    },
  },
  {
    id: "profile/n-upserts-all-land",
    promise: "N concurrent `upsert`s all land, as versions 1..N of one lineage.",
    needs: facts,
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      const records = await Promise.all(upTo(8).map((n) => store.upsert(scope, fact("k", n))));
      assert.deepEqual(versionsOf(records), upTo(8));
      const history = await store.history(scope, "k");
      assert.deepEqual(history.map((one) => one.value).sort(), upTo(8));
      assert.equal(history.filter((one) => one.validTo === undefined).length, 1);
    },
  },
  {
    id: "profile/n-branches-all-land",
    promise: "N concurrent writers that speak about N subjects all land as N lineages, none lost or merged.",
    needs: lineages,
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      await Promise.all(upTo(6).map((n) => store.supersede(scope, fact("k", n, about(`s${n}`)))));
      assert.deepEqual(versionsOf(await store.history(scope, "k")), upTo(6));
      assert.deepEqual([...(await holds(store, scope, "k"))].sort(), upTo(6));
    },
  },
];

const repeats: readonly ConformanceCase[] = [
  {
    id: "profile/repeat-answers-as-the-first-did",
    promise:
      "A caller's repeat of the newest write of a lineage stores nothing and answers as the first did, resolution and superseded included.",
    needs: lineages,
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      const twice = async (value: string, subject: string) => {
        const record = fact("k", value, { ...about(subject), id: context.unique("id") });
        const first = await store.supersede(scope, record);
        context.clock.advance(HOUR);
        const versions = await store.history(scope, "k");
        assert.deepEqual(await store.supersede(scope, record), first, `${first.resolution} is repeated`);
        assert.deepEqual(await store.history(scope, "k"), versions);
        return first.resolution;
      };
      assert.equal(await twice("a1", "a"), "started");
      assert.equal(await twice("a2", "a"), "supersede");
      assert.equal(await twice("b1", "b"), "branch");
      assert.equal(await twice("b2", "b"), "supersede");
    },
  },
  {
    id: "profile/repeat-of-a-back-dated-write",
    promise: "A repeat of a back-dated write answers as the first did.",
    needs: lineages,
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      const now = context.clock.now();
      await store.supersede(scope, fact("k", "A", { validFrom: now - 10 * DAY }));
      await store.supersede(scope, fact("k", "B", { validFrom: now - 5 * DAY }));
      const record = fact("k", "C", { id: context.unique("id"), validFrom: now - 7 * DAY });
      const first = await store.supersede(scope, record);
      assert.deepEqual(await store.supersede(scope, record), first);
      assert.equal((await store.history(scope, "k")).length, 3);
    },
  },
  {
    id: "profile/repeat-with-expected-version",
    promise: "A repeat that carries the `expectedVersion` of the first answers as the first did.",
    needs: lineages,
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      const record = (n: number) => fact("k", n, { id: `id-${n}`, validFrom: context.clock.now() - DAY + n });
      const started = await store.supersede(scope, record(1), { expectedVersion: 0 });
      assert.deepEqual(await store.supersede(scope, record(1), { expectedVersion: 0 }), started);
      const continued = await store.supersede(scope, record(2), { expectedVersion: 1 });
      assert.deepEqual(await store.supersede(scope, record(2), { expectedVersion: 1 }), continued);
      assert.equal((await store.history(scope, "k")).length, 2);
    },
  },
  {
    id: "profile/repeat-of-a-decision",
    promise: "A repeat that carries the `resolves` of the first answers as the first did.",
    needs: lineages,
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      const { b } = await contradicted(context, store, scope, "k");
      const record = fact("k", "a2", { ...about("a"), id: context.unique("id") });
      const first = await store.supersede(scope, record, { resolves: [b.id] });
      assert.deepEqual(await store.supersede(scope, record, { resolves: [b.id] }), first);
      assert.equal((await store.history(scope, "k")).length, 3);
    },
  },
  {
    id: "profile/repeat-beside-another-lineage",
    promise:
      "A repeat is recognised by the newest version of its own lineage, whatever other lineages were written since.",
    needs: lineages,
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      const record = fact("k", "a", { ...about("a"), id: context.unique("id") });
      const first = await store.supersede(scope, record);
      await store.supersede(scope, fact("k", "b", about("b")));
      const again = await store.supersede(scope, record);
      assert.deepEqual(again.record, first.record);
      assert.equal(again.resolution, "started");
      assert.equal(again.superseded, null);
      assert.equal((await store.history(scope, "k")).length, 2);
    },
  },
  {
    id: "profile/repeat-of-an-upsert",
    promise:
      "A repeated `upsert` stores nothing and answers as the first did, also later and with `validFrom` left out.",
    needs: facts,
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      await store.upsert(scope, fact("k", 1));
      const record = fact("k", { b: 2, a: [1] }, { id: context.unique("id"), metadata: { x: 1, y: "z" } });
      const first = await store.upsert(scope, record);
      context.clock.advance(HOUR);
      const again = { ...record, value: { a: [1], b: 2 }, metadata: { y: "z", x: 1 } };
      assert.deepEqual(await store.upsert(scope, again), first, "content is compared as JSON");
      assert.equal((await store.history(scope, "k")).length, 2);
    },
  },
  {
    id: "profile/repeat-is-compared-after-masking",
    promise: "A repeat is compared after masking.",
    needs: facts,
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      const record = fact("k", "reach me at ana@example.org", { id: context.unique("id") });
      const first = await store.upsert(scope, record);
      assert.deepEqual(await store.upsert(scope, record), first);
      assert.deepEqual(await store.upsert(scope, { ...record, value: "reach me at ben@example.org" }), first);
      assert.equal((await store.history(scope, "k")).length, 1);
    },
  },
  {
    id: "profile/concurrent-repeats-are-one-write",
    promise: "The same write issued several times at once lands once, and every call answers the same.",
    needs: lineages,
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      await store.supersede(scope, fact("k", 0, { validFrom: context.clock.now() - 2 * DAY }));
      const record = fact("k", 1, { id: context.unique("id"), validFrom: context.clock.now() - DAY });
      const answers = await Promise.all(upTo(5).map(() => store.supersede(scope, record)));
      for (const answer of answers) assert.deepEqual(answer, answers[0]);
      assert.equal(answers[0]?.superseded?.value, 0);
      assert.equal((await store.history(scope, "k")).length, 2);
    },
  },
  {
    id: "profile/older-repeat-is-a-new-version",
    promise: "A repeat of anything older than the newest version is a new version, whose id becomes `<id>@<version>`.",
    needs: lineages,
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      const one = fact("k", "tea", { id: "note" });
      await store.supersede(scope, one);
      context.clock.advance(HOUR);
      await store.supersede(scope, fact("k", "coffee"));
      context.clock.advance(HOUR);
      const again = await store.supersede(scope, one);
      assert.equal(again.record.id, "note@3");
      assert.equal(again.record.version, 3);
      assert.equal(again.superseded?.value, "coffee");
      assert.equal(again.superseded?.supersededBy, "note@3");
      assert.deepEqual(await store.profile(scope, "k"), again.record);
    },
  },
  {
    id: "profile/id-taken-in-the-key",
    promise: "Within a key an id that other content has becomes `<id>@<version>`, and what comes back carries it.",
    needs: facts,
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      await store.upsert(scope, fact("k", 1, { id: "note" }));
      const second = await store.upsert(scope, fact("k", 2, { id: "note" }));
      const third = await store.upsert(scope, fact("k", 3, { id: "note" }));
      assert.equal(second.id, "note@2");
      assert.equal(third.id, "note@3");
      const history = await store.history(scope, "k");
      assert.deepEqual(
        history.map((one) => [one.id, one.supersededBy]),
        [
          ["note", "note@2"],
          ["note@2", "note@3"],
          ["note@3", undefined],
        ],
      );
    },
  },
  {
    id: "profile/read-changed-and-written-again",
    promise:
      "A fact can be read, changed and written again any number of times: an id that was renamed gets the new number, and names its record where an id is taken.",
    needs: facts,
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      const id = "n".repeat(256);
      let held = await store.upsert(scope, fact("k", 0, { id }));
      for (let value = 1; value <= 20; value += 1) held = await store.upsert(scope, { ...held, value });
      assert.equal(held.id, `${id}@21`);
      assert.deepEqual(await store.upsert(scope, held), held, "the repeat of a renamed write is a new version");
      if (!context.capabilities.supersession) return;
      const other = await store.supersede(scope, fact("k", "other", about("else")));
      const settled = await store.supersede(scope, fact("k", "both", about("else")), { resolves: [held.id] });
      assert.equal(settled.resolution, "supersede");
      assert.equal((await store.profile(scope, "k"))?.value, "both");
      assert.notEqual(other.contradiction, null);
    },
  },
  {
    id: "profile/repeat-of-a-renamed-write",
    promise:
      "A repeat of a write whose id had to be told apart is recognised, and answers with the id that it was given.",
    needs: facts,
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      await store.upsert(scope, fact("k", 1, { id: "note" }));
      const second = await store.upsert(scope, fact("k", 2, { id: "note" }));
      assert.deepEqual(await store.upsert(scope, fact("k", 2, { id: "note" })), second);
      assert.equal((await store.history(scope, "k")).length, 2);
    },
  },
  {
    id: "profile/id-held-by-another-key",
    promise: "An id that another key of the scope and kind holds is a `MemoryConflictError`, and nothing is written.",
    needs: facts,
    async run(context) {
      const store = await context.open();
      const scope = context.scope({ userId: "u" });
      await store.upsert(scope, fact("k", 1, { id: "note" }));
      await context.rejects(store.upsert(scope, fact("other", 1, { id: "note" })), "MEMORY_CONFLICT", { id: "note" });
      assert.deepEqual(await store.history(scope, "other"), []);
      for (const elsewhere of [context.scope({ userId: "v" }), context.scope(), context.foreign({ userId: "u" })]) {
        assert.equal((await store.upsert(elsewhere, fact("other", 1, { id: "note" }))).id, "note");
      }
    },
  },
  {
    id: "profile/id-raced-for-by-two-keys",
    promise:
      "Of concurrent writes of one id to several keys of a scope exactly one lands; the others are `MemoryConflictError`s.",
    needs: facts,
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      const settled = await Promise.allSettled(
        upTo(5).map((n) => store.upsert(scope, fact(`k${n}`, n, { id: "note" }))),
      );
      const lost = settled.filter((one) => one.status === "rejected");
      assert.equal(lost.length, 4);
      for (const { reason } of lost) assert.ok(isMemoryError(reason, "MEMORY_CONFLICT"), String(reason));
      assert.equal((await store.history(scope)).length, 1);
    },
  },
  {
    id: "profile/a-plan-ends-with-its-key",
    promise:
      "A write that was planned on a version of a key is planned again if the key was erased meanwhile, though it may have a version of that number again.",
    needs: { ...facts, erasure: true },
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      const { profile } = driverOf(store);
      assert.ok(profile);
      const call: DriverCall = { now: 1_000, signal: new AbortController().signal, attempt: 1, budgetMs: 1_000 };
      const asked = { scope, key: "k", id: undefined, at: undefined, before: undefined };
      await store.upsert(scope, fact("k", "one"));
      const { open, token } = await profile.heads(asked, call);
      const base = open[0]?.newest.record;
      assert.ok(base);
      const record: StoredRecord = { ...base, id: "late", version: 2, value: '"late"' };
      const settles: readonly number[] = [];
      const plan = { scope, key: "k", base: 1, baseToken: token, record, lineage: 1, head: 1, settles, token: "late" };
      await store.erase(scope);
      await store.upsert(scope, fact("k", "two"));
      assert.equal(
        await profile.commit(plan, call),
        false,
        "another version of the same number was taken for the base",
      );
      assert.deepEqual(
        (await store.history(scope, "k")).map(({ value }) => value),
        ["two"],
      );
      const renewed = await profile.heads(asked, call);
      assert.equal(await profile.commit({ ...plan, baseToken: renewed.token }, call), true);
      assert.equal((await store.history(scope, "k")).length, 2);
    },
  },
];

const decay: readonly ConformanceCase[] = [
  {
    id: "profile/decay-is-weighed-before-contradictions",
    promise: "Decay is weighed before contradictions are judged: a faded fact does not contradict a fresh one.",
    needs: lineages,
    async run(context) {
      const scope = context.scope();
      const store = await context.open({ decay: new HalfLife({ halfLifeMs: DAY, floor: 0.05 }) });
      const now = context.clock.now();
      const old = await store.supersede(scope, fact("k", "old", { ...about("a"), validFrom: now - 30 * DAY }));
      const fresh = await store.supersede(scope, fact("k", "fresh", { ...about("b"), validFrom: now }));
      assert.equal(fresh.resolution, "branch", "a decayed lineage is still open");
      assert.deepEqual(await store.profile(scope, "k"), fresh.record);
      assert.deepEqual(await store.belief(scope, "k"), {
        scope,
        key: "k",
        record: fresh.record,
        weight: 1,
        contradiction: null,
        decayed: [old.record],
      });
      await context.rejects(store.upsert(scope, fact("k", "c")), "MEMORY_CONTRADICTION");
    },
  },
  {
    id: "profile/decay-never-deletes",
    promise:
      "A fact of weight 0 is not recalled, but is listed among the decayed and in the history; another policy recalls it again.",
    needs: facts,
    async run(context) {
      const scope = context.scope();
      const store = await context.open({ decay: new ConfidenceFloor({ minimum: 0.5 }) });
      const record = await store.upsert(scope, fact("k", "rumour", { confidence: 0.2 }));
      assert.equal(await store.profile(scope, "k"), null);
      const belief = await store.belief(scope, "k");
      assert.deepEqual(belief, { scope, key: "k", record: null, weight: 0, contradiction: null, decayed: [record] });
      assert.deepEqual((await store.beliefs(scope)).beliefs, [belief]);
      assert.deepEqual(await store.history(scope, "k"), [record]);
      const plain = await context.open();
      assert.deepEqual(await plain.profile(scope, "k"), record);
    },
  },
  {
    id: "profile/decay-is-weighed-at-as-of",
    promise: "Decay is weighed at `asOf`, by the age since `validFrom`.",
    needs: timed,
    async run(context) {
      const scope = context.scope();
      const store = await context.open({ decay: new HalfLife({ halfLifeMs: DAY, floor: 0.2 }) });
      const from = context.clock.now() - 10 * DAY;
      const record = await store.upsert(scope, fact("k", 1, { validFrom: from }));
      const weights = await Promise.all(
        [0, 1, 2, 3].map(async (days) => (await store.belief(scope, "k", { asOf: from + days * DAY })).weight),
      );
      assert.deepEqual(weights, [1, 0.5, 0.25, 0]);
      assert.deepEqual((await store.belief(scope, "k", { asOf: from + 3 * DAY })).decayed, [record]);
      assert.deepEqual((await store.belief(scope, "k")).decayed, [record]);
    },
  },
  {
    id: "profile/a-custom-decay-policy-is-asked",
    promise:
      "A `DecayPolicy` of the caller's own is asked with the live record and `asOf`; what it answers is kept within 0..1.",
    needs: timed,
    async run(context) {
      const scope = context.scope();
      const asked: [JsonValue, number][] = [];
      const answers: Record<string, number> = { half: 0.5, high: 7, low: -3 };
      const store = await context.open({
        decay: {
          weigh(record, at) {
            asked.push([record.value, at]);
            return answers[String(record.value)] ?? 1;
          },
        },
      });
      const asOf = context.clock.now();
      for (const name of Object.keys(answers)) await store.upsert(scope, fact(name, name));
      asked.length = 0;
      assert.equal((await store.belief(scope, "half", { asOf })).weight, 0.5);
      assert.ok(asked.length > 0 && asked.every(([value, at]) => value === "half" && at === asOf));
      assert.equal((await store.belief(scope, "high", { asOf })).weight, 1);
      assert.equal((await store.belief(scope, "low", { asOf })).record, null);
    },
  },
];

const policies: readonly ConformanceCase[] = [
  {
    id: "profile/policy-rejects",
    promise:
      "Where the policy rejects, the write is a `MemoryContradictionError` with the records it contradicts, and nothing is written.",
    needs: lineages,
    async run(context) {
      const scope = context.scope();
      const store = await context.open({ contradictions: { judge: () => "reject" } });
      const first = await store.supersede(scope, fact("k", 1));
      assert.equal(first.resolution, "started", "a new key has nothing to judge");
      const error = await context.rejects(store.supersede(scope, fact("k", 2)), "MEMORY_CONTRADICTION", { key: "k" });
      assert.deepEqual(error.records, [first.record]);
      assert.deepEqual(await store.history(scope, "k"), [first.record]);
    },
  },
  {
    id: "profile/policy-gives-a-verdict",
    promise:
      "A policy that gives something else than a verdict is a `MemorySettingsError`, what it throws reaches the caller, and nothing is written.",
    needs: lineages,
    async run(context) {
      const scope = context.scope();
      const own = new Error("the policy's own fault");
      const first = await (await context.open()).supersede(scope, fact("k", 1));
      for (const verdict of [undefined, null, true, "keep", "Reject", Promise.resolve("reject")]) {
        const store = await context.open({ contradictions: { judge: () => untyped(verdict) } });
        const setting = "contradictions";
        await context.rejects(store.supersede(scope, fact("k", 2)), "MEMORY_SETTINGS", { setting });
      }
      const judge = () => {
        throw own;
      };
      const store = await context.open({ contradictions: { judge } });
      // By identity, in a function: an error of Jest's own realm is no error to node:assert.
      await assert.rejects(store.supersede(scope, fact("k", 2)), (error) => error === own);
      assert.deepEqual(await store.history(scope, "k"), [first.record]);
    },
  },
  {
    id: "profile/reject-beats-supersede-beats-branch",
    promise: "Of the policy's verdicts on the open lineages `reject` beats `supersede` beats `branch`.",
    needs: lineages,
    async run(context) {
      const scope = context.scope();
      const plain = await context.open();
      for (const key of ["rejected", "superseded"]) {
        for (const subject of ["a", "b", "c"]) await plain.supersede(scope, fact(key, subject, about(subject)));
      }
      const judged = async (key: string, verdicts: Readonly<Record<string, "supersede" | "branch" | "reject">>) => {
        const store = await context.open({
          contradictions: { judge: (_incoming, newest) => verdicts[newest.subject ?? ""] ?? "branch" },
        });
        return store.supersede(scope, fact(key, "new", about("d")));
      };
      const error = await context.rejects(
        judged("rejected", { a: "supersede", b: "branch", c: "reject" }),
        "MEMORY_CONTRADICTION",
      );
      assert.deepEqual(
        error.records.map((one) => one.value),
        ["c"],
        "those that it disagrees with",
      );
      assert.equal((await plain.history(scope, "rejected")).length, 3);
      const answer = await judged("superseded", { a: "branch", b: "supersede", c: "branch" });
      assert.equal(answer.resolution, "supersede");
      assert.equal(answer.superseded?.value, "b");
      assert.deepEqual(await holds(plain, scope, "superseded"), ["a", "new", "c"]);
    },
  },
  {
    id: "profile/supersedes-several-lineages",
    promise:
      "Where several lineages would be superseded the lowest-numbered one continues and the others end for good at the new `validFrom`.",
    needs: timedLineages,
    async run(context) {
      const scope = context.scope();
      const plain = await context.open();
      const { a, b, now } = await contradicted(context, plain, scope, "k");
      const c = await plain.supersede(scope, fact("k", "c", { ...about("c"), validFrom: now - 6 * DAY }));
      const sweeping = await context.open({
        contradictions: { judge: (_incoming, newest) => (newest.subject === "a" ? "branch" : "supersede") },
      });
      const merged = await sweeping.supersede(scope, fact("k", "bc", { ...about("bc"), validFrom: now - 3 * DAY }));
      const ended = { validTo: now - 3 * DAY, supersededBy: merged.record.id };
      assert.deepEqual(merged.superseded, { ...b, ...ended });
      assert.deepEqual(merged.contradiction?.holds, [a, merged.record], "it stands where the second lineage stood");
      assert.deepEqual(await plain.history(scope, "k"), [
        a,
        { ...b, ...ended },
        { ...c.record, ...ended },
        merged.record,
      ]);
      assert.deepEqual(await holds(plain, scope, "k", now - 4 * DAY), ["a", "b", "c"]);
      const again = await plain.supersede(scope, fact("k", "c2", about("c")));
      assert.equal(again.resolution, "branch", "the third lineage has ended for good");
      assert.deepEqual(await holds(plain, scope, "k"), ["a", "bc", "c2"]);
    },
  },
  {
    id: "profile/policy-is-asked-about-every-open-lineage",
    promise:
      "The policy is asked about each open lineage, lapsed and future-dated ones too, by its newest version, and about no settled one.",
    needs: lineages,
    async run(context) {
      const scope = context.scope();
      const asked: [JsonValue, JsonValue][] = [];
      const store = await context.open({
        contradictions: {
          judge(incoming, newest) {
            asked.push([incoming.value, newest.value]);
            return "branch";
          },
        },
      });
      const now = context.clock.now();
      await store.supersede(scope, fact("k", "lapsed", { validFrom: now - 9 * DAY, validTo: now - 8 * DAY }));
      await store.supersede(scope, fact("k", "future", { validFrom: now + 9 * DAY }));
      const settled = await store.supersede(scope, fact("k", "settled", { validFrom: now - 5 * DAY }));
      await store.supersede(scope, fact("k", "live", { validFrom: now - 4 * DAY }), { resolves: [settled.record.id] });
      asked.length = 0;
      await store.supersede(scope, fact("k", "new"));
      assert.deepEqual([...asked].sort(), [
        ["new", "future"],
        ["new", "lapsed"],
        ["new", "live"],
      ]);
    },
  },
];

/** The promises about profile writes and keyed profile reads. */
export const profileCases: readonly ConformanceCase[] = [
  ...startAndRead,
  ...live,
  ...clocks,
  ...supersession,
  ...settling,
  ...expectations,
  ...repeats,
  ...policies,
  ...decay,
];
