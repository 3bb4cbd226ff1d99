// Changesets are read for the size that they announce, and versions for the step between them.

import { expect, test } from "vitest";
import { announcedSizes, larger, nextVersion, stepBetween } from "../src/changesets.ts";

const changeset = (size: string) => `---\n"@memory/core": ${size}\n---\n\nText with "@memory/core": major in it.\n`;

test("the largest of several changesets counts, and only front matter is read", () => {
  const announced = announcedSizes([changeset("patch"), changeset("minor"), changeset("patch")]);
  expect(announced).toEqual(new Map([["@memory/core", "minor"]]));
});

test.each([
  ["none", "patch", "patch"],
  ["minor", "patch", "minor"],
  ["major", "major", "major"],
] as const)("of %s and %s the larger is %s", (left, right, expected) => {
  expect(larger(left, right)).toBe(expected);
});

test.each([
  ["1.2.3", "1.2.3", "none"],
  ["1.2.3", "1.2.4", "patch"],
  ["1.2.3", "1.3.0", "minor"],
  ["1.2.3", "2.0.0", "major"],
  ["0.0.0", "0.1.0", "minor"],
  ["1.9.0", "1.10.0-next.1", "minor"],
])("the step from %s to %s is %s", (released, version, expected) => {
  expect(stepBetween(released, version)).toBe(expected);
});

test.each([
  ["1.2.3", "none", "1.2.3"],
  ["1.2.3", "patch", "1.2.4"],
  ["1.2.3", "minor", "1.3.0"],
  ["0.9.1", "minor", "0.10.0"],
  ["1.2.3", "major", "2.0.0"],
] as const)("a step from %s of size %s leads to %s", (released, size, expected) => {
  expect(nextVersion(released, size)).toBe(expected);
});
