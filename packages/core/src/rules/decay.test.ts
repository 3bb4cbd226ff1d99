// What a decay policy may be made of, and what a broken one does: no fact is hidden by it.

import { describe, expect, test } from "vitest";
import { untyped } from "../../test/untyped.ts";
import type { MemoryRecord } from "../model/record.ts";
import { ConfidenceFloor, HalfLife, weigh } from "./decay.ts";

const record: MemoryRecord = {
  id: "i",
  kind: "profile",
  scope: { tenantId: "acme" },
  key: "k",
  value: 1,
  source: "test",
  confidence: 0.5,
  validFrom: 1_000,
};

describe("a policy's settings", () => {
  test.each<[string, () => unknown]>([
    ["halfLifeMs", () => new HalfLife({ halfLifeMs: 0 })],
    ["halfLifeMs", () => new HalfLife({ halfLifeMs: untyped("1000") })],
    ["floor", () => new HalfLife({ halfLifeMs: 1, floor: untyped("0.5") })],
    ["floor", () => new HalfLife({ halfLifeMs: 1, floor: Number.NaN })],
    ["minimum", () => new ConfidenceFloor({ minimum: untyped("0.5") })],
    ["minimum", () => new ConfidenceFloor({ minimum: 1.1 })],
  ])("are refused where %s is no number in its bounds", (setting, make) => {
    expect(make).toThrow(expect.objectContaining({ code: "MEMORY_SETTINGS", setting }));
  });
});

describe("a weight", () => {
  test("is halved with every half-life, and 1 before the fact began", () => {
    const policy = new HalfLife({ halfLifeMs: 1_000 });
    expect([0, 1_000, 2_000, 3_000].map((at) => weigh(policy, record, at))).toEqual([1, 1, 0.5, 0.25]);
  });

  test.each([
    [2, 1],
    [-1, 0],
    [Number.NaN, 1],
    [Number.POSITIVE_INFINITY, 1],
    ["0.5", 1],
    [0n, 1],
    [undefined, 1],
    [Promise.resolve(0), 1],
  ])("of %s counts as %s", (weight, counts) => {
    expect(weigh({ weigh: () => untyped(weight) }, record, 1_000)).toBe(counts);
  });
});

test("a half-life weighs a fact of the future as 1, also when it is asked by itself", () => {
  const policy = new HalfLife({ halfLifeMs: 1_000 });
  expect([0, 999, 1_000].map((at) => policy.weigh({ ...record, validFrom: 1_000 }, at))).toEqual([1, 1, 1]);
});
