// How a page's blocks become programs, and that no mark takes one out of the checks.

import { expect, test } from "vitest";
import { npmScriptsOf, programsOf } from "./programs.ts";

const block = (info: string, text: string) => `\`\`\`${info}\n${text}\n\`\`\`\n`;

test("the blocks of a page are one program, each line where it stands in the page", () => {
  const page = `# A\n${block("ts", "const a = 1;")}text\n${block("ts", "a;")}`;
  const [program, ...others] = programsOf("a.md", page);
  expect(others).toEqual([]);
  expect(program).toMatchObject({ name: "a.md:3", runs: true });
  expect(program?.source.split("\n").slice(0, 8)).toEqual(["", "", "const a = 1;", "", "", "", "a;", ""]);
});

test("a standalone block runs alone, and one that needs a server is not run", () => {
  const page = block("ts", "1;") + block("ts standalone", "2;") + block("ts server", "3;");
  expect(programsOf("a.md", page).map(({ name, runs }) => [name, runs])).toEqual([
    ["a.md:2", true],
    ["a.md:5", true],
    ["a.md:8", false],
  ]);
});

test("another mark is refused, and so is a dialect that would not be checked", () => {
  expect(() => programsOf("a.md", block("ts no-run", "1;"))).toThrow(Error);
  expect(() => programsOf("a.md", block("js", "1;"))).toThrow(Error);
  expect(programsOf("a.md", block("sh", "ls") + block("", "x"))).toEqual([]);
});

test("a block that is a file is left to tooling/runners on the one page that it runs, and refused on others", () => {
  const page = block("ts file a.test.js", "a;") + block("ts", "b;");
  expect(programsOf("docs/conformance.md", page).map(({ name }) => name)).toEqual(["docs/conformance.md:5"]);
  expect(() => programsOf("docs/other.md", page)).toThrow(Error);
});

test("the scripts of shell blocks are found, with and without `run`", () => {
  expect(npmScriptsOf(block("sh", "npm run demo -- --input f\nnpm test\nnpm install @memory/core"))).toEqual([
    "demo",
    "test",
  ]);
});
