// What is read of a deprecation, what is wrong with one, and the page that is made of it.

import { expect, test } from "vitest";
import { readDeprecations, readSource } from "./deprecations.ts";
import { renderDeprecations } from "./deprecations-page.ts";
import type { Member } from "./repository.ts";

const tag = "/** Old.\n * @deprecated since 0.4.0, use `fresh`, removed in\n * 0.5.0. */";
const notice = `const warn: () => void = deprecate({
  code: "MEMORY_DEP0001",
  subject: "old",
  replacement: "fresh",
  since: "0.4.0",
  removal: "0.5.0",
});`;
const shim = `${notice}\n${tag}\nexport function old(): void {\n  warn();\n}\n`;
const path = "packages/core/src/old.ts";
const member = (text: string, version = "0.4.0"): Member => ({
  folder: "packages/core",
  manifest: { name: "@memory/core", version },
  sources: [{ path, text }],
  paths: new Set(),
});
const problems = (text: string, version?: string) => readDeprecations([member(text, version)]).problems;

test("a shim with its tag and its notice is in order", () => {
  expect(readDeprecations([member(shim)])).toEqual({
    notices: [{ code: "MEMORY_DEP0001", subject: "old", replacement: "fresh", since: "0.4.0", removal: "0.5.0" }],
    tags: [{ subject: "old", isType: false, replacement: "fresh", since: "0.4.0", removal: "0.5.0" }],
    problems: [],
  });
});

test.each([
  ["export const old: number = 1;", "old", false],
  ["export class old {}", "old", false],
  ["export interface old {}", "old", true],
  ["type old = 1;", "old", true],
])("a tag is of the declaration under it: %s", (declaration, subject, isType) => {
  expect(readSource({ path, text: `${tag}\n${declaration}` }).tags).toMatchObject([{ subject, isType }]);
});

test.each([
  ["export interface Query {", "readonly old?: string;", "Query.old", true],
  ["export interface Query {", "old(): void;", "Query.old", true],
  ["export class Store {", "old(): void {}", "Store.old", false],
  ["export class Store {", "readonly old: number = 1;", "Store.old", false],
])("a tag in a body names the member with its owner: %s %s", (head, line, subject, isType) => {
  expect(readSource({ path, text: `${head}\n${tag}\n${line}\n}` }).tags).toMatchObject([{ subject, isType }]);
});

test.each([
  ["a tag without a notice", shim.replace(notice, "")],
  ["a notice without a tag", notice],
  ["a notice that names another replacement", shim.replace('"fresh"', '"other"')],
  ["a notice of another removal", shim.replace('"0.5.0"', '"0.6.0"')],
  ["a code that is given twice", `${shim}${shim.replaceAll("old", "older")}`],
  ["a notice whose text is computed", shim.replace('since: "0.4.0"', "since: VERSION")],
  ["a tag that does not say what to use", shim.replace("use `fresh`, ", "")],
  ["a tag over nothing that has a name", `${shim}${tag}\nwarn();\n`],
  ["a removal in the minor that deprecates", shim.replaceAll("0.4.0", "0.5.0")],
])("%s is found", (_, text) => {
  expect(problems(text)).not.toEqual([]);
});

test("what outlived its removal is found", () => {
  expect(problems(shim, "0.4.7")).toEqual([]);
  expect(problems(shim, "0.5.0")).not.toEqual([]);
});

test("a type needs no notice, and comments and tests are not read for notices", () => {
  expect(problems(`${tag}\nexport interface old {}\n// ${notice.replaceAll("\n", " ")}`)).toEqual([]);
  const inTest = { ...member(""), sources: [{ path: "packages/core/src/old.test.ts", text: notice }] };
  expect(readDeprecations([inTest]).notices).toEqual([]);
});

test("the page lists what warns by its code, then what is only a type", () => {
  const lines = renderDeprecations(readDeprecations([member(`${shim}${tag}\nexport interface Older {}`)])).split("\n");
  expect(lines.filter((line) => line.startsWith("|")).map((line) => line.replaceAll(/ +/g, " "))).toEqual([
    "| code | deprecated | write instead | since | removed in |",
    expect.stringMatching(/^\| -+ \| -+ \|/),
    "| `MEMORY_DEP0001` | `old` | `fresh` | 0.4.0 | 0.5.0 |",
    "| none: a type | `Older` | `fresh` | 0.4.0 | 0.5.0 |",
  ]);
  expect(renderDeprecations({ notices: [], tags: [], problems: [] })).toContain("Nothing is deprecated.");
});
