// The classes of change, each shown on small pairs: what stands before, what stands after, and what is found between them.

import { describe, expect, test } from "vitest";
import { breakingPairs } from "./pairs/breaking.ts";
import { minorPairs } from "./pairs/minor.ts";
import { comparePairs, type Pair, sumUp } from "./pairs/pair.ts";
import { patchPairs } from "./pairs/patch.ts";

const tables = [
  ["a major", "major", breakingPairs],
  ["a minor", "minor", minorPairs],
  ["a patch", "patch", patchPairs],
] as const;
const compared = comparePairs(tables.flatMap(([, , pairs]) => pairs));

for (const [title, size, pairs] of tables) {
  describe(`${title} is needed by`, () => {
    const rows = compared.filter(({ pair }) => pairs.includes(pair));

    test.each(rows)("$pair.0", ({ pair: [, , , ...expected], findings }) => {
      expect(sumUp(findings)).toEqual([size, ...expected]);
    });
  });
}

test("each class is shown on thirty pairs at least, each called by another name", () => {
  for (const [, , pairs] of tables) expect(pairs.length).toBeGreaterThanOrEqual(30);
  const names = tables.flatMap(([, , pairs]) => pairs.map(([name]) => name));
  expect(new Set(names).size).toBe(names.length);
});

describe("nothing is found between a surface and itself", () => {
  const same = tables
    .flatMap(([, , pairs]) => pairs)
    .flatMap(([name, before, after]): Pair[] => [
      [`${name} (before)`, before, before],
      [`${name} (after)`, after, after],
    ]);

  test.each(comparePairs(same))("$pair.0", ({ findings }) => {
    expect(findings).toEqual([]);
  });
});
