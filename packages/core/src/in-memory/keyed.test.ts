// What is kept by scope and key: found at once, listed in order, by prefix and under a scope.

import fc from "fast-check";
import { expect, test } from "vitest";
import type { KeyPosition } from "../model/driver.ts";
import { compareText } from "../model/json.ts";
import { compareScopes, containsScope, type MemoryReach, type MemoryScope, sameScope } from "../model/scope.ts";
import { Keyed } from "./keyed.ts";
import { Scoped } from "./scoped.ts";

// Few parts, and such that run into each other when they are joined carelessly.
const part = fc.constantFrom("a", "a:", "b", "😀", "\uffff", undefined);
const scopes: fc.Arbitrary<MemoryScope> = fc
  .tuple(fc.constantFrom("t", "t:a"), part, part, part)
  .map(([tenantId, userId, sessionId, agent]) => ({
    tenantId,
    ...(userId === undefined ? {} : { userId }),
    ...(sessionId === undefined ? {} : { sessionId }),
    ...(agent === undefined ? {} : { agent }),
  }));
const position = fc.record({ scope: scopes, key: fc.constantFrom("a", "ab", "abc", "b", "😀", "\uffff") });
const positions = fc.uniqueArray(position, { maxLength: 120, comparator: isSame });
const reaches = fc.constantFrom<MemoryReach>("exact", "under");

function isSame(a: KeyPosition, b: KeyPosition): boolean {
  return a.key === b.key && sameScope(a.scope, b.scope);
}

function compare(a: KeyPosition, b: KeyPosition): number {
  return compareScopes(a.scope, b.scope) || compareText(a.key, b.key);
}

function isIn(scope: MemoryScope, reach: MemoryReach): (one: KeyPosition) => boolean {
  return (one) => (reach === "exact" ? sameScope(scope, one.scope) : containsScope(scope, one.scope));
}

test("a page is what filtering and sorting everything would give, for every scope, prefix and place to go on from", () => {
  const prefix = fc.constantFrom(undefined, "a", "ab", "😀");
  fc.assert(
    fc.property(positions, scopes, reaches, prefix, fc.nat(), (entries, scope, reach, keyPrefix, at) => {
      const keyed = new Keyed<KeyPosition>();
      for (const entry of entries) keyed.add(entry);
      const all = entries
        .filter(isIn(scope, reach))
        .filter(({ key }) => key.startsWith(keyPrefix ?? ""))
        .sort(compare);
      expect([...keyed.page({ scope, reach, keyPrefix, after: undefined })]).toEqual(all);
      const after = all[at % (all.length || 1)];
      if (after === undefined) return;
      const rest = all.filter((one) => compare(one, after) > 0);
      expect([...keyed.page({ scope, reach, keyPrefix, after })]).toEqual(rest);
      const named = entries.filter(isIn(scope, reach)).filter(({ key }) => key === after.key);
      expect([...keyed.named({ scope, reach, keyPrefix, after: undefined }, after.key)]).toEqual(named.sort(compare));
      expect(keyed.meant({ scope, reach, keys: [after.key, after.key] })).toEqual(named);
    }),
  );
});

test("what was deleted is found no more, and the rest is found still", () => {
  fc.assert(
    fc.property(positions, fc.array(fc.nat()), (entries, picks) => {
      const keyed = new Keyed<KeyPosition>();
      for (const entry of entries) keyed.add(entry);
      const gone = new Set(picks.map((pick) => entries[pick % (entries.length || 1)]));
      for (const entry of gone) if (entry !== undefined) keyed.delete(entry);
      for (const entry of entries) expect(keyed.get(entry.scope, entry.key)).toBe(gone.has(entry) ? undefined : entry);
    }),
  );
});

test("a list by scope is what filtering and sorting everything would give, both ways and after deletions", () => {
  fc.assert(
    fc.property(positions, scopes, reaches, position, fc.array(fc.nat()), (items, scope, reach, bound, picks) => {
      const order = (a: KeyPosition, b: KeyPosition): number =>
        compareText(a.key, b.key) || compareScopes(a.scope, b.scope);
      const scoped = new Scoped<KeyPosition>(order);
      for (const item of items) scoped.add(item);
      const gone = new Set(picks.map((pick) => items[pick % (items.length || 1)]));
      for (const item of gone) if (item !== undefined) scoped.delete(item);
      const all = items
        .filter((item) => !gone.has(item))
        .filter(isIn(scope, reach))
        .sort(order);
      const below = (item: KeyPosition): boolean => order(item, bound) < 0;
      expect([...scoped.ascending(scope, reach)]).toEqual(all);
      expect([...scoped.ascending(scope, reach, below)]).toEqual(all.filter((item) => !below(item)));
      expect([...scoped.descending(scope, reach, below)]).toEqual(all.filter(below).reverse());
    }),
  );
});
