// The order of versions, and who is held to a case.

import { describe, expect, test } from "vitest";
import { compareVersions, isHeldTo } from "./suite-version.ts";

describe("compareVersions", () => {
  test.each([
    ["0.1.0", "0.2.0"],
    ["0.9.0", "0.10.0"],
    ["0.10.9", "0.11.0"],
    ["0.11.0", "1.0.0"],
    ["1.0.0", "1.0.1"],
    ["9.0.0", "10.0.0"],
  ])("puts %s before %s", (older, newer) => {
    expect(compareVersions(older, newer)).toBeLessThan(0);
    expect(compareVersions(newer, older)).toBeGreaterThan(0);
    expect(compareVersions(older, older)).toBe(0);
  });

  test.each(["", "1", "1.2", "1.2.3.4", "v1.2.3", "1.2.x", "1.2.3-next.0", "01.2.3", "^1.2.3"])(
    "refuses %j",
    (version) => {
      expect(() => compareVersions(version, "1.0.0")).toThrow(RangeError);
      expect(() => compareVersions("1.0.0", version)).toThrow(RangeError);
    },
  );
});

describe("isHeldTo", () => {
  test.each<[since: string | undefined, heldTo: string | undefined, held: boolean]>([
    [undefined, undefined, true],
    ["99.0.0", undefined, true],
    [undefined, "0.1.0", true],
    ["0.2.0", "0.2.0", true],
    ["0.2.0", "0.3.1", true],
    ["0.3.0", "0.2.9", false],
    ["1.0.0", "0.9.0", false],
  ])("a case since %s over a target held to %s: %s", (since, heldTo, held) => {
    expect(isHeldTo(since === undefined ? {} : { since }, heldTo)).toBe(held);
  });
});
