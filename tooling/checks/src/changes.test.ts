// A report then and now, the changesets, and whether they are of the right size.

import { expect, test } from "vitest";
import { checkChanges, readChangesets } from "./changes.ts";

const report = (...lines: readonly string[]) => `## API Report\n\n\`\`\`ts\n\n${lines.join("\n")}\n\n\`\`\`\n`;
const changeset = (size: string) => `---\n"@memory/core": ${size}\n---\n\nText with "@memory/core": major in it.\n`;
const path = "packages/core/etc/index.api.md";
const packageName = "@memory/core";
const problems = (before: string, after: string, version: string, sets: readonly string[]) =>
  checkChanges([{ packageName, releasedVersion: version, version, path, before, after }], sets);

const one = report("export const a: 1;");
const two = report("export const a: 1;", "export const b: 2;");

test.each([
  ["an unchanged report", one, one, "1.0.0", []],
  ["a changed comment", one, report("// @public", "export const a: 1;"), "1.0.0", []],
  ["an addition with a minor", one, two, "1.0.0", ["minor"]],
  ["an addition with a major", one, two, "1.0.0", ["patch", "major"]],
  ["a removal with a major", two, one, "1.0.0", ["major"]],
  ["a removal before 1.0 with a minor", two, one, "0.3.0", ["minor"]],
  ["a new door with a minor", "", one, "1.0.0", ["minor"]],
])("%s passes", (_, before, after, version, announced) => {
  expect(problems(before, after, version, announced.map(changeset))).toEqual([]);
});

test.each([
  ["an addition without a changeset", one, two, "1.0.0", []],
  ["an addition with a patch", one, two, "1.0.0", ["patch"]],
  ["a removal with a minor", two, one, "1.0.0", ["minor"]],
  ["a removal before 1.0 with a patch", two, one, "0.3.0", ["patch"]],
  ["a door that went with a minor", one, "", "1.0.0", ["minor"]],
])("%s is found", (_, before, after, version, announced) => {
  expect(problems(before, after, version, announced.map(changeset))).toHaveLength(1);
});

test("the largest of several changesets counts, and only front matter is read", () => {
  expect(readChangesets([changeset("patch"), changeset("minor"), changeset("patch")])).toEqual(
    new Map([["@memory/core", "minor"]]),
  );
});

test.each([
  ["1.2.3", "1.3.0", two, one, 1],
  ["1.2.3", "2.0.0", two, one, 0],
  ["1.2.3", "1.3.0", one, two, 0],
  ["1.2.3", "1.2.4", one, two, 1],
  ["0.0.0", "0.1.0", "", one, 0],
])(
  "a version stepped from %s to %s speaks for the changesets it used up",
  (releasedVersion, version, before, after, found) => {
    expect(checkChanges([{ packageName, releasedVersion, version, path, before, after }], [])).toHaveLength(found);
  },
);
