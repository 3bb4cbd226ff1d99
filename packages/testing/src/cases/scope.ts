// Whose memory it is: what a scope must be, that no two meet, and how far each operation reaches.

import assert from "node:assert/strict";
import { type MemoryScope, memoryScope } from "@memory/core";
import { about } from "../about.ts";
import type { ConformanceCase } from "../case.ts";
import type { ScopeParts } from "../context.ts";
import { KINDS, kindAccess, needsKind, record, refused } from "../kinds.ts";
import { refuseMissing } from "../missing.ts";
import { offered } from "../operations.ts";
import { untyped } from "../untyped.ts";

// Parts that meet when they are joined, folded, trimmed, normalised or matched as patterns.
const HOSTILE_PARTS: readonly ScopeParts[] = [
  {},
  { userId: "a:b" },
  { userId: "a", sessionId: "b" },
  { userId: "a", agent: "b" },
  { userId: "a", sessionId: "b:c" },
  { userId: "a:b", sessionId: "c" },
  { userId: "a%3Ab" },
  { sessionId: "a:b" },
  { agent: "a:b" },
  { userId: "undefined" },
  { userId: "null" },
  { userId: "*" },
  { userId: "%" },
  { userId: "_" },
  { userId: "{}" },
  { userId: "{a}" },
  { userId: "/" },
  { userId: "\\" },
  { userId: "'\"" },
  { userId: "john_doe" },
  { userId: "john-doe" },
  { userId: "user1" },
  { userId: "user10" },
  { userId: "Ada" },
  { userId: "ada" },
  { userId: " ada" },
  { userId: "ada " },
  { userId: "\u00e5" },
  { userId: "a\u030a" },
  { userId: "😀" },
  { userId: "%F0%9F%98%80" },
  { userId: "working" },
  { userId: "line\nfeed" },
];

const perKind: readonly ConformanceCase[] = KINDS.flatMap((kind): readonly ConformanceCase[] => [
  {
    id: `scope/${kind}-keeps-tenants-apart`,
    promise: `No ${kind} read or list of one tenant sees a record of another tenant, whatever else is equal.`,
    needs: needsKind(kind),
    async run(context) {
      const store = await context.open();
      const { put, get, list } = kindAccess(context, kind);
      const parts = { userId: "u", sessionId: "s", agent: "a" };
      await put(store, context.scope(parts), record("k", "ours"));
      assert.equal(await get(store, context.foreign(parts), "k"), null);
      assert.deepEqual(await list(store, context.foreign(parts)), []);
      await put(store, context.foreign(parts), record("k", "theirs"));
      assert.equal((await get(store, context.scope(parts), "k"))?.value, "ours");
      assert.equal((await get(store, context.foreign(parts), "k"))?.value, "theirs");
    },
  },
  {
    id: `scope/${kind}-compares-parts-exactly`,
    promise: `No two scopes meet in one ${kind} key: parts are compared exactly, and every character is legal in them.`,
    needs: needsKind(kind),
    async run(context) {
      const store = await context.open();
      const { put, get, list } = kindAccess(context, kind);
      await Promise.all(HOSTILE_PARTS.map((parts, index) => put(store, context.scope(parts), record("k", index))));
      for (const [index, parts] of HOSTILE_PARTS.entries()) {
        const scope = context.scope(parts);
        const found = await get(store, scope, "k");
        assert.equal(found?.value, index, `scope ${JSON.stringify(parts)}`);
        assert.deepEqual({ ...found?.scope }, { ...scope });
        assert.equal((await list(store, scope)).length, 1, `list of ${JSON.stringify(parts)}`);
      }
    },
  },
  {
    id: `scope/${kind}-key-is-exact`,
    promise: `No two ${kind} keys meet: any character is legal in a key, and keys are compared exactly.`,
    needs: needsKind(kind),
    async run(context) {
      const store = await context.open();
      const { put, get } = kindAccess(context, kind);
      const scope = context.scope({ userId: "u" });
      const keys = [
        "a",
        "A",
        " a",
        "a ",
        "a:b",
        "a%3Ab",
        "*",
        "%",
        "_",
        "{}",
        "/",
        "\\",
        "'",
        '"',
        "😀",
        "\u00e5",
        "a\u030a",
        "a\nb",
      ];
      await Promise.all(keys.map((key, index) => put(store, scope, record(key, index))));
      for (const [index, key] of keys.entries()) {
        const found = await get(store, scope, key);
        assert.equal(found?.value, index, `key ${JSON.stringify(key)}`);
        assert.equal(found?.key, key);
      }
    },
  },
  {
    id: `scope/${kind}-reads-exactly-the-scope`,
    promise: `A ${kind} keyed read addresses exactly the scope given, neither one that it contains nor one that contains it.`,
    needs: needsKind(kind),
    async run(context) {
      const store = await context.open();
      const { put, get } = kindAccess(context, kind);
      await put(store, context.scope({ userId: "u" }), record("k"));
      assert.notEqual(await get(store, context.scope({ userId: "u" }), "k"), null);
      assert.equal(await get(store, context.scope(), "k"), null);
      assert.equal(await get(store, context.scope({ userId: "u", sessionId: "s" }), "k"), null);
      assert.equal(await get(store, context.scope({ userId: "u", agent: "a" }), "k"), null);
      assert.equal(await get(store, context.scope({ sessionId: "u" }), "k"), null);
    },
  },
  {
    id: `scope/${kind}-lists-exactly-the-scope`,
    promise: `A ${kind} list addresses exactly the scope given unless the query says otherwise.`,
    needs: needsKind(kind),
    async run(context) {
      const store = await context.open();
      const { put, list } = kindAccess(context, kind);
      await put(store, context.scope(), record("tenant"));
      await put(store, context.scope({ userId: "u" }), record("user"));
      await put(store, context.scope({ userId: "u", sessionId: "s" }), record("session"));
      const keys = async (scope: MemoryScope) => (await list(store, scope)).map(({ key }) => key);
      assert.deepEqual(await keys(context.scope()), ["tenant"]);
      assert.deepEqual(await keys(context.scope({ userId: "u" })), ["user"]);
      assert.deepEqual(await keys(context.scope({ userId: "u", sessionId: "s" })), ["session"]);
      assert.deepEqual(await keys(context.scope({ sessionId: "s" })), []);
    },
  },
  {
    id: `scope/${kind}-lists-under-the-scope`,
    promise: `With \`reach: "under"\` a ${kind} list takes every scope that the one given contains, and says which each is of.`,
    needs: needsKind(kind, "reach"),
    refusal: async (context) => {
      if (!context.capabilities[kind]) {
        await refuseMissing(context, [kind]);
        return;
      }
      const store = await context.open();
      await refused(context, store, kindAccess(context, kind).list(store, context.scope(), "under"));
    },
    async run(context) {
      const store = await context.open();
      const { put, list } = kindAccess(context, kind);
      const inside: readonly ScopeParts[] = [
        { userId: "u1" },
        { userId: "u1", agent: "a" },
        { userId: "u1", sessionId: "s1" },
        { userId: "u1", sessionId: "s2", agent: "a" },
      ];
      const outside: readonly ScopeParts[] = [
        {},
        { userId: "u10" },
        { userId: "u" },
        { sessionId: "s1" },
        { agent: "a" },
      ];
      for (const parts of [...inside, ...outside]) await put(store, context.scope(parts), record("k"));
      await put(store, context.foreign({ userId: "u1" }), record("k"));
      const names = (parts: ScopeParts) => JSON.stringify([parts.userId, parts.sessionId, parts.agent]);
      const found = await list(store, context.scope({ userId: "u1" }), "under");
      assert.deepEqual(found.map(({ scope }) => names(scope)).sort(), inside.map(names).sort());
      assert.ok(found.every(({ scope }) => scope.tenantId === context.tenant));
      const all = await list(store, context.scope(), "under");
      assert.deepEqual(all.map(({ scope }) => names(scope)).sort(), [...inside, ...outside].map(names).sort());
      const sessions = await list(store, context.scope({ sessionId: "s1" }), "under");
      assert.deepEqual(
        sessions.map(({ scope }) => names(scope)).sort(),
        [names({ sessionId: "s1" }), names({ userId: "u1", sessionId: "s1" })].sort(),
      );
      const agents = await list(store, context.scope({ agent: "a" }), "under");
      assert.equal(agents.length, 3);
    },
  },
]);

class Owner {
  readonly tenantId = "t";
  get userid(): string {
    return "u";
  }
}

const BAD_SCOPES: readonly (readonly [what: string, scope: unknown, path: string])[] = [
  ["nothing", undefined, "scope"],
  ["null", null, "scope"],
  ["a text", "acme", "scope"],
  ["a list", ["acme"], "scope"],
  ["no tenant", {}, "tenantId"],
  ["no tenant but a user", { userId: "u" }, "tenantId"],
  ["a tenant of undefined", { tenantId: undefined }, "tenantId"],
  ["a tenant of null", { tenantId: null }, "tenantId"],
  ["an empty tenant", { tenantId: "" }, "tenantId"],
  ["a blank tenant", { tenantId: " \t\n\u00a0" }, "tenantId"],
  ["a number", { tenantId: 7 }, "tenantId"],
  ["an empty user", { tenantId: "t", userId: "" }, "userId"],
  ["a blank session", { tenantId: "t", sessionId: " " }, "sessionId"],
  ["a null agent", { tenantId: "t", agent: null }, "agent"],
  ["a tenant that it inherits", Object.create({ tenantId: "t" }), "scope"],
  ["an instance of a class", new Owner(), "scope"],
  ["an unknown property", { tenantId: "t", userid: "u" }, "userid"],
  ["a NUL", { tenantId: "t", userId: "a\0b" }, "userId"],
  ["a lone high surrogate", { tenantId: "t\ud800" }, "tenantId"],
  ["a lone low surrogate", { tenantId: "t", agent: "\udc00" }, "agent"],
  ["257 bytes", { tenantId: "x".repeat(257) }, "tenantId"],
  ["257 bytes in 129 characters", { tenantId: "t", userId: `${"é".repeat(128)}x` }, "userId"],
];

/** Cases about scopes. */
export const scopeCases: readonly ConformanceCase[] = [
  {
    id: "scope/invalid-scopes-are-refused-at-every-entry-point",
    promise:
      "An invalid scope (missing or blank part, unknown property, NUL, lone surrogate, over 256 UTF-8 bytes) is a `MemoryScopeError` at every entry point.",
    needs: {},
    async run(context) {
      const store = await context.open();
      for (const operation of offered(context).filter(({ scoped }) => scoped)) {
        for (const [what, scope, path] of BAD_SCOPES) {
          const error = await context
            .rejects(operation.call(store, untyped<MemoryScope>(scope)), "MEMORY_SCOPE")
            .catch(about(`${operation.name} with ${what}`));
          assert.equal(error.path, path, `${operation.name} with ${what}`);
        }
      }
    },
  },
  {
    id: "scope/largest-parts-are-taken",
    promise: "A scope part may take 256 UTF-8 bytes, and parts of that size are told apart to the last byte.",
    needs: {},
    async run(context) {
      const store = await context.open();
      for (const kind of KINDS.filter((one) => context.capabilities[one])) {
        const { put, get } = kindAccess(context, kind);
        const large = { userId: "x".repeat(256), sessionId: "é".repeat(128), agent: "😀".repeat(64) };
        const near = { ...large, agent: `${"😀".repeat(63)}😁` };
        await put(store, context.scope(large), record("k", "large"));
        await put(store, context.scope(near), record("k", "near"));
        assert.equal((await get(store, context.scope(large), "k"))?.value, "large", kind);
        assert.equal((await get(store, context.scope(near), "k"))?.value, "near", kind);
      }
    },
  },
  {
    id: "scope/plain-objects-are-scopes",
    promise: "A scope is structurally typed: a plain object with the same parts is the same scope.",
    needs: {},
    async run(context) {
      const store = await context.open();
      for (const kind of KINDS.filter((one) => context.capabilities[one])) {
        const { put, get } = kindAccess(context, kind);
        await put(store, { tenantId: context.tenant, userId: "u" }, record("k"));
        const absent = untyped<MemoryScope>({ userId: "u", sessionId: undefined, tenantId: context.tenant });
        const found = await get(store, absent, "k");
        assert.deepEqual({ ...found?.scope }, { tenantId: context.tenant, userId: "u" }, kind);
      }
    },
  },
  {
    id: "scope/factory-validates-and-freezes",
    promise: "`memoryScope(input)` validates as the operations do and freezes; what it made may be passed again.",
    needs: {},
    async run(context) {
      for (const [what, scope, path] of BAD_SCOPES) {
        const made = Promise.resolve().then(() => memoryScope(untyped<MemoryScope>(scope)));
        assert.equal((await context.rejects(made, "MEMORY_SCOPE")).path, path, what);
      }
      const scope = memoryScope({ tenantId: context.tenant, userId: "u" });
      assert.ok(Object.isFrozen(scope));
      assert.deepEqual({ ...memoryScope(scope) }, { tenantId: context.tenant, userId: "u" });
    },
  },
  ...perKind,
];
