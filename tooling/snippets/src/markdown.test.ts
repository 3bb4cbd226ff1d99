// What is read in a page: blocks with their lines, links outside of code, anchors as GitHub makes them.

import { expect, test } from "vitest";
import { readAnchors, readFences, readLinks } from "./markdown.ts";

test("a block has its language, its marks, and the line at which its text begins", () => {
  const page = "# A\n\n```ts standalone\nconst a = 1;\n\nconst b = 2;\n```\n\n```\nplain\n```\n";
  expect(readFences(page)).toEqual([
    { language: "ts", marks: ["standalone"], line: 4, text: "const a = 1;\n\nconst b = 2;" },
    { language: "", marks: [], line: 10, text: "plain" },
  ]);
});

test("a block that is not closed is refused", () => {
  expect(() => readFences("```ts\nconst a = 1;\n")).toThrow(Error);
});

test("links are read outside of blocks and of code in a line", () => {
  const page = "[a](b.md#c) and `[no](no.md)`\n```ts\n[no](no.md)\n```\n| [d](../e.md) | `x` [f](#g) |\n";
  expect(readLinks(page)).toEqual([
    { target: "b.md#c", line: 1 },
    { target: "../e.md", line: 5 },
    { target: "#g", line: 5 },
  ]);
});

test("anchors are those of the headings, told apart by a number where two are alike", () => {
  const page = "# `erase`: what it does\n\n## Cost\n\n```sh\n# not a heading\n```\n\n## Cost\n";
  expect([...readAnchors(page)]).toEqual(["erase-what-it-does", "cost", "cost-1"]);
});
