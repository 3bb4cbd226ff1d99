// Every JSON value comes back as it went in, in every store; what is not JSON is refused with its place. Stated once for
// each kind, because each keeps its values in another way.

import assert from "node:assert/strict";
import type { JsonValue } from "@memory/core";
import { about } from "../about.ts";
import type { ConformanceCase } from "../case.ts";
import { KINDS, kindAccess, needsKind, record } from "../kinds.ts";
import { untyped } from "../untyped.ts";

const HOSTILE_VALUES: readonly JsonValue[] = [
  null,
  true,
  false,
  0,
  1,
  -1,
  0.1,
  -1.5e-7,
  2 ** 53 - 1,
  -(2 ** 53 - 1),
  1e-308,
  5e-324,
  1.7976931348623157e308,
  1e21,
  "",
  " ",
  "null",
  "[]",
  "\\u0000",
  "line\nfeed \t \r \b \f \u007f \u2028 \u2029",
  "quotes \" ' ` \\ / $1 :a ? %s",
  "\u0000",
  "a\u0000b",
  "\ud800",
  "\udc00\ud800",
  "a\ud83d",
  "é e\u0301 ﬀ 😀 👩‍👩‍👧",
  "x".repeat(70_000),
  [],
  {},
  [[]],
  [{}],
  { a: [] },
  { a: {} },
  [null, [null], { a: null }],
  { "": { "": [""] } },
  { "a.b": 1, $ne: 1, "*": 2, "'": 3, "\u0000": 4, "\ud800": 5 },
  JSON.parse('{"__proto__":{"x":1},"constructor":{"prototype":null},"toString":1,"hasOwnProperty":false,"length":2}'),
  JSON.parse('[{"__proto__":null},{"__proto__":[]}]'),
  { z: 1, y: 2, a: 3, Z: 4 },
  { toJSON: "a name like another" },
  Array.from({ length: 10_000 }, (_, index) => index),
];

function nested(depth: number, inner: JsonValue, wrap: (value: JsonValue) => JsonValue): JsonValue {
  let value = inner;
  for (let level = 0; level < depth; level++) value = wrap(value);
  return value;
}

const cyclic = () => {
  const value: { self?: unknown } = {};
  value.self = value;
  return value;
};

class Point {
  readonly x: number = 1;
}

const NOT_JSON: readonly (readonly [what: string, make: () => unknown, path: string])[] = [
  ["undefined", () => undefined, "value"],
  ["an undefined member", () => ({ a: undefined }), "value.a"],
  ["an undefined element", () => [1, undefined], "value.1"],
  // biome-ignore lint/suspicious/noSparseArray: the hole is what is refused
  ["a hole", () => [1, , 3], "value.1"],
  ["NaN", () => Number.NaN, "value"],
  ["Infinity deep inside", () => ({ a: [{ b: Number.POSITIVE_INFINITY }] }), "value.a.0.b"],
  ["-Infinity", () => [Number.NEGATIVE_INFINITY], "value.0"],
  ["a BigInt", () => ({ n: 1n }), "value.n"],
  ["a Date", () => ({ at: new Date(0) }), "value.at"],
  ["a Map", () => new Map([["a", 1]]), "value"],
  ["a Set", () => [new Set([1])], "value.0"],
  ["a function", () => ({ f: () => 1 }), "value.f"],
  ["a symbol", () => ({ s: Symbol("s") }), "value.s"],
  ["a member named by a symbol", () => ({ [Symbol("s")]: 1 }), "value"],
  ["a class instance", () => ({ p: new Point() }), "value.p"],
  ["an error", () => new Error("e"), "value"],
  ["a regular expression", () => [/a/], "value.0"],
  ["a boxed number", () => Object(1), "value"],
  ["a typed array", () => new Uint8Array(2), "value"],
  ["a buffer", () => ({ b: Buffer.from("b") }), "value.b"],
  ["a promise", () => Promise.resolve(1), "value"],
  ["an accessor", () => Object.defineProperty({}, "a", { enumerable: true, get: () => 1 }), "value.a"],
  ["an array with a named property", () => ({ a: Object.assign([1], { named: 2 }) }), "value.a"],
  ["a cycle", cyclic, "value.self"],
  ["nesting beyond 1,000", () => nested(1_001, 1, (value) => [value]), "value.0"],
  ["members nested beyond 1,000", () => nested(1_001, 1, (value) => ({ a: value })), "value.a"],
];

function same(actual: JsonValue | undefined, expected: JsonValue, what: string): void {
  // As text first: `deepEqual` alone would miss the order of members and own `__proto__` ones.
  assert.equal(JSON.stringify(actual), JSON.stringify(expected), what);
  assert.deepEqual(actual, expected, what);
}

const perKind: readonly ConformanceCase[] = KINDS.flatMap((kind): readonly ConformanceCase[] => [
  {
    id: `json/${kind}-values-come-back`,
    promise: `Every JSON value comes back from ${kind} memory as it went in: \`__proto__\` members, NUL and lone surrogates in texts, 2^53-1, 1e-308, empty names, member order.`,
    needs: needsKind(kind),
    async run(context) {
      const store = await context.open();
      const { put, get } = kindAccess(context, kind);
      await Promise.all(
        HOSTILE_VALUES.map(async (value, index) => {
          const written = await put(store, context.scope(), record(`k${index}`, value));
          same(written.value, value, `the answer of the write, value ${index}`);
        }),
      );
      for (const [index, value] of HOSTILE_VALUES.entries()) {
        const found = await get(store, context.scope(), `k${index}`);
        same(found?.value, value, `value ${index}`);
        assert.equal(found?.redacted, undefined, `value ${index} was masked`);
      }
    },
  },
  {
    id: `json/${kind}-nesting-comes-back`,
    promise: `${kind[0]?.toUpperCase()}${kind.slice(1)} values may nest to 1,000.`,
    needs: needsKind(kind),
    async run(context) {
      const store = await context.open();
      const { put, get } = kindAccess(context, kind);
      const values = [nested(1_000, 1, (value) => [value]), nested(1_000, 1, (value) => ({ a: value }))];
      for (const [index, value] of values.entries()) {
        await put(store, context.scope(), record(`k${index}`, value));
        const found = await get(store, context.scope(), `k${index}`);
        assert.equal(JSON.stringify(found?.value), JSON.stringify(value));
      }
    },
  },
  {
    id: `json/${kind}-negative-zero-is-zero`,
    promise: `\`-0\` is stored as \`0\` in ${kind} memory, at any depth, and the write says so.`,
    needs: needsKind(kind),
    async run(context) {
      const store = await context.open();
      const { put, get } = kindAccess(context, kind);
      const input = { ...record("k", { a: [-0] }), confidence: -0, metadata: { a: -0 } };
      const written = await put(store, context.scope(), input);
      for (const one of [written, await get(store, context.scope(), "k")]) {
        assert.deepEqual([one?.value, one?.confidence, one?.metadata?.["a"]], [{ a: [0] }, 0, 0]);
      }
    },
  },
  {
    id: `json/${kind}-refuses-what-is-not-json`,
    promise: `What is not JSON is refused by ${kind} writes with a \`MemoryRecordError\` that names the path; it is never coerced, never dropped, and nothing is stored.`,
    needs: needsKind(kind),
    async run(context) {
      const store = await context.open();
      const { put, list } = kindAccess(context, kind);
      for (const [what, make, path] of NOT_JSON) {
        const write = put(store, context.scope(), { ...record("k"), value: untyped(make()) });
        const error = await context.rejects(write, "MEMORY_RECORD").catch(about(what));
        assert.ok(error.path.startsWith(path), `${what}: the path is ${error.path.slice(0, 100)}`);
      }
      assert.deepEqual(await list(store, context.scope()), []);
    },
  },
]);

/** Cases about values. */
export const jsonCases: readonly ConformanceCase[] = [
  {
    id: "json/shared-parts-are-no-cycle",
    promise: "A value may hold the same object several times; only a cycle is refused.",
    needs: {},
    async run(context) {
      const store = await context.open();
      const part = { a: 1 };
      for (const kind of KINDS.filter((one) => context.capabilities[one])) {
        const { put, get } = kindAccess(context, kind);
        await put(store, context.scope(), record("k", [part, part, { part }]));
        assert.deepEqual((await get(store, context.scope(), "k"))?.value, [{ a: 1 }, { a: 1 }, { part: { a: 1 } }]);
      }
    },
  },
  {
    id: "json/shared-parts-are-measured",
    promise:
      "A value of few objects that would be endless when written out is a `MemoryLimitError` at once, and nothing is stored.",
    needs: {},
    async run(context) {
      const store = await context.open({ maxValueBytes: 10_000 });
      let value: JsonValue = "x";
      for (let depth = 0; depth < 900; depth += 1) value = depth % 2 === 0 ? [value, value] : { a: value, b: value };
      for (const kind of KINDS.filter((one) => context.capabilities[one])) {
        const { put, list } = kindAccess(context, kind);
        const limit = { what: "value", limit: 10_000 };
        await context.rejects(put(store, context.scope(), record("k", value)), "MEMORY_LIMIT", limit);
        assert.deepEqual(await list(store, context.scope()), []);
      }
    },
  },
  {
    id: "json/elements-come-back",
    promise: "Every JSON value comes back from a working sequence as it was appended.",
    needs: { working: true },
    async run(context) {
      const store = await context.open();
      for (const value of HOSTILE_VALUES) await store.append(context.scope(), "k", value);
      const found = await store.read(context.scope(), "k");
      assert.ok(Array.isArray(found?.value));
      for (const [index, value] of HOSTILE_VALUES.entries()) same(found.value[index], value, `element ${index}`);
      assert.equal(found.value.length, HOSTILE_VALUES.length);
    },
  },
  {
    id: "json/elements-must-be-json",
    promise: "An appended element that is not JSON is a `MemoryRecordError` that names the path, and nothing is added.",
    needs: { working: true },
    async run(context) {
      const store = await context.open();
      for (const [what, make, path] of NOT_JSON) {
        const append = store.append(context.scope(), "k", untyped(make()));
        const error = await context.rejects(append, "MEMORY_RECORD").catch(about(what));
        assert.ok(error.path.startsWith(path), `${what}: the path is ${error.path.slice(0, 100)}`);
      }
      assert.equal(await store.read(context.scope(), "k"), null);
    },
  },
  ...perKind,
];
