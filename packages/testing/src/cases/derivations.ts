// The promises about what was built from records and is kept elsewhere: it is registered, listed, and purged with them;
// an index that cannot be reached leaves the erasure partial, and running it again finishes it and counts nothing twice.

import assert from "node:assert/strict";
import type { DerivedIndex, DerivedInput, MemoryKind, MemoryScope, MemoryStore } from "@memory/core";
import type { ConformanceCase } from "../case.ts";
import type { CaseContext } from "../context.ts";
import { fill, kindsOf, readable, totalOf } from "../holdings.ts";
import { kindAccess, record } from "../kinds.ts";
import { untyped } from "../untyped.ts";

const erasing = { erasure: true } as const;
const narrowing = { erasure: true, erasureNarrowing: true } as const;

const upTo = (n: number): readonly number[] => Array.from({ length: n }, (_, index) => index + 1);

/** A derived index that keeps note of what it is asked to purge, and can be out of reach. */
class NotedIndex implements DerivedIndex {
  readonly name: string;
  readonly purged: { readonly scope: MemoryScope; readonly artefactIds: readonly string[] }[] = [];
  isReachable = true;

  constructor(name: string) {
    this.name = name;
  }

  async purge(scope: MemoryScope, artefactIds: readonly string[]): Promise<void> {
    this.purged.push({ scope, artefactIds });
    if (!this.isReachable) throw new Error("out of reach");
  }

  /** Every id that it was asked to purge, in order. */
  get ids(): readonly string[] {
    return this.purged.flatMap((one) => one.artefactIds).toSorted();
  }
}

/** A registration whose source is of a kind that the store holds. */
function artefact(
  context: CaseContext,
  artefactId: string,
  adapter = "vectors",
  rest: Partial<DerivedInput> = {},
): DerivedInput {
  return { artefactId, adapter, sourceKind: sourceKind(context), sourceId: "source", ...rest };
}

function sourceKind(context: CaseContext): MemoryKind {
  return kindsOf(context.capabilities)[0] ?? "working";
}

const listed = async (store: MemoryStore, scope: MemoryScope) =>
  (await store.derivations(scope)).derivations.map((one) => `${one.adapter}/${one.artefactId}`);

/** Writes a record of the kind and gives its id. */
async function source(context: CaseContext, store: MemoryStore, scope: MemoryScope, kind: MemoryKind, key: string) {
  return (await kindAccess(context, kind).put(store, scope, record(key))).id;
}

const registering: readonly ConformanceCase[] = [
  {
    id: "derivations/registered-and-listed",
    promise:
      "`derived` registers an artefact; `derivations` lists what is registered, by adapter and artefact, in UTF-8 byte order.",
    needs: erasing,
    async run(context) {
      const store = await context.open();
      const scope = context.scope({ userId: "u" });
      await store.derived(scope, artefact(context, "\u{1F600}", "b"));
      await store.derived(scope, artefact(context, "a", "b", { mixes: true, sourceId: "s2" }));
      await store.derived(scope, artefact(context, "a", "b", { sourceId: "s1" }));
      await store.derived(scope, artefact(context, "\uFF5E", "b"));
      await store.derived(scope, artefact(context, "z", "B"));
      await store.derived(context.scope(), artefact(context, "elsewhere"));
      await store.derived(context.foreign({ userId: "u" }), artefact(context, "foreign"));
      const one = (adapter: string, artefactId: string, rest: object = {}) => ({
        scope,
        artefactId,
        sourceKind: sourceKind(context),
        sourceId: "source",
        adapter,
        mixes: false,
        ...rest,
      });
      assert.deepEqual(await store.derivations(scope), {
        derivations: [
          one("B", "z"),
          one("b", "a", { sourceId: "s1" }),
          one("b", "a", { sourceId: "s2", mixes: true }),
          one("b", "\uFF5E"),
          one("b", "\u{1F600}"),
        ],
        cursor: null,
      });
    },
  },
  {
    id: "derivations/registering-again-replaces",
    promise: "The same registration again replaces the first: it is listed once, with the newest `mixes`.",
    needs: erasing,
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      await Promise.all(upTo(4).map(() => store.derived(scope, artefact(context, "a"))));
      await store.derived(scope, artefact(context, "a", "vectors", { mixes: true }));
      const { derivations } = await store.derivations(scope);
      assert.deepEqual(
        derivations.map((one) => [one.artefactId, one.mixes]),
        [["a", true]],
      );
    },
  },
  {
    id: "derivations/pages",
    promise: "Pages of derivations give every one exactly once, under `reach` those of every contained scope.",
    needs: { erasure: true, reach: true },
    async run(context) {
      const store = await context.open();
      const user = context.scope({ userId: "u" });
      const session = context.scope({ userId: "u", sessionId: "s" });
      for (const n of upTo(6)) {
        await store.derived(user, artefact(context, `a${n}`));
        await store.derived(session, artefact(context, `a${n}`));
      }
      await store.derived(context.scope(), artefact(context, "above"));
      const found: string[] = [];
      let cursor: string | undefined;
      do {
        const page = await store.derivations(user, {
          reach: "under",
          limit: 5,
          ...(cursor === undefined ? {} : { cursor }),
        });
        assert.ok(page.derivations.length <= 5);
        found.push(...page.derivations.map((one) => `${one.artefactId} ${one.scope.sessionId ?? ""}`));
        cursor = page.cursor ?? undefined;
      } while (cursor !== undefined && found.length <= 12);
      assert.deepEqual(
        found,
        upTo(6).flatMap((n) => [`a${n} `, `a${n} s`]),
      );
      assert.equal((await listed(store, user)).length, 6);
    },
  },
  {
    id: "derivations/refuses-what-is-malformed",
    promise:
      "A registration with a part that is missing, unknown, blank or of a wrong type is refused, and none is made.",
    needs: erasing,
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      const { adapter: _, ...lacking } = artefact(context, "a");
      const bad: readonly unknown[] = [
        undefined,
        null,
        lacking,
        { ...artefact(context, "a"), unheard: 1 },
        { ...artefact(context, "a"), artefactId: " " },
        { ...artefact(context, "a"), artefactId: "a\u0000" },
        { ...artefact(context, "a"), sourceKind: "dream" },
        { ...artefact(context, "a"), mixes: "yes" },
      ];
      for (const input of bad) await context.rejects(store.derived(scope, untyped(input)), "MEMORY_RECORD");
      assert.deepEqual((await store.derivations(scope)).derivations, []);
    },
  },
];

const purging: readonly ConformanceCase[] = [
  {
    id: "derivations/purged-with-the-scope",
    promise:
      "An erasure has each derived index purge the artefacts of each scope, counts them, and leaves no registration.",
    needs: erasing,
    async run(context) {
      const vectors = new NotedIndex("vectors");
      const cache = new NotedIndex("cache");
      const idle = new NotedIndex("idle");
      const store = await context.open({ derivedIndices: [vectors, cache, idle] });
      const user = context.scope({ userId: "u" });
      const session = context.scope({ userId: "u", sessionId: "s" });
      const held = await fill(context, store, user, "k");
      await store.derived(user, artefact(context, "v1"));
      await store.derived(user, artefact(context, "v1", "vectors", { sourceId: "another" }));
      await store.derived(user, artefact(context, "v2"));
      await store.derived(session, artefact(context, "v3"));
      await store.derived(user, artefact(context, "c1", "cache"));
      await store.derived(context.scope(), artefact(context, "kept"));
      const receipt = await store.erase(user);
      assert.deepEqual(receipt, {
        counts: held,
        records: totalOf(held),
        artefacts: 4,
        sharedArtefacts: 0,
        adapters: ["cache", "vectors"],
        outstanding: [],
        completedAt: context.clock.now(),
        complete: true,
        dryRun: false,
      });
      const asked = vectors.purged.map((one) => [one.scope, one.artefactIds.toSorted()] as const);
      assert.equal(asked.length, 2);
      assert.deepEqual(
        asked.find(([scope]) => scope.sessionId === undefined),
        [user, ["v1", "v2"]],
      );
      assert.deepEqual(
        asked.find(([scope]) => scope.sessionId === "s"),
        [session, ["v3"]],
      );
      assert.deepEqual(cache.purged, [{ scope: user, artefactIds: ["c1"] }]);
      assert.deepEqual(idle.purged, []);
      assert.deepEqual(await listed(store, user), []);
      assert.deepEqual(await listed(store, session), []);
      assert.deepEqual(await listed(store, context.scope()), ["vectors/kept"]);
    },
  },
  {
    id: "derivations/second-run-purges-nothing",
    promise: "Once an erasure is complete a second run purges and counts nothing.",
    needs: erasing,
    async run(context) {
      const vectors = new NotedIndex("vectors");
      const store = await context.open({ derivedIndices: [vectors] });
      const scope = context.scope();
      await store.derived(scope, artefact(context, "v1"));
      assert.equal((await store.erase(scope)).artefacts, 1);
      const again = await store.erase(scope);
      assert.deepEqual([again.artefacts, again.adapters, vectors.purged.length], [0, [], 1]);
      await store.derived(scope, artefact(context, "v1"));
      assert.deepEqual(await listed(store, scope), ["vectors/v1"], "a registration after the erasure is kept");
      assert.equal((await store.erase(scope)).artefacts, 1);
    },
  },
  {
    id: "derivations/many-artefacts",
    promise: "A derived index is asked for at most 1,000 artefacts a time, and for every one.",
    needs: erasing,
    async run(context) {
      const vectors = new NotedIndex("vectors");
      const store = await context.open({ derivedIndices: [vectors] });
      const scope = context.scope();
      const ids = upTo(1_030).map((n) => `v${String(n).padStart(4, "0")}`);
      for (let from = 0; from < ids.length; from += 50) {
        await Promise.all(ids.slice(from, from + 50).map((id) => store.derived(scope, artefact(context, id))));
      }
      const receipt = await store.erase(scope);
      assert.equal(receipt.artefacts, ids.length);
      assert.ok(vectors.purged.every((one) => one.artefactIds.length <= 1_000));
      assert.deepEqual(vectors.ids, ids);
    },
  },
  {
    id: "derivations/tenants-share-none",
    promise:
      "Tenants share no artefact: one that another tenant registered under the same id is purged here and stays there.",
    needs: erasing,
    async run(context) {
      const vectors = new NotedIndex("vectors");
      const store = await context.open({ derivedIndices: [vectors] });
      await store.derived(context.scope(), artefact(context, "same"));
      await store.derived(context.foreign(), artefact(context, "same"));
      const receipt = await store.erase(context.scope());
      assert.deepEqual([receipt.artefacts, receipt.sharedArtefacts], [1, 0]);
      assert.deepEqual(vectors.purged, [{ scope: context.scope(), artefactIds: ["same"] }]);
      assert.deepEqual(await listed(store, context.foreign()), ["vectors/same"]);
    },
  },
  {
    id: "derivations/shared-is-kept",
    promise:
      "An artefact that another scope of the tenant also registered is kept and counted as shared, until the last one is erased.",
    needs: erasing,
    async run(context) {
      const vectors = new NotedIndex("vectors");
      const store = await context.open({ derivedIndices: [vectors] });
      const [ana, ben] = [context.scope({ userId: "ana" }), context.scope({ userId: "ben" })];
      await store.derived(ana, artefact(context, "shared"));
      await store.derived(ben, artefact(context, "shared"));
      await store.derived(ana, artefact(context, "own"));
      await store.derived(ben, artefact(context, "own", "other"));
      const first = await store.erase(ana);
      assert.deepEqual([first.artefacts, first.sharedArtefacts, first.complete], [1, 1, true]);
      assert.deepEqual(vectors.ids, ["own"]);
      assert.deepEqual(await listed(store, ana), []);
      assert.deepEqual(await listed(store, ben), ["other/own", "vectors/shared"]);
      const otherIndex = new NotedIndex("other");
      const both = await context.open({ derivedIndices: [vectors, otherIndex] });
      const second = await both.erase(ben);
      assert.deepEqual([second.artefacts, second.sharedArtefacts], [2, 0]);
      assert.deepEqual(vectors.ids, ["own", "shared"]);
    },
  },
  {
    id: "derivations/shared-within-the-erasure",
    promise:
      "Scopes that are erased together keep nothing for each other: what they share is purged, and counted once.",
    needs: erasing,
    async run(context) {
      const vectors = new NotedIndex("vectors");
      const store = await context.open({ derivedIndices: [vectors] });
      await store.derived(context.scope({ userId: "ana" }), artefact(context, "shared"));
      await store.derived(context.scope({ userId: "ben" }), artefact(context, "shared"));
      const receipt = await store.erase(context.scope());
      assert.deepEqual([receipt.artefacts, receipt.sharedArtefacts], [1, 0]);
      assert.deepEqual([...new Set(vectors.ids)], ["shared"]);
    },
  },
  {
    id: "derivations/mixing-is-not-kept",
    promise:
      "An artefact that mixes the content of several scopes is purged with the first of them, whoever else registered it.",
    needs: erasing,
    async run(context) {
      const vectors = new NotedIndex("vectors");
      const store = await context.open({ derivedIndices: [vectors] });
      const [ana, ben] = [context.scope({ userId: "ana" }), context.scope({ userId: "ben" })];
      await store.derived(ana, artefact(context, "both", "vectors", { mixes: true }));
      await store.derived(ben, artefact(context, "both", "vectors", { mixes: true }));
      await store.derived(ana, artefact(context, "one"));
      await store.derived(ben, artefact(context, "one", "vectors", { mixes: true }));
      const receipt = await store.erase(ana);
      assert.deepEqual([receipt.artefacts, receipt.sharedArtefacts], [2, 0]);
      assert.deepEqual(vectors.ids, ["both", "one"]);
    },
  },
  {
    id: "derivations/narrowed-to-kinds",
    promise: "An erasure of some kinds purges what was built from records of those kinds, and no other.",
    needs: narrowing,
    async run(context) {
      const vectors = new NotedIndex("vectors");
      const store = await context.open({ derivedIndices: [vectors] });
      const scope = context.scope();
      const kinds = kindsOf(context.capabilities);
      for (const kind of kinds) {
        const sourceId = await source(context, store, scope, kind, "k");
        await store.derived(scope, artefact(context, `of-${kind}`, "vectors", { sourceKind: kind, sourceId }));
      }
      for (const [index, kind] of kinds.entries()) {
        const forecast = await store.erase(scope, { kinds: [kind], dryRun: true });
        assert.equal(forecast.artefacts, 1);
        assert.equal((await store.erase(scope, { kinds: [kind] })).artefacts, 1);
        assert.deepEqual(vectors.purged[index], { scope, artefactIds: [`of-${kind}`] });
        assert.equal((await listed(store, scope)).length, kinds.length - index - 1);
      }
    },
  },
  {
    id: "derivations/narrowed-to-keys",
    promise: "An erasure of some keys purges what was built from the records that it erased, and no other.",
    needs: narrowing,
    async run(context) {
      const vectors = new NotedIndex("vectors");
      const store = await context.open({ derivedIndices: [vectors] });
      const scope = context.scope();
      for (const kind of kindsOf(context.capabilities)) {
        for (const key of ["k1", "k2"]) {
          const sourceId = await source(context, store, scope, kind, key);
          await store.derived(scope, artefact(context, `${kind}-${key}`, "vectors", { sourceKind: kind, sourceId }));
        }
      }
      const kinds = kindsOf(context.capabilities);
      assert.equal((await store.erase(scope, { keys: ["k1"], dryRun: true })).artefacts, kinds.length);
      assert.equal((await store.erase(scope, { keys: ["k1"] })).artefacts, kinds.length);
      assert.deepEqual(vectors.ids, kinds.map((kind) => `${kind}-k1`).toSorted());
      assert.equal((await listed(store, scope)).length, kinds.length);
    },
  },
  {
    id: "derivations/narrowed-to-keys-every-version",
    promise: "What was built from an older version of an erased key is purged with it.",
    needs: { erasure: true, erasureNarrowing: true, profile: true },
    async run(context) {
      const vectors = new NotedIndex("vectors");
      const store = await context.open({ derivedIndices: [vectors] });
      const scope = context.scope();
      for (const n of upTo(3)) {
        const { id } = await store.upsert(scope, record("k", n));
        await store.derived(scope, artefact(context, `v${n}`, "vectors", { sourceKind: "profile", sourceId: id }));
      }
      assert.equal((await store.erase(scope, { keys: ["k"] })).artefacts, 3);
      assert.deepEqual(vectors.ids, ["v1", "v2", "v3"]);
    },
  },
  {
    id: "derivations/dry-run-counts-artefacts",
    promise:
      "A dry run counts the artefacts that would be purged and those that would be kept, and asks no index for anything.",
    needs: narrowing,
    async run(context) {
      const vectors = new NotedIndex("vectors");
      const store = await context.open({ derivedIndices: [vectors] });
      const [ana, ben] = [context.scope({ userId: "ana" }), context.scope({ userId: "ben" })];
      await store.derived(ana, artefact(context, "own"));
      await store.derived(ana, artefact(context, "shared"));
      await store.derived(ben, artefact(context, "shared"));
      await store.derived(ana, artefact(context, "mixed"));
      await store.derived(ben, artefact(context, "mixed", "vectors", { mixes: true }));
      const forecast = await store.erase(ana, { dryRun: true });
      assert.deepEqual([forecast.artefacts, forecast.sharedArtefacts, forecast.complete], [2, 1, false]);
      assert.deepEqual(vectors.purged, []);
      assert.equal((await listed(store, ana)).length, 3);
      const receipt = await store.erase(ana);
      assert.deepEqual([receipt.artefacts, receipt.sharedArtefacts], [2, 1]);
    },
  },
];

const outOfReach: readonly ConformanceCase[] = [
  {
    id: "derivations/unreachable-index",
    promise:
      "A derived index that cannot be reached is a `PartialErasureError` after all others were done; the records stay unreadable.",
    needs: erasing,
    async run(context) {
      const indices = ["a", "b", "c"].map((name) => new NotedIndex(name));
      const store = await context.open({ derivedIndices: indices });
      const scope = context.scope({ userId: "u" });
      const held = await fill(context, store, scope, "k");
      for (const { name } of indices) await store.derived(scope, artefact(context, `of-${name}`, name));
      for (const index of indices.slice(0, 2)) index.isReachable = false;
      const error = await context.rejects(store.erase(scope), "PARTIAL_ERASURE", { adapter: "a" });
      assert.deepEqual(error.receipt, {
        counts: held,
        records: totalOf(held),
        artefacts: 1,
        sharedArtefacts: 0,
        adapters: ["a", "b", "c"],
        outstanding: ["a", "b"],
        completedAt: null,
        complete: false,
        dryRun: false,
      });
      assert.deepEqual(indices[2]?.ids, ["of-c"]);
      assert.deepEqual(await readable(context, store, scope), {});
      assert.deepEqual(await listed(store, scope), [], "what is condemned is no longer listed");
    },
  },
  {
    id: "derivations/resumes-and-counts-once",
    promise: "Running a partial erasure again resumes it: what is left is purged, and nothing is counted twice.",
    needs: erasing,
    async run(context) {
      const [near, far] = [new NotedIndex("near"), new NotedIndex("far")];
      const store = await context.open({ derivedIndices: [near, far] });
      const scope = context.scope({ userId: "u" });
      const held = await fill(context, store, scope, "k");
      await store.derived(scope, artefact(context, "n1", "near"));
      await store.derived(scope, artefact(context, "f1", "far"));
      await store.derived(scope, artefact(context, "f2", "far"));
      far.isReachable = false;
      const first = await context.rejects(store.erase(scope), "PARTIAL_ERASURE", { adapter: "far" });
      const second = await context.rejects(store.erase(scope), "PARTIAL_ERASURE", { adapter: "far" });
      assert.deepEqual(first.receipt.counts, held);
      assert.deepEqual(second.receipt.counts, {});
      assert.deepEqual([first.receipt.artefacts, second.receipt.artefacts], [1, 0]);
      far.isReachable = true;
      const other = await context.open({ derivedIndices: [near, far] });
      const last = await other.erase(scope);
      assert.deepEqual([last.counts, last.artefacts, last.adapters, last.complete], [{}, 2, ["far"], true]);
      assert.deepEqual(near.ids, ["n1"], "the index that was done is not asked again");
      assert.equal((await other.erase(scope)).artefacts, 0);
    },
  },
  {
    id: "derivations/resumes-from-above",
    promise: "An erasure of a scope that contains a partly erased one finishes that too.",
    needs: erasing,
    async run(context) {
      const far = new NotedIndex("far");
      const store = await context.open({ derivedIndices: [far] });
      const session = context.scope({ userId: "u", sessionId: "s" });
      await fill(context, store, session, "k");
      await store.derived(session, artefact(context, "f1", "far"));
      far.isReachable = false;
      await context.rejects(store.erase(session), "PARTIAL_ERASURE");
      far.isReachable = true;
      const receipt = await store.erase(context.scope({ userId: "u" }));
      assert.deepEqual([receipt.artefacts, receipt.records, receipt.complete], [1, 0, true]);
    },
  },
  {
    id: "derivations/resumes-only-its-own",
    promise: "An erasure of another scope leaves a partial one as it is, to be resumed by running that again.",
    needs: erasing,
    async run(context) {
      const far = new NotedIndex("far");
      const store = await context.open({ derivedIndices: [far] });
      const [ana, ben] = [context.scope({ userId: "ana" }), context.scope({ userId: "ben" })];
      await store.derived(ana, artefact(context, "of-ana", "far"));
      await store.derived(ben, artefact(context, "of-ben", "far"));
      far.isReachable = false;
      await context.rejects(store.erase(ana), "PARTIAL_ERASURE");
      far.isReachable = true;
      far.purged.length = 0;
      const other = await store.erase(ben);
      assert.deepEqual([other.artefacts, other.complete, far.ids], [1, true, ["of-ben"]]);
      const resumed = await store.erase(ana);
      assert.deepEqual([resumed.artefacts, resumed.complete, far.ids], [1, true, ["of-ana", "of-ben"]]);
    },
  },
  {
    id: "derivations/index-that-is-not-configured",
    promise:
      "A derived index that is not configured is a `PartialErasureError`; a store that has it finishes the erasure.",
    needs: erasing,
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      const held = await fill(context, store, scope, "k");
      await store.derived(scope, artefact(context, "g1", "ghost"));
      const error = await context.rejects(store.erase(scope), "PARTIAL_ERASURE", { adapter: "ghost" });
      assert.deepEqual(error.receipt.counts, held);
      assert.deepEqual(
        [error.receipt.artefacts, error.receipt.outstanding, error.receipt.complete],
        [0, ["ghost"], false],
      );
      assert.deepEqual(await readable(context, store, scope), {});
      const ghost = new NotedIndex("ghost");
      const configured = await context.open({ derivedIndices: [ghost] });
      const receipt = await configured.erase(scope);
      assert.deepEqual([receipt.records, receipt.artefacts, receipt.complete], [0, 1, true]);
      assert.deepEqual(ghost.purged, [{ scope, artefactIds: ["g1"] }]);
    },
  },
  {
    id: "derivations/writes-while-partial-are-kept",
    promise:
      "What is written and registered after a partial erasure is there, and goes with the next erasure of the scope, which also resumes the first.",
    needs: erasing,
    async run(context) {
      const far = new NotedIndex("far");
      const store = await context.open({ derivedIndices: [far] });
      const scope = context.scope();
      await fill(context, store, scope, "k");
      await store.derived(scope, artefact(context, "f1", "far"));
      far.isReachable = false;
      await context.rejects(store.erase(scope), "PARTIAL_ERASURE");
      const held = await fill(context, store, scope, "k");
      await store.derived(scope, artefact(context, "f2", "far"));
      assert.deepEqual(await readable(context, store, scope), held);
      assert.deepEqual(await listed(store, scope), ["far/f2"]);
      far.isReachable = true;
      const receipt = await store.erase(scope);
      assert.deepEqual([receipt.counts, receipt.artefacts, receipt.complete], [held, 2, true]);
    },
  },
  {
    id: "derivations/registering-again-withdraws-the-sentence",
    promise:
      "An artefact that is registered again after a partial erasure is listed again, and purged by the next erasure.",
    needs: erasing,
    async run(context) {
      const far = new NotedIndex("far");
      const store = await context.open({ derivedIndices: [far] });
      const scope = context.scope();
      await store.derived(scope, artefact(context, "f1", "far"));
      far.isReachable = false;
      await context.rejects(store.erase(scope), "PARTIAL_ERASURE");
      await store.derived(scope, artefact(context, "f1", "far"));
      assert.deepEqual(await listed(store, scope), ["far/f1"]);
      far.isReachable = true;
      assert.equal((await store.erase(scope)).artefacts, 1);
      assert.deepEqual(await listed(store, scope), []);
    },
  },
  {
    id: "derivations/silent-index",
    promise:
      "A derived index that does not answer is given up at the deadline: its signal aborts, and the erasure is partial.",
    needs: erasing,
    async run(context) {
      const attemptTimeoutMs = 5_000;
      const asked = Promise.withResolvers<AbortSignal>();
      const silent: DerivedIndex = {
        name: "silent",
        purge(_scope, _artefactIds, { signal }) {
          asked.resolve(signal);
          return new Promise(() => undefined);
        },
      };
      const store = await context.open({ derivedIndices: [silent], settings: { attemptTimeoutMs } });
      const scope = context.scope();
      await store.derived(scope, artefact(context, "s1", "silent"));
      const erasure = context.rejects(store.erase(scope), "PARTIAL_ERASURE", { adapter: "silent" });
      const unasked = erasure.then(() => assert.fail("the index was not asked to purge"));
      const signal = await Promise.race([asked.promise, unasked]);
      assert.equal(signal.aborted, false);
      context.clock.advance(attemptTimeoutMs);
      const error = await erasure;
      assert.equal(signal.aborted, true);
      assert.deepEqual([error.receipt.artefacts, error.receipt.outstanding], [0, ["silent"]]);
    },
  },
  {
    id: "derivations/the-error-tells-no-content",
    promise:
      "A `PartialErasureError` tells of counts and adapters; what the index said is not in its message, cause or JSON.",
    needs: erasing,
    async run(context) {
      const store = await context.open({
        derivedIndices: [
          {
            name: "far",
            purge: async (scope, ids) => {
              throw Object.assign(new Error(`no route for ${scope.userId} ${ids.join()}`), { detail: "secret-detail" });
            },
          },
        ],
      });
      const scope = context.scope({ userId: "secret-user" });
      await store.derived(scope, artefact(context, "secret-artefact", "far"));
      const error = await context.rejects(store.erase(scope), "PARTIAL_ERASURE");
      const told = [
        error.message,
        String(error.cause),
        JSON.stringify(error),
        JSON.stringify(error.receipt),
        error.stack,
      ];
      assert.doesNotMatch(told.join("\n"), /secret/);
    },
  },
];

/** The promises about derived artefacts. */
export const derivationsCases: readonly ConformanceCase[] = [...registering, ...purging, ...outOfReach];
