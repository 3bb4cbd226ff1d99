// Names in the server: injective, of one slot for one tenant, and checked.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { checkNamespace, encodePart, Names, scopeAt } from "./keys.ts";

const part = fc
  .string({ unit: "grapheme", minLength: 1, maxLength: 12 })
  .filter((text) => text.trim() !== "" && !text.includes("\0"));
const parts = {
  tenantId: part,
  userId: fc.option(part, { nil: undefined }),
  sessionId: fc.option(part, { nil: undefined }),
  agent: fc.option(part, { nil: undefined }),
};
const scopes = fc.record(parts).map(({ tenantId, ...rest }) => ({
  tenantId,
  ...Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined)),
}));

describe("Names", () => {
  const names = new Names("adk:mem");

  it("no two places meet in one name", () => {
    fc.assert(
      fc.property(scopes, part, scopes, part, (a, keyA, b, keyB) => {
        const nameOf = (scope: typeof a, key: string): string => names.of(scope).records + encodePart(key);
        const isSame = JSON.stringify([a, keyA]) === JSON.stringify([b, keyB]);
        expect(nameOf(a, keyA) === nameOf(b, keyB)).toBe(isSame);
      }),
    );
  });

  it("a place gives its scope back", () => {
    fc.assert(
      fc.property(scopes, (scope) => {
        expect(scopeAt(scope.tenantId, names.of(scope).place)).toEqual(scope);
      }),
    );
  });

  it("stand as the protocol says, hostile parts encoded", () => {
    const { records, index } = names.of({ tenantId: "a}c", userId: "u:1", agent: "%" });
    expect(records + encodePart("k:{}")).toBe("adk:mem:{a%7dc}:u%3a1::%25:working:k%3a%7b%7d");
    expect(index).toBe("adk:mem:{a%7dc}:u%3a1::%25:index");
  });
});

describe("checkNamespace", () => {
  it.each(["", "a{b}", "a b", "x".repeat(129), 7, null])("refuses %j", (namespace) => {
    expect(() => checkNamespace(namespace)).toThrow();
  });
});
