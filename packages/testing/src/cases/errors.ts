// What an error is: one class and code for each refusal, a rejection and never a throw, and not a word of content in
// anything that a log would print.

import assert from "node:assert/strict";
import { inspect } from "node:util";
import { isMemoryError, MemoryError, type MemoryScope } from "@memory/core";
import type { ConformanceCase } from "../case.ts";
import { KINDS, kindAccess, record } from "../kinds.ts";
import { offered } from "../operations.ts";
import { untyped } from "../untyped.ts";

const MARK = "unmistakable";

/** Everything that a log, a reporter or a serialiser would show of an error. */
function shown(error: unknown): string {
  const parts = [String(error), inspect(error, { depth: 10, showHidden: false }), JSON.stringify(error)];
  for (let cause = error; cause instanceof Error; cause = cause.cause) parts.push(cause.message, cause.stack ?? "");
  return parts.join("\n");
}

function assertClean(error: unknown, what: string): void {
  assert.ok(isMemoryError(error), `${what} rejected with ${String(error)}`);
  assert.ok(!shown(error).includes(MARK), `${what}: content is shown by ${error.code}`);
}

async function rejection(promise: Promise<unknown>, what: string): Promise<unknown> {
  return promise.then(
    () => assert.fail(`${what} resolved`),
    (error: unknown) => error,
  );
}

const BAD_OPTIONS: readonly (readonly [what: string, options: unknown])[] = [
  ["an unknown option", { lmit: 1 }],
  ["options of null", null],
  ["a text for options", "all"],
  ["a signal that is none", { signal: {} }],
];

const BAD_PAGES: readonly (readonly [what: string, options: unknown, path: string])[] = [
  ["a limit of 0", { limit: 0 }, "limit"],
  ["a limit of 1,001", { limit: 1_001 }, "limit"],
  ["a fractional limit", { limit: 1.5 }, "limit"],
  ["a limit of text", { limit: "10" }, "limit"],
  ["a reach that is none", { reach: "all" }, "reach"],
];

/** Cases about errors. */
export const errorCases: readonly ConformanceCase[] = [
  {
    id: "errors/refusals-are-rejections",
    promise:
      "Every refusal is a rejection of the operation's promise, never a throw, and a `MemoryError` with a stable `code`.",
    needs: {},
    async run(context) {
      const store = await context.open();
      for (const operation of offered(context).filter(({ scoped }) => scoped)) {
        const promise = operation.call(store, untyped<MemoryScope>(undefined));
        assert.ok(promise instanceof Promise, operation.name);
        const error = await rejection(promise, operation.name);
        assert.ok(error instanceof MemoryError && error instanceof Error, operation.name);
        assert.ok(isMemoryError(error) && isMemoryError(error, "MEMORY_SCOPE"), operation.name);
        assert.ok(!isMemoryError(error, "MEMORY_RECORD"));
        assert.equal(error.name, "MemoryScopeError");
      }
    },
  },
  {
    id: "errors/bad-options-are-refused",
    promise: "An unknown or malformed option is a `MemoryRecordError` at every operation, never ignored.",
    needs: {},
    async run(context) {
      const store = await context.open();
      for (const operation of offered(context)) {
        for (const [what, options] of BAD_OPTIONS) {
          // What is no object cannot be spread into the options that `expire` must have.
          if (operation.name === "expire" && (options === null || typeof options !== "object")) continue;
          const error = await rejection(
            operation.call(store, context.scope(), untyped(options)),
            `${operation.name} with ${what}`,
          );
          assert.ok(isMemoryError(error, "MEMORY_RECORD"), `${operation.name} with ${what}: ${String(error)}`);
        }
      }
    },
  },
  {
    id: "errors/bad-limits-are-refused",
    promise: "A limit outside 1 to 1,000 or an unknown reach is a `MemoryRecordError` of every list.",
    needs: {},
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      const { working, profile, episodic, semantic, erasure } = context.capabilities;
      for (const [what, options, path] of BAD_PAGES) {
        const given = () => untyped<object>(options);
        const lists: readonly (readonly [string, boolean, () => Promise<unknown>])[] = [
          ["options", working, () => store.keys(scope, given())],
          ["options", profile, () => store.beliefs(scope, given())],
          ["query", episodic, () => store.episodes(scope, given())],
          ["query", episodic, () => store.page(scope, given())],
          ["query", semantic, () => store.search(scope, { embedding: context.vector(1), ...given() })],
          ["options", erasure, () => store.derivations(scope, given())],
        ];
        for (const [place, held, list] of lists) {
          if (!held) continue;
          const error = await rejection(list(), what);
          assert.ok(isMemoryError(error, "MEMORY_RECORD"), `${what}: ${String(error)}`);
          assert.equal(error.path, `${place}.${path}`, what);
        }
      }
    },
  },
  {
    id: "errors/queries-are-checked",
    promise:
      "A query takes only what its operation uses: anything else is a `MemoryRecordError`, another kind's name a `MemoryScopeError`.",
    needs: {},
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      const { episodic, semantic } = context.capabilities;
      if (episodic) {
        await context.rejects(store.episodes(scope, { kind: "working" }), "MEMORY_SCOPE", { path: "query.kind" });
        await context.rejects(store.page(scope, { kind: "semantic" }), "MEMORY_SCOPE", { path: "query.kind" });
        await store.episodes(scope, { kind: "episodic" });
        for (const query of [
          { embedding: [1] },
          { minScore: 0 },
          { sinse: 1 },
          { since: "now" },
          { filter: { a: {} } },
          { filter: { a: ["x", null] } },
          { filter: { "a\0": 1 } },
          { filter: { a: "\ud800" } },
        ]) {
          await context.rejects(store.episodes(scope, untyped(query)), "MEMORY_RECORD");
          await context.rejects(store.page(scope, untyped(query)), "MEMORY_RECORD");
        }
        await context.rejects(store.episodes(scope, untyped(null)), "MEMORY_RECORD");
      }
      if (semantic) {
        const embedding = context.vector(1);
        await context.rejects(store.search(scope, { embedding, kind: "episodic" }), "MEMORY_SCOPE", {
          path: "query.kind",
        });
        await store.search(scope, { embedding, kind: "semantic" });
        for (const query of [{ since: 1 }, { key: "k" }, { minScore: Number.NaN }, { asOf: 1.5 }]) {
          await context.rejects(store.search(scope, untyped({ embedding, ...query })), "MEMORY_RECORD");
        }
      }
    },
  },
  {
    id: "errors/hold-no-content",
    promise: "Message, stack, cause, `util.inspect` and JSON of an error never hold a value, a key or a scope part.",
    needs: {},
    async run(context) {
      const store = await context.open({ maxValueBytes: 64 });
      const scope = context.scope({ userId: MARK });
      for (const kind of KINDS.filter((one) => context.capabilities[one])) {
        const { put } = kindAccess(context, kind);
        const failures: Readonly<Record<string, () => Promise<unknown>>> = {
          "a value that is not JSON": () =>
            put(store, scope, {
              ...record(MARK),
              value: untyped({ [MARK]: [MARK, undefined] }),
            }),
          "a value that is too large": () => put(store, scope, record(MARK, MARK.repeat(10))),
          "an unknown property": () => put(store, scope, untyped({ ...record(MARK), [MARK]: MARK })),
          "a bad key": () => put(store, scope, record(`${MARK}\0`, MARK)),
          "a bad id": () => put(store, scope, { ...record(MARK), id: `${MARK}\0` }),
          "bad metadata": () => put(store, scope, { ...record(MARK), metadata: { [MARK]: untyped({ [MARK]: MARK }) } }),
          "attributes that are too large": () => put(store, scope, { ...record(MARK), subject: MARK.repeat(2_000) }),
          "another scope": () => put(store, scope, { ...record(MARK), scope: context.foreign({ userId: MARK }) }),
          "a bad scope": () => put(store, untyped({ tenantId: MARK, [MARK]: MARK }), record(MARK)),
          "a bad scope part": () => put(store, untyped({ tenantId: MARK, userId: `${MARK}\0` }), record(MARK)),
        };
        for (const [what, failure] of Object.entries(failures)) assertClean(await rejection(failure(), what), what);
      }
      const { working, episodic, profile, semantic } = context.capabilities;
      if (working) {
        await store.append(scope, MARK, MARK);
        assertClean(
          await rejection(store.append(scope, MARK, MARK, { after: 7 }), "a moved sequence"),
          "a moved sequence",
        );
      }
      if (episodic) {
        await store.log(scope, { ...record(MARK, MARK), id: MARK });
        assertClean(await rejection(store.log(scope, { ...record(MARK, 1), id: MARK }), "a taken id"), "a taken id");
        assertClean(await rejection(store.page(scope, {}, { cursor: MARK }), "a bad cursor"), "a bad cursor");
      }
      if (profile) {
        await store.upsert(scope, { ...record(MARK, MARK), id: MARK });
        const taken = store.upsert(scope, { ...record(`${MARK}2`, MARK), id: MARK });
        assertClean(await rejection(taken, "an id of another key"), "an id of another key");
      }
      if (semantic) {
        const wide = store.search(scope, { embedding: [] });
        assertClean(await rejection(wide, "a vector of no width"), "a vector of no width");
      }
    },
  },
  {
    id: "errors/corruption-hides-its-payload",
    promise: "A `MemoryCorruptionError` carries the raw payload where no log prints it.",
    needs: { working: true },
    hooks: ["corrupt"],
    async run(context) {
      const store = await context.open();
      const scope = context.scope({ userId: MARK });
      await store.write(scope, record(MARK, MARK));
      await context.corrupt(scope, "working", MARK);
      const error = await context.rejects(store.read(scope, MARK), "MEMORY_CORRUPTION");
      assertClean(error, "corruption");
      assert.deepEqual(
        Object.keys(error).filter((name) => name === "payload" || name === "id"),
        [],
      );
    },
  },
  {
    id: "errors/details-are-not-enumerable",
    promise:
      "What a handler needs of a conflict or a contradiction (key, id, records) is on properties that no log prints.",
    needs: { profile: true, supersession: true },
    async run(context) {
      const store = await context.open();
      const scope = context.scope();
      await store.supersede(scope, { ...record(MARK, MARK), subject: MARK, predicate: ["a"] });
      const conflict = await context.rejects(
        store.supersede(scope, { ...record(MARK, 2), subject: MARK, predicate: ["a"] }, { expectedVersion: 7 }),
        "MEMORY_CONFLICT",
        { key: MARK, expectedVersion: 7, actualVersion: 1 },
      );
      assertClean(conflict, "a conflict");
      await store.supersede(scope, { ...record(MARK, MARK), subject: MARK, predicate: ["b"] });
      const contradiction = await context.rejects(store.profile(scope, MARK), "MEMORY_CONTRADICTION", { key: MARK });
      assert.equal(contradiction.records.length, 2);
      assertClean(contradiction, "a contradiction");
    },
  },
];
