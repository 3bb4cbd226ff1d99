// What a record is: what it must have, what the store adds, what is refused before anything is stored, and that it comes
// back as it went in, or as corruption, but never changed and never skipped.

import assert from "node:assert/strict";
import {
  type MemoryKind,
  type MemoryRecord,
  type MemoryRecordInput,
  type MemoryStore,
  memoryRecord,
} from "@memory/core";
import { about } from "../about.ts";
import type { ConformanceCase } from "../case.ts";
import type { CaseContext } from "../context.ts";
import { KINDS, kindAccess, needsKind, record } from "../kinds.ts";
import { untyped } from "../untyped.ts";

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** Asserts that the scope holds nothing of the kind. */
async function assertNothing(context: CaseContext, store: MemoryStore, kind: MemoryKind): Promise<void> {
  assert.deepEqual(await kindAccess(context, kind).list(store, context.scope(), "exact"), [], "something was stored");
}

/** The kinds that the store holds. */
function heldKinds(context: CaseContext): readonly MemoryKind[] {
  return KINDS.filter((kind) => context.capabilities[kind]);
}

const MALFORMED: readonly (readonly [what: string, input: unknown, path: string])[] = [
  ["no record", undefined, ""],
  ["null", null, ""],
  ["a list", [], ""],
  ["no key", { value: 1, source: "s" }, "key"],
  ["a blank key", { key: "  ", value: 1, source: "s" }, "key"],
  ["a key of null", { key: null, value: 1, source: "s" }, "key"],
  ["a key with a NUL", { key: "a\0", value: 1, source: "s" }, "key"],
  ["a key with a lone surrogate", { key: "a\ud800", value: 1, source: "s" }, "key"],
  ["a key of 1,025 bytes", { key: `${"é".repeat(512)}x`, value: 1, source: "s" }, "key"],
  ["no value", { key: "k", source: "s" }, "value"],
  ["no source", { key: "k", value: 1 }, "source"],
  ["a blank source", { key: "k", value: 1, source: " " }, "source"],
  ["a source with a NUL", { key: "k", value: 1, source: "a\0" }, "source"],
  ["a blank id", { id: "", key: "k", value: 1, source: "s" }, "id"],
  ["an id of 257 bytes", { id: "x".repeat(257), key: "k", value: 1, source: "s" }, "id"],
  ["an id with a NUL", { id: "\0", key: "k", value: 1, source: "s" }, "id"],
  ["a confidence above 1", { key: "k", value: 1, source: "s", confidence: 1.01 }, "confidence"],
  ["a negative confidence", { key: "k", value: 1, source: "s", confidence: -0.01 }, "confidence"],
  ["a confidence of NaN", { key: "k", value: 1, source: "s", confidence: Number.NaN }, "confidence"],
  ["a fractional instant", { key: "k", value: 1, source: "s", validFrom: 1.5 }, "validFrom"],
  ["an ISO text for an instant", { key: "k", value: 1, source: "s", validFrom: "2026-01-01" }, "validFrom"],
  ["an invalid Date", { key: "k", value: 1, source: "s", validTo: new Date(Number.NaN) }, "validTo"],
  ["an instant beyond Date", { key: "k", value: 1, source: "s", validTo: 8.64e15 + 1 }, "validTo"],
  ["a window that ends before it begins", { key: "k", value: 1, source: "s", validFrom: 2, validTo: 1 }, "validTo"],
  ["a subject that is no text", { key: "k", value: 1, source: "s", subject: 7 }, "subject"],
  ["a subject with a NUL", { key: "k", value: 1, source: "s", subject: "\0" }, "subject"],
  ["a predicate that is no list", { key: "k", value: 1, source: "s", predicate: "p" }, "predicate"],
  ["a predicate with a lone surrogate", { key: "k", value: 1, source: "s", predicate: ["\udfff"] }, "predicate.0"],
  ["nested metadata", { key: "k", value: 1, source: "s", metadata: { a: { b: 1 } } }, "metadata"],
  ["metadata of null", { key: "k", value: 1, source: "s", metadata: { a: null } }, "metadata"],
  ["metadata of NaN", { key: "k", value: 1, source: "s", metadata: { a: Number.NaN } }, "metadata"],
  ["metadata with a NUL", { key: "k", value: 1, source: "s", metadata: { a: "\0" } }, "metadata"],
  ["a metadata name with a NUL", { key: "k", value: 1, source: "s", metadata: { "\0": 1 } }, "metadata"],
  ["an unknown property", { key: "k", value: 1, source: "s", tags: [] }, "tags"],
];

const BAD_KEYS: readonly unknown[] = ["", " ", "a\0", "\ud800", "x".repeat(1_025), 7, null, undefined];

const perKind: readonly ConformanceCase[] = KINDS.flatMap((kind): readonly ConformanceCase[] => [
  {
    id: `record/${kind}-comes-back-whole`,
    promise: `A ${kind} record comes back with everything that it was written with, and as the write answered it.`,
    needs: needsKind(kind),
    async run(context) {
      const store = await context.open();
      const { put, get } = kindAccess(context, kind);
      const from = context.clock.now() - 1_000;
      const input: MemoryRecordInput = {
        id: context.unique("id"),
        key: "preferences/sé",
        value: { seat: "window", row: [12, 1.5], nil: null },
        source: "turn 12: “quoted”",
        confidence: 0.25,
        validFrom: from,
        validTo: from + 3_600_000,
        subject: "traveller",
        predicate: ["seat", "row"],
        metadata: { text: "1", number: 1, fraction: 0.1, truth: true, "": "empty name", "a.b": "dotted" },
      };
      const written = await put(store, context.scope({ userId: "u" }), input);
      const found = await get(store, context.scope({ userId: "u" }), input.key);
      assert.deepEqual(found, written);
      const { embedding: _, scope, ...rest } = written;
      assert.deepEqual({ ...scope }, { tenantId: context.tenant, userId: "u" });
      assert.deepEqual(rest, {
        ...input,
        kind,
        recordedAt: context.clock.now(),
        ...(kind === "profile" ? { version: 1 } : {}),
      });
    },
  },
  {
    id: `record/${kind}-defaults-are-filled`,
    promise: `A ${kind} record that leaves them out gets an \`id\` (UUIDv7), a \`confidence\` of 1, its kind, its scope and its \`recordedAt\`; what is absent stays absent.`,
    needs: needsKind(kind),
    async run(context) {
      const store = await context.open();
      const { put, get } = kindAccess(context, kind);
      await put(store, context.scope(), record("k"));
      const found = await get(store, context.scope(), "k");
      assert.ok(found !== null);
      assert.match(found.id, UUID_V7);
      assert.equal(found.confidence, 1);
      assert.equal(found.kind, kind);
      assert.deepEqual({ ...found.scope }, { tenantId: context.tenant });
      assert.equal(found.recordedAt, context.clock.now());
      const filled = kind === "profile" || kind === "episodic" ? context.clock.now() : undefined;
      assert.equal(found.validFrom, filled);
      for (const name of ["validTo", "subject", "predicate", "metadata", "supersededBy", "redacted"]) {
        assert.equal(Object.hasOwn(found, name), false, `${name} is there`);
      }
      if (filled === undefined) assert.equal(Object.hasOwn(found, "validFrom"), false);
    },
  },
  {
    id: `record/${kind}-takes-dates`,
    promise: `The instants of a ${kind} record are whole milliseconds, before the epoch too; a \`Date\` is taken for one.`,
    needs: needsKind(kind),
    async run(context) {
      const store = await context.open();
      const { put, get } = kindAccess(context, kind);
      const to = context.clock.now() + 86_400_001;
      await put(store, context.scope(), { ...record("k"), validFrom: new Date(-1), validTo: new Date(to) });
      const found = await get(store, context.scope(), "k");
      assert.equal(found?.validFrom, -1);
      assert.equal(found?.validTo, to);
    },
  },
  {
    id: `record/${kind}-refuses-another-scope`,
    promise: `A ${kind} write whose record names another scope is a \`MemoryScopeError\`, and nothing is stored.`,
    needs: needsKind(kind),
    async run(context) {
      const store = await context.open();
      const { put } = kindAccess(context, kind);
      for (const scope of [context.foreign(), context.scope({ userId: "u" })]) {
        await context.rejects(put(store, context.scope(), { ...record("k"), scope }), "MEMORY_SCOPE", {
          path: "record.scope",
        });
        assert.deepEqual(await kindAccess(context, kind).list(store, scope), []);
      }
      await assertNothing(context, store, kind);
      await put(store, context.scope(), { ...record("k"), scope: { tenantId: context.tenant } });
    },
  },
  {
    id: `record/${kind}-refuses-another-kind`,
    promise: `A ${kind} write whose record names another kind is a \`MemoryScopeError\`, and nothing is stored.`,
    needs: needsKind(kind),
    async run(context) {
      const store = await context.open();
      const { put } = kindAccess(context, kind);
      for (const other of KINDS.filter((one) => one !== kind)) {
        await context.rejects(put(store, context.scope(), { ...record("k"), kind: other }), "MEMORY_SCOPE", {
          path: "record.kind",
        });
      }
      await assertNothing(context, store, kind);
      await put(store, context.scope(), { ...record("k"), kind });
    },
  },
  {
    id: `record/${kind}-refuses-what-is-malformed`,
    promise: `A malformed ${kind} record is a \`MemoryRecordError\` that names the place, unknown properties included, and nothing is stored.`,
    needs: needsKind(kind),
    async run(context) {
      const store = await context.open();
      const { put } = kindAccess(context, kind);
      for (const [what, input, path] of MALFORMED) {
        const given = isObject(input) && kind === "semantic" ? { embedding: context.vector(1), ...input } : input;
        const write = isObject(input)
          ? put(store, context.scope(), untyped(given))
          : untouched(store, kind, context, input);
        const error = await context.rejects(write, "MEMORY_RECORD").catch(about(what));
        // What is no object at all has no place to name.
        if (path === "") continue;
        assert.ok(error.path === path || error.path.startsWith(`${path}.`), `${what}: the path is ${error.path}`);
      }
      await assertNothing(context, store, kind);
    },
  },
  {
    id: `record/${kind}-measures-values`,
    promise: `A ${kind} value is measured as UTF-8 JSON bytes against \`maxValueBytes\`; a larger one is a \`MemoryLimitError\` with limit and size, and nothing is stored.`,
    needs: needsKind(kind),
    async run(context) {
      const store = await context.open({ maxValueBytes: 100 });
      assert.equal(store.capabilities.maxValueBytes, 100);
      const { put, get } = kindAccess(context, kind);
      const limit = { what: "value", limit: 100 };
      const tooLarge = (value: string, size: number) =>
        context.rejects(put(store, context.scope(), record("k", value)), "MEMORY_LIMIT", { ...limit, size });
      await tooLarge("x".repeat(99), 101);
      await tooLarge("é".repeat(50), 102);
      await tooLarge("\u0001".repeat(17), 104);
      await assertNothing(context, store, kind);
      await put(store, context.scope(), record("k", `${"é".repeat(48)}xx`));
      assert.equal((await get(store, context.scope(), "k"))?.value, `${"é".repeat(48)}xx`);
    },
  },
  {
    id: `record/${kind}-takes-the-largest-key-and-id`,
    promise: `A ${kind} key may take 1,024 UTF-8 bytes and an id 256, and both are told apart to the last byte.`,
    needs: needsKind(kind),
    async run(context) {
      const store = await context.open();
      const { put, get } = kindAccess(context, kind);
      for (const last of ["x", "y"]) {
        const key = "é".repeat(511) + last.repeat(2);
        await put(store, context.scope(), { ...record(key, last), id: `${"😀".repeat(63)}${last.repeat(4)}` });
      }
      for (const last of ["x", "y"]) {
        const found = await get(store, context.scope(), "é".repeat(511) + last.repeat(2));
        assert.equal(found?.value, last);
        assert.equal(found?.id, `${"😀".repeat(63)}${last.repeat(4)}`);
      }
    },
  },
  {
    id: `record/${kind}-is-frozen-and-copied`,
    promise: `A ${kind} record is handed out frozen, and what the caller does to its own object after the write changes nothing.`,
    needs: needsKind(kind),
    async run(context) {
      const store = await context.open();
      const { put, get } = kindAccess(context, kind);
      const value = { list: [1], mail: "ana@example.org" };
      const metadata = { a: 1 };
      const written = await put(store, context.scope(), { ...record("k", value), metadata });
      value.list.push(2);
      metadata.a = 2;
      assert.ok(Object.isFrozen(written));
      const found = await get(store, context.scope(), "k");
      assert.ok(found !== null && Object.isFrozen(found));
      for (const one of [written, found]) {
        assert.throws(() => Reflect.apply(Array.prototype.push, one.redacted, ["nothing"]), TypeError, "redacted");
        assert.throws(() => Object.assign(one.metadata ?? {}, { a: 3 }), TypeError, "metadata");
      }
      assert.deepEqual(found.value, { list: [1], mail: "[redacted]" });
      assert.deepEqual(found.metadata, { a: 1 });
    },
  },
  {
    id: `record/${kind}-ignores-what-the-store-sets`,
    promise: `A ${kind} record that was read can be written again: what the store sets is ignored on the way in.`,
    needs: needsKind(kind),
    async run(context) {
      const store = await context.open();
      const { put, get } = kindAccess(context, kind);
      await put(store, context.scope(), {
        ...record("k"),
        recordedAt: 1,
        version: 99,
        supersededBy: "nobody",
        redacted: ["nothing"],
      });
      const found = await get(store, context.scope(), "k");
      assert.equal(found?.recordedAt, context.clock.now());
      assert.equal(found?.version, kind === "profile" ? 1 : undefined);
      assert.equal(found?.supersededBy, undefined);
      assert.equal(found?.redacted, undefined);
    },
  },
  {
    id: `record/${kind}-corruption-is-raised`,
    promise: `A stored ${kind} record that no longer validates is a \`MemoryCorruptionError\` with its id and payload, from a read and from a list alike; it is never skipped.`,
    needs: needsKind(kind),
    hooks: ["corrupt"],
    async run(context) {
      const store = await context.open();
      const scope = context.scope({ userId: "u" });
      const { put } = kindAccess(context, kind);
      const written = await put(store, scope, record("bad", "secret content"));
      await put(store, scope, record("good"));
      await context.corrupt(scope, kind, "bad");
      const embedding = kind === "semantic" ? context.vector(7) : [];
      const reads: Readonly<Record<MemoryKind, readonly (() => Promise<unknown>)[]>> = {
        working: [() => store.read(scope, "bad"), () => store.read(scope, "bad", { last: 1 })],
        profile: [
          () => store.profile(scope, "bad"),
          () => store.belief(scope, "bad"),
          () => store.beliefs(scope),
          () => store.history(scope, "bad"),
          () => store.history(scope),
        ],
        episodic: [() => store.episodes(scope, { key: "bad" }), () => store.episodes(scope), () => store.page(scope)],
        semantic: [() => store.recall(scope, "bad"), () => store.search(scope, { embedding })],
      };
      for (const read of reads[kind]) {
        const error = await context.rejects(read(), "MEMORY_CORRUPTION");
        assert.ok(error.id === written.id || error.id === null, "the id is of another record");
        assert.notEqual(error.payload, undefined);
      }
      assert.equal((await kindAccess(context, kind).get(store, scope, "good"))?.value, 1);
    },
  },
]);

// U+FB00 sorts before U+1F600 by UTF-8 bytes and after it by UTF-16 units.
const BYTE_ORDER = ["A", "Z", "a", "aa", "b", "z", "é", "ﬀ", "😀"];
const SHUFFLED = ["é", "b", "😀", "aa", "Z", "ﬀ", "a", "z", "A"];

/** Cases about records. */
export const recordCases: readonly ConformanceCase[] = [
  {
    id: "record/kinds-share-no-keys",
    promise: "Kinds do not share a key space: one key, and one id, may be held once by each.",
    needs: {},
    async run(context) {
      const store = await context.open();
      const id = context.unique("id");
      for (const kind of heldKinds(context)) {
        await kindAccess(context, kind).put(store, context.scope(), { ...record("k", kind), id });
      }
      for (const kind of heldKinds(context)) {
        const found = await kindAccess(context, kind).get(store, context.scope(), "k");
        assert.equal(found?.value, kind);
        assert.equal(found?.id, id);
      }
    },
  },
  {
    id: "record/batches-have-no-holes",
    promise:
      "A batch with a hole, or with something that is no record, is a `MemoryRecordError`, and none of it is stored.",
    needs: {},
    async run(context) {
      const store = await context.open();
      const { episodic, semantic } = context.capabilities;
      const good = semantic ? { ...record("k"), embedding: context.vector(1) } : record("k");
      const holed: unknown[] = [good];
      holed[2] = good;
      for (const batch of [
        holed,
        [good, undefined],
        [good, null],
        [good, "k"],
        { 0: good, length: 1 },
        "k",
        undefined,
      ]) {
        if (episodic) await context.rejects(store.logAll(context.scope(), untyped(batch)), "MEMORY_RECORD");
        if (semantic) await context.rejects(store.indexAll(context.scope(), untyped(batch)), "MEMORY_RECORD");
      }
      for (const kind of heldKinds(context)) await assertNothing(context, store, kind);
    },
  },
  {
    id: "record/ids-of-scopes-never-collide",
    promise: "Ids of different scopes never collide, within a tenant and across tenants.",
    needs: {},
    async run(context) {
      const store = await context.open();
      const id = context.unique("id");
      const scopes = [
        context.scope(),
        context.scope({ userId: "u" }),
        context.scope({ sessionId: "u" }),
        context.foreign(),
      ];
      for (const kind of heldKinds(context)) {
        const { put, get } = kindAccess(context, kind);
        for (const [index, scope] of scopes.entries()) await put(store, scope, { ...record(`k${index}`, index), id });
        for (const [index, scope] of scopes.entries()) {
          const found = await get(store, scope, `k${index}`);
          assert.equal(found?.value, index, kind);
          assert.equal(found?.id, id, kind);
        }
      }
    },
  },
  {
    id: "record/bad-keys-are-refused-by-reads",
    promise:
      "A key that no record can have (blank, over 1,024 bytes, NUL, lone surrogate, no text) is a `MemoryRecordError` of every keyed read.",
    needs: {},
    async run(context) {
      const store = await context.open();
      const { working, profile, semantic } = context.capabilities;
      const scope = context.scope();
      const reads: readonly ((key: string) => Promise<unknown>)[] = [
        ...(working
          ? [
              (key: string) => store.read(scope, key),
              (key: string) => store.append(scope, key, 1),
              (key: string) => store.expire(scope, key, { ttlMs: 1 }),
            ]
          : []),
        ...(profile ? [(key: string) => store.profile(scope, key), (key: string) => store.belief(scope, key)] : []),
        ...(semantic ? [(key: string) => store.recall(scope, key)] : []),
      ];
      for (const read of reads) {
        for (const key of BAD_KEYS) await context.rejects(read(untyped(key)), "MEMORY_RECORD", { path: "key" });
      }
      if (working) await assertNothing(context, store, "working");
    },
  },
  {
    id: "record/attributes-are-limited",
    promise:
      "Source, subject, predicate and metadata together take at most 16 KiB as JSON; more is a `MemoryLimitError`, and nothing is stored.",
    needs: {},
    async run(context) {
      const store = await context.open();
      for (const kind of heldKinds(context)) {
        const { put, get } = kindAccess(context, kind);
        const error = await context.rejects(
          put(store, context.scope(), {
            ...record("k"),
            metadata: { a: "x".repeat(9_000) },
            subject: "y".repeat(9_000),
          }),
          "MEMORY_LIMIT",
          { what: "attributes", limit: 16_384 },
        );
        assert.ok(error.size > 16_384);
        await assertNothing(context, store, kind);
        await put(store, context.scope(), {
          ...record("k"),
          metadata: { a: "x".repeat(8_000) },
          subject: "y".repeat(8_000),
        });
        assert.equal((await get(store, context.scope(), "k"))?.subject?.length, 8_000, kind);
      }
    },
  },
  {
    id: "record/embedding-is-semantic-only",
    promise: "An embedding on a record of another kind is a `MemoryRecordError`, never dropped.",
    needs: {},
    async run(context) {
      const store = await context.open();
      for (const kind of heldKinds(context).filter((one) => one !== "semantic")) {
        const write = kindAccess(context, kind).put(store, context.scope(), { ...record("k"), embedding: [1] });
        await context.rejects(write, "MEMORY_RECORD", { path: "embedding" });
        await assertNothing(context, store, kind);
      }
    },
  },
  {
    id: "record/empty-window-is-taken",
    promise: "A window may be empty (`validTo` equal to `validFrom`): it is stored, and true at no instant.",
    needs: { profile: true },
    async run(context) {
      const store = await context.open();
      const now = context.clock.now();
      await store.upsert(context.scope(), { ...record("k"), validFrom: now, validTo: now });
      assert.equal(await store.profile(context.scope(), "k"), null);
      assert.equal((await store.history(context.scope(), "k")).length, 1);
    },
  },
  {
    id: "record/text-order-is-bytes-working",
    promise: "Working keys are listed in UTF-8 byte order.",
    needs: { working: true },
    async run(context) {
      const store = await context.open();
      for (const key of SHUFFLED) await store.write(context.scope(), record(key));
      assert.deepEqual(
        (await store.keys(context.scope())).keys.map(({ key }) => key),
        BYTE_ORDER,
      );
    },
  },
  {
    id: "record/text-order-is-bytes-profile",
    promise: "Beliefs and histories are listed by key in UTF-8 byte order.",
    needs: { profile: true },
    async run(context) {
      const store = await context.open();
      for (const key of SHUFFLED) await store.upsert(context.scope(), record(key));
      assert.deepEqual(
        (await store.beliefs(context.scope())).beliefs.map(({ key }) => key),
        BYTE_ORDER,
      );
      assert.deepEqual(
        (await store.history(context.scope())).map(({ key }) => key),
        BYTE_ORDER,
      );
    },
  },
  {
    id: "record/text-order-is-bytes-episodic",
    promise: "Episodes of one instant stand by id in UTF-8 byte order, descending.",
    needs: { episodic: true },
    async run(context) {
      const store = await context.open();
      for (const id of SHUFFLED) await store.log(context.scope(), { ...record("k"), id, validFrom: 1_000 });
      const ids = (await store.episodes(context.scope(), { limit: 100 })).map((hit) => hit.record.id);
      assert.deepEqual(ids, [...BYTE_ORDER].reverse());
    },
  },
  {
    id: "record/text-order-is-bytes-semantic",
    promise: "Search results that are equally close stand by key in UTF-8 byte order.",
    needs: { semantic: true },
    async run(context) {
      const store = await context.open();
      const embedding = context.vector(1);
      for (const key of SHUFFLED) await store.index(context.scope(), { ...record(key), embedding });
      const keys = (await store.search(context.scope(), { embedding, limit: 100 })).map((hit) => hit.record.key);
      assert.deepEqual(keys, BYTE_ORDER);
    },
  },
  {
    id: "record/text-order-is-bytes-scope",
    promise:
      "Lists over several scopes stand by scope (tenant, user, session, agent, absent parts first, UTF-8 byte order), then by key.",
    needs: { reach: true },
    async run(context) {
      const store = await context.open();
      const users = [undefined, ...BYTE_ORDER];
      for (const kind of heldKinds(context).filter((one) => one === "working" || one === "profile")) {
        const { put, list } = kindAccess(context, kind);
        for (const userId of [...SHUFFLED, undefined]) {
          const scope = userId === undefined ? context.scope() : context.scope({ userId });
          await put(store, scope, record("b"));
          await put(store, scope, record("a"));
        }
        const found = await list(store, context.scope(), "under");
        assert.deepEqual(
          found.map(({ scope, key }) => [scope.userId, key]),
          users.flatMap((userId) => [
            [userId, "a"],
            [userId, "b"],
          ]),
          kind,
        );
      }
    },
  },
  {
    id: "record/factory-validates-fills-and-freezes",
    promise:
      "`memoryRecord(input)` validates, fills `id` (UUIDv7) and `confidence` (1) and freezes; it takes no less than a scope and a kind.",
    needs: {},
    async run(context) {
      const made = memoryRecord({ ...record("k"), kind: "episodic", scope: context.scope(), validFrom: new Date(5) });
      assert.ok(Object.isFrozen(made));
      assert.match(made.id, UUID_V7);
      const { id: _, scope, ...rest } = made;
      assert.deepEqual(rest, { ...record("k"), kind: "episodic", confidence: 1, validFrom: 5 });
      assert.deepEqual({ ...scope }, { tenantId: context.tenant });
      const factory = (input: unknown) => Promise.resolve().then(() => memoryRecord(untyped(input)));
      await context.rejects(factory({ ...record("k"), kind: "episodic" }), "MEMORY_SCOPE");
      await context.rejects(factory({ ...record("k"), scope: context.scope() }), "MEMORY_RECORD", { path: "kind" });
      const semantic = { ...record("k"), kind: "semantic", scope: context.scope() };
      for (const embedding of [[Number.NaN], ["1"], [1e39], new Float32Array(2)]) {
        await context.rejects(factory({ ...semantic, embedding }), "MEMORY_RECORD");
      }
      await context.rejects(factory({ ...semantic, kind: "profile", embedding: [1] }), "MEMORY_RECORD");
      for (const [, input] of MALFORMED.filter(([, one]) => isObject(one))) {
        const whole = { kind: "episodic", scope: context.scope(), ...(isObject(input) ? input : {}) };
        await context.rejects(factory(whole), "MEMORY_RECORD");
      }
    },
  },
  ...perKind,
];

function isObject(input: unknown): input is Readonly<Record<string, unknown>> {
  return typeof input === "object" && input !== null && !Array.isArray(input);
}

// What is no object cannot go through `kindAccess`, which spreads it.
function untouched(store: MemoryStore, kind: MemoryKind, context: CaseContext, input: unknown): Promise<MemoryRecord> {
  const scope = context.scope();
  if (kind === "working") return store.write(scope, untyped(input));
  if (kind === "profile") return store.upsert(scope, untyped(input));
  return kind === "episodic" ? store.log(scope, untyped(input)) : store.index(scope, untyped(input));
}
