// The sorted set against an array that is sorted anew each time.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { countBelow, Ordered, take } from "./ordered.ts";

interface Item {
  readonly at: number;
}

const byAt = (a: Item, b: Item): number => a.at - b.at;
const item = (at: number): Item => ({ at });
const values = (items: Iterable<Item>): number[] => [...items].map(({ at }) => at);

function filled(numbers: Iterable<number>): Ordered<Item> {
  const ordered = new Ordered(byAt);
  for (const at of numbers) ordered.add(item(at));
  return ordered;
}

const range = (count: number): number[] => Array.from({ length: count }, (_, at) => at);

describe("Ordered", () => {
  test("an empty set gives nothing in either direction", () => {
    const ordered = filled([]);
    expect(values(ordered.ascending())).toEqual([]);
    expect(values(ordered.descending())).toEqual([]);
    expect(ordered.seek()).toBeUndefined();
    expect(ordered.delete(item(1))).toBe(false);
    expect(ordered.size).toBe(0);
  });

  test.each([
    ["growing", range(3_000)],
    ["shrinking", range(3_000).reverse()],
    ["scattered", range(3_000).map((at) => (at * 1_789) % 3_000)],
  ])("items added in %s order come back sorted both ways", (_, numbers) => {
    const ordered = filled(numbers);
    expect(values(ordered.ascending())).toEqual(range(3_000));
    expect(values(ordered.descending())).toEqual(range(3_000).reverse());
    expect(ordered.size).toBe(3_000);
  });

  test("an equal item is one item: the first stays", () => {
    const ordered = new Ordered<{ readonly at: number; readonly name: string }>(byAt);
    expect(ordered.add({ at: 1, name: "first" })).toBe(true);
    expect(ordered.add({ at: 1, name: "second" })).toBe(false);
    expect(ordered.seek()?.name).toBe("first");
    expect(ordered.size).toBe(1);
  });

  test("adding to full chunks anywhere keeps the order", () => {
    const even = range(2_048).map((at) => at * 2);
    for (const odd of [-1, 1, 511, 513, 1_023, 1_025, 2_047, 4_093, 4_095]) {
      const ordered = filled(even);
      expect(ordered.add(item(odd))).toBe(true);
      expect(values(ordered.ascending())).toEqual([...even, odd].sort((a, b) => a - b));
    }
  });

  test("it holds what a sorted array of distinct items holds, after any adds and deletes", () => {
    const step = fc.record({
      isAdd: fc.boolean(),
      from: fc.integer({ min: 0, max: 4_000 }),
      count: fc.integer({ min: 1, max: 700 }),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 24 }), fc.integer({ min: -1, max: 4_800 }), (steps, bound) => {
        const ordered = new Ordered(byAt);
        const model = new Set<number>();
        for (const { isAdd, from, count } of steps) {
          for (let at = from; at < from + count; at += 1) {
            if (isAdd) {
              expect(ordered.add(item(at))).toBe(!model.has(at));
              model.add(at);
            } else expect(ordered.delete(item(at))).toBe(model.delete(at));
          }
        }
        const sorted = [...model].sort((a, b) => a - b);
        const below = ({ at }: Item): boolean => at < bound;
        expect(ordered.size).toBe(sorted.length);
        expect(values(ordered.ascending())).toEqual(sorted);
        expect(values(ordered.ascending(below))).toEqual(sorted.filter((at) => at >= bound));
        expect(values(ordered.descending(below))).toEqual(sorted.filter((at) => at < bound).reverse());
        expect(ordered.seek(below)?.at).toBe(sorted.find((at) => at >= bound));
      }),
      { numRuns: 60 },
    );
  });
});

test("countBelow counts the leading items for which the claim holds", () => {
  expect(countBelow([], () => true)).toBe(0);
  expect(countBelow([1, 2, 3].map(item), ({ at }) => at < 3)).toBe(2);
  expect(countBelow([1, 2, 3].map(item), () => true)).toBe(3);
});

test("take stops an endless iterable at the limit", () => {
  function* endless(): Generator<number, void, undefined> {
    for (let at = 0; ; at += 1) yield at;
  }
  expect(take(endless(), 3)).toEqual([0, 1, 2]);
  expect(take(endless(), 0)).toEqual([]);
});
