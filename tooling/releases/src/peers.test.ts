// The range of core that a package takes, as versions go by.

import { expect, test } from "vitest";
import { exportedNames, importedNames, peerRange } from "./peers.ts";

const driver = "@memory/core/driver";
const core = (version: string, ...names: readonly string[]) => ({
  version,
  names: new Map([[driver, new Set(names)]]),
});
const imports = (...names: readonly string[]) => new Map([[driver, new Set(names)]]);

test.each([
  ["the first release takes itself", ">=0.0.0 <1", "0.1.0", ["a"], [], ">=0.1.0 <1"],
  ["what needs nothing new takes what it took", ">=0.1.0 <1", "0.2.0", ["a"], [core("0.1.0", "a")], ">=0.1.0 <1"],
  [
    "what needs a name that came later takes the release that brought it",
    ">=0.1.0 <1",
    "0.4.0",
    ["a", "b"],
    [core("0.3.0", "a", "b"), core("0.2.0", "a", "b"), core("0.1.0", "a")],
    ">=0.2.0 <1",
  ],
  ["what needs an unreleased name takes itself", ">=0.1.0 <1", "0.2.0", ["b"], [core("0.1.0", "a")], ">=0.2.0 <1"],
  [
    "a floor that was raised by hand stays",
    ">=0.2.0 <1",
    "0.3.0",
    ["a"],
    [core("0.1.0", "a"), core("0.2.0", "a")],
    ">=0.2.0 <1",
  ],
  ["a patch is no floor", ">=0.1.0 <1", "0.2.0", ["b"], [core("0.1.0", "a"), core("0.1.1", "b")], ">=0.2.0 <1"],
  ["1.0 begins anew", ">=0.3.0 <1", "1.0.0", ["a"], [core("0.3.0", "a")], ">=1.0.0 <2"],
  ["after changesets moved it out of range", ">=1.0.0 <2.0.0", "1.0.0", ["a"], [core("0.3.0", "a")], ">=1.0.0 <2"],
])("%s", (_, range, version, names, released, expected) => {
  expect(peerRange(range, version, imports(...names), released)).toBe(expected);
});

test("a range of another shape is refused", () => {
  expect(() => peerRange("workspace:^", "0.1.0", imports(), [])).toThrow("workspace:^");
});

test("imports are read per door, with types and under their own names, and not out of comments", () => {
  const source = `
// import { gone } from "@memory/core";
import { type MemoryDriver, createMemoryStore as make } from "${driver}";
export type { MemoryStore } from "@memory/core";
import { other } from "@memory/testing";
`;
  expect(importedNames(source)).toEqual(
    new Map([
      [driver, new Set(["MemoryDriver", "createMemoryStore"])],
      ["@memory/core", new Set(["MemoryStore"])],
    ]),
  );
});

test("an API report gives the names that can be imported", () => {
  const report = [
    "import { Foreign } from 'x';",
    "export const a: () => void;",
    "export abstract class B {",
    "export type C = 1;",
    "// @public",
    "interface Hidden {",
    "export { D }",
  ].join("\n");
  expect(exportedNames(report)).toEqual(new Set(["a", "B", "C", "D"]));
});
