// The register of cases is true, and only grows: an adapter that names a version of the suite knows what it is held to.

import { globSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { conformanceCases } from "../src/cases.ts";
import { registerOf, registerProblems, unannounced } from "./docs/case-register.ts";

test("etc/cases.json is the register that the cases make (test/docs/write-case-register.ts writes it anew)", () => {
  const register = JSON.parse(readFileSync(new URL("../etc/cases.json", import.meta.url), "utf8"));
  expect(registerOf(conformanceCases)).toEqual(register);
});

test("every case after those of the first release is named in a changeset or in the changelog", () => {
  const root = new URL("../../../", import.meta.url);
  const changesets = globSync(".changeset/*.md", { cwd: root }).map((path) =>
    readFileSync(new URL(path, root), "utf8"),
  );
  const changelog = readFileSync(new URL("../CHANGELOG.md", import.meta.url), "utf8");
  expect(unannounced(registerOf(conformanceCases), [...changesets, changelog])).toEqual([]);
});

test("a case that no note names is found, and one whose id begins as another's is no note of it", () => {
  const register = { "0.10.0": ["c/five"], "0.1.0": ["a/one"], "0.2.0": ["b/three", "b/three-more"] };
  expect(unannounced(register, ["New: `b/three-more`,\nand (c/five)."])).toEqual(["b/three"]);
  expect(unannounced(register, [])).toEqual(["b/three", "b/three-more", "c/five"]);
});

describe("a change of the register", () => {
  const before = { "0.1.0": ["a/one", "a/two"], "0.2.0": ["b/three"] };

  test.each<[string, Readonly<Record<string, readonly string[]>>]>([
    ["nothing changes", before],
    ["a case comes with the next minor", { ...before, "0.3.0": ["c/four"] }],
    ["a case comes with the next major", { ...before, "1.0.0": ["c/four"] }],
  ])("is right where %s", (_, after) => {
    expect(registerProblems(before, after, "0.2.0")).toEqual([]);
  });

  test("is right where a case that is not released yet goes or moves", () => {
    expect(
      registerProblems({ ...before, "0.3.0": ["c/four", "c/five"] }, { ...before, "0.4.0": ["c/five"] }, "0.2.0"),
    ).toEqual([]);
  });

  test.each<[string, Readonly<Record<string, readonly string[]>>, string]>([
    ["a released case goes", { "0.1.0": ["a/one"], "0.2.0": ["b/three"] }, "a/two"],
    ["a released case moves to a later version", { "0.1.0": ["a/one"], "0.2.0": ["a/two", "b/three"] }, "a/two"],
    ["a case comes with a released version", { ...before, "0.2.0": ["b/three", "c/four"] }, "c/four"],
    ["a case comes without a version", { ...before, "0.1.0": ["a/one", "a/two", "c/four"] }, "c/four"],
    ["a case comes with a patch", { ...before, "0.2.1": ["c/four"] }, "c/four"],
  ])("is wrong where %s", (_, after, id) => {
    expect(registerProblems(before, after, "0.2.0")).toEqual([expect.stringContaining(id)]);
  });
});
