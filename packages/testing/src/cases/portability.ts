// The promises about taking memory along: an export holds everything under a scope as JSON lines can hold it, and an import
// writes it elsewhere as it was. The other place is another tenant of the same servers, so that one target is enough.

import assert from "node:assert/strict";
import {
  exportScope,
  importRecords,
  type JsonValue,
  type MemoryExport,
  type MemoryRecord,
  type MemoryScope,
  type MemoryStore,
} from "@memory/core";
import type { ConformanceCase } from "../case.ts";
import type { CaseContext } from "../context.ts";
import { fill, kindsOf, readable, sumOf, totalOf } from "../holdings.ts";
import { KINDS, kindAccess, record, refused } from "../kinds.ts";
import { untyped } from "../untyped.ts";

const DAY = 86_400_000;

const portable = { reach: true } as const;
const facts = { reach: true, profile: true } as const;
const lineages = { reach: true, profile: true, supersession: true } as const;

async function exported(store: MemoryStore, scope: MemoryScope): Promise<readonly MemoryExport[]> {
  const lines: MemoryExport[] = [];
  for await (const line of exportScope(store, scope)) lines.push(line);
  return lines;
}

/** The lines as they are read from a file of JSON lines, for the other tenant. */
function carried(context: CaseContext, lines: readonly MemoryExport[]): readonly MemoryExport[] {
  return lines.map((line) => {
    const { tenantId: _, ...parts } = line.record.scope;
    return untyped(JSON.parse(JSON.stringify({ ...line, record: { ...line.record, scope: context.foreign(parts) } })));
  });
}

/** Without the tenant, to compare the two. */
const homeless = (lines: readonly MemoryExport[]): readonly unknown[] =>
  lines.map((line) => ({ ...line, record: { ...line.record, scope: { ...line.record.scope, tenantId: "" } } }));

/** Exports a scope, imports it as the other tenant's, and asserts that what is there then is equal. */
async function move(context: CaseContext, from: MemoryStore, to: MemoryStore = from): Promise<readonly MemoryExport[]> {
  const lines = await exported(from, context.scope());
  await importRecords(to, carried(context, lines));
  assert.deepEqual(homeless(await exported(to, context.foreign())), homeless(lines));
  return lines;
}

/** The promises about export and import. */
export const portabilityCases: readonly ConformanceCase[] = [
  {
    id: "portability/export-is-everything-under-the-scope",
    promise: "`exportScope` gives everything under a scope, all kinds and versions, and nothing beyond it.",
    needs: portable,
    async run(context) {
      const store = await context.open();
      const user = context.scope({ userId: "u" });
      const held = sumOf(
        await fill(context, store, user, "k1"),
        await fill(context, store, user, "k2"),
        await fill(context, store, context.scope({ userId: "u", sessionId: "s", agent: "x" }), "k1"),
      );
      for (const outside of [context.scope(), context.scope({ userId: "u1" }), context.foreign({ userId: "u" })]) {
        await fill(context, store, outside, "k");
      }
      const lines = await exported(store, user);
      assert.equal(lines.length, totalOf(held));
      for (const kind of kindsOf(context.capabilities)) {
        assert.equal(lines.filter((line) => line.record.kind === kind).length, held[kind], kind);
      }
      for (const line of lines) assert.equal(line.record.scope.userId, "u");
      assert.deepEqual(JSON.parse(JSON.stringify(lines)), lines, "JSON lines can hold it");
      assert.deepEqual(await exported(store, context.scope({ userId: "nobody" })), []);
    },
    async refusal(context) {
      const store = await context.open();
      await refused(context, store, exported(store, context.scope()));
    },
  },
  {
    id: "portability/round-trip",
    promise: "What is imported elsewhere is exported from there equal, with id, version, instants and redaction marks.",
    needs: portable,
    async run(context) {
      const store = await context.open();
      const now = context.clock.now();
      const values: readonly JsonValue[] = [
        "mail ana@example.org",
        { list: [1, { deep: "key sk-abcdefghijklmnopqrstuvwxyz123456" }], text: "\u0000\uD800" },
        JSON.parse('{"__proto__":{"a":1},"":[]}'),
        [9007199254740991, 1e-308, null, true],
      ];
      for (const kind of kindsOf(context.capabilities)) {
        const { put } = kindAccess(context, kind);
        for (const [index, value] of values.entries()) {
          const scope = context.scope(index % 2 === 0 ? { userId: "u" } : { userId: "u", sessionId: "s" });
          await put(store, scope, {
            ...record(`${kind}${index}`, value),
            confidence: 0.5,
            validFrom: now - DAY - index,
            validTo: now + DAY,
            subject: "Ana",
            predicate: ["p", "q"],
            metadata: { contact: "ben@example.org", n: index, ok: true },
          });
        }
        await fill(context, store, context.scope(), "filled", [kind]);
      }
      context.clock.advance(DAY);
      const lines = await move(context, store, await context.open());
      const sample = lines.find((line) => line.record.value === "mail [redacted]");
      assert.deepEqual(sample?.record.redacted, ["value", "metadata.contact"]);
    },
  },
  {
    id: "portability/import-again",
    promise: "An import that is run again passes over what is there: nothing is doubled.",
    needs: portable,
    async run(context) {
      const store = await context.open();
      const held = sumOf(
        await fill(context, store, context.scope({ userId: "u" }), "k1"),
        await fill(context, store, context.scope({ userId: "u" }), "k2"),
      );
      const lines = carried(context, await exported(store, context.scope()));
      await importRecords(store, lines.slice(0, Math.ceil(lines.length / 2)));
      await importRecords(store, lines);
      await importRecords(store, lines);
      assert.deepEqual(await readable(context, store, context.foreign({ userId: "u" })), held);
      assert.deepEqual(await exported(store, context.foreign()), lines);
    },
  },
  {
    id: "portability/takes-an-async-iterable",
    promise: "An import takes what an export gives, as a stream.",
    needs: portable,
    async run(context) {
      const store = await context.open();
      const held = await fill(context, store, context.scope(), "k");
      async function* relocated(): AsyncGenerator<MemoryExport> {
        for await (const line of exportScope(store, context.scope())) yield* carried(context, [line]);
      }
      await importRecords(store, relocated());
      assert.deepEqual(await readable(context, store, context.foreign()), held);
    },
  },
  {
    id: "portability/lineages",
    promise: "Lineages, back-dated versions and decisions arrive as they were: every instant is answered as before.",
    needs: lineages,
    async run(context) {
      const store = await context.open();
      const scope = context.scope({ userId: "u" });
      const now = context.clock.now();
      const write = async (value: string, subject: string, days: number, resolves: readonly string[] = []) => {
        const answer = await store.supersede(
          scope,
          {
            ...record("k", value),
            subject,
            validFrom: now - days * DAY,
            ...(value === "b1" ? { validTo: now - 2 * DAY } : {}),
          },
          { resolves },
        );
        context.clock.advance(1_000);
        return answer.record;
      };
      await write("a1", "a", 10);
      const b = await write("b1", "b", 9);
      await write("a2", "a", 12);
      await write("c1", "c", 8);
      await write("c2", "c", 5, [b.id]);
      await write("a3", "a", -3);
      await move(context, store);
      const there = context.foreign({ userId: "u" });
      const values = (records: readonly MemoryRecord[] | undefined) => records?.map((one) => one.value) ?? null;
      for (const days of [13, 12, 11, 10, 9, 8, 6, 5, 3, 2, 0, -3]) {
        const at = context.capabilities.asOf ? { asOf: now - days * DAY } : {};
        const [here, moved] = await Promise.all([store.belief(scope, "k", at), store.belief(there, "k", at)]);
        assert.deepEqual(
          [moved.record?.value, moved.record?.validTo, values(moved.contradiction?.holds)],
          [here.record?.value, here.record?.validTo, values(here.contradiction?.holds)],
          `${days} days ago`,
        );
      }
      const next = await store.supersede(there, { ...record("k", "b2"), subject: "b" });
      assert.equal(next.resolution, "branch", "what was settled stays settled");
      assert.equal(next.record.version, 7);
    },
  },
  {
    id: "portability/known-at",
    promise: "What was known when arrives as it was: `recordedAt` is carried along.",
    needs: { reach: true, profile: true, knownAt: true },
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      const t1 = context.clock.now();
      await store.upsert(scope, record("k", "first"));
      context.clock.advance(DAY);
      await store.upsert(scope, record("k", "second"));
      context.clock.advance(DAY);
      await move(context, store);
      const there = context.foreign();
      assert.equal((await store.profile(there, "k", { knownAt: t1 }))?.value, "first");
      assert.equal(await store.profile(there, "k", { knownAt: t1 - 1 }), null);
      assert.equal((await store.profile(there, "k"))?.value, "second");
    },
  },
  {
    id: "portability/renamed-ids",
    promise: "Ids that the store had to tell apart keep the names that it gave them.",
    needs: facts,
    async run(context) {
      const store = await context.open();
      for (const n of [1, 2, 3]) await store.upsert(context.scope(), { ...record("k", n), id: "note" });
      await move(context, store);
      assert.deepEqual(
        (await store.history(context.foreign(), "k")).map((one) => one.id),
        ["note", "note@2", "note@3"],
      );
    },
  },
  {
    id: "portability/version-that-is-taken",
    promise:
      "An imported version whose number other content holds is a `MemoryConflictError`, and nothing is overwritten.",
    needs: facts,
    async run(context) {
      const store = await context.open();
      await store.upsert(context.scope(), record("k", "here"));
      await store.upsert(context.foreign(), record("k", "there"));
      const lines = carried(context, await exported(store, context.scope()));
      await context.rejects(importRecords(store, lines), "MEMORY_CONFLICT", { key: "k" });
      assert.deepEqual(
        (await store.history(context.foreign(), "k")).map((one) => one.value),
        ["there"],
      );
    },
  },
  {
    id: "portability/sequences-and-expiry",
    promise: "A working sequence arrives as one that can be continued, and a key keeps the time that it still had.",
    needs: { reach: true, working: true },
    hooks: ["elapse"],
    async run(context) {
      const store = await context.open();
      const scope = context.scope({ sessionId: "s" });
      for (const value of ["a", "b", "ana@example.org"]) await store.append(scope, "turns", value);
      await store.write(scope, record("expiring"));
      await store.expire(scope, "expiring", { ttlMs: 60_000 });
      const lines = await exported(store, scope);
      const left = lines.find((line) => line.record.key === "expiring")?.expiresInMs ?? 0;
      assert.ok(left > 0 && left <= 60_000);
      await importRecords(store, carried(context, lines));
      const there = context.foreign({ sessionId: "s" });
      assert.equal(await store.append(there, "turns", "d"), 4);
      assert.deepEqual((await store.read(there, "turns"))?.value, ["a", "b", "[redacted]", "d"]);
      assert.notEqual(await store.read(there, "expiring"), null);
      await context.elapse(61_000);
      assert.equal(await store.read(there, "expiring"), null);
      assert.notEqual(await store.read(there, "turns"), null);
    },
  },
  {
    id: "portability/sequences-beyond-a-value",
    promise:
      "A sequence that appends made larger, and nested deeper, than one value may be, arrives; each element is measured.",
    needs: { reach: true, working: true },
    async run(context) {
      const store = await context.open({ maxValueBytes: 3_000 });
      for (let count = 0; count < 20; count += 1) await store.append(context.scope(), "turns", "x y ".repeat(100));
      let deep: JsonValue = ["ana@example.org"];
      for (let depth = 1; depth < 1_000; depth += 1) deep = [deep];
      await store.append(context.scope(), "turns", deep);
      const lines = await move(context, store);
      const narrow = await context.open({ maxValueBytes: 300 });
      await context.rejects(importRecords(narrow, carried(context, lines)), "MEMORY_LIMIT", { limit: 300 });
    },
  },
  {
    id: "portability/impossible-lineages",
    promise:
      "A version that settles its own lineage, one that is settled or one that is not there is a `MemoryConflictError`; what is no list of lineages is a `MemoryRecordError`; and nothing of it is written.",
    needs: lineages,
    async run(context) {
      const store = await context.open();
      for (const [value, subject] of [
        [1, "a"],
        [2, "b"],
      ] as const) {
        await store.supersede(context.scope(), { ...record("k", value), subject });
      }
      const [first, second] = carried(context, await exported(store, context.scope()));
      assert.ok(first !== undefined && second !== undefined);
      const settling = (line: MemoryExport, settles: unknown): MemoryExport => untyped({ ...line, settles });
      for (const settles of [null, "1", 1, [0], [1.5], ["1"]]) {
        await context.rejects(importRecords(store, [settling(first, settles)]), "MEMORY_RECORD");
      }
      for (const settles of [[1], [2], [9]]) {
        await context.rejects(importRecords(store, [settling(first, settles)]), "MEMORY_CONFLICT");
      }
      await context.rejects(importRecords(store, untyped(7)), "MEMORY_RECORD", { path: "records" });
      assert.deepEqual(await store.history(context.foreign()), []);
      await importRecords(store, [first]);
      await context.rejects(importRecords(store, [settling(second, [2])]), "MEMORY_CONFLICT");
      await importRecords(store, [settling(second, [1])]);
      const again: MemoryExport = { ...second, lineage: 3, record: { ...second.record, id: "third", version: 3 } };
      await context.rejects(importRecords(store, [settling(again, [1])]), "MEMORY_CONFLICT");
      assert.equal((await store.history(context.foreign(), "k")).length, 2);
    },
  },
  {
    id: "portability/import-is-checked",
    promise:
      "An import is checked as every write is: a line that is malformed, or of a kind the store lacks, is refused.",
    needs: portable,
    async run(context) {
      const store = await context.open();
      await fill(context, store, context.scope(), "k");
      const [line] = carried(context, await exported(store, context.scope()));
      assert.ok(line !== undefined);
      const broken = (change: object): MemoryExport => untyped({ ...line, record: { ...line.record, ...change } });
      await context.rejects(importRecords(store, [broken({ kind: "dream" })]), "MEMORY_RECORD");
      await context.rejects(importRecords(store, [broken({ confidence: 2 })]), "MEMORY_RECORD");
      await context.rejects(importRecords(store, [broken({ unheard: 1 })]), "MEMORY_RECORD");
      await context.rejects(importRecords(store, [broken({ scope: { tenantId: "" } })]), "MEMORY_SCOPE");
      await context.rejects(importRecords(store, [untyped(null)]), "MEMORY_RECORD");
      for (const kind of KINDS) {
        if (context.capabilities[kind]) continue;
        await context.rejects(importRecords(store, [broken({ kind, embedding: undefined })]), "MEMORY_CAPABILITY");
      }
      assert.deepEqual(await readable(context, store, context.foreign()), {});
    },
  },
];
