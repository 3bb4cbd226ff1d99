// The page of deprecations: what it takes from the sources, and that the committed one is current.

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { deprecationsPage, deprecationsPath, readNotices, renderNotices } from "./deprecations.ts";

const source = `
// deprecate({ code: "MEMORY_DEP0009" })
const warn = deprecate({
  code: "MEMORY_DEP0001",
  subject: "MemoryQuery.prefix",
  replacement: "keyPrefix",
  since: "0.4.0",
  removal: "0.5.0",
});`;

test("a notice is read as it is written, and not out of a comment", () => {
  expect(readNotices("a.ts", source)).toEqual([
    {
      code: "MEMORY_DEP0001",
      subject: "MemoryQuery.prefix",
      replacement: "keyPrefix",
      since: "0.4.0",
      removal: "0.5.0",
    },
  ]);
});

test("a notice whose text is computed is refused: the page could not show it", () => {
  expect(() => readNotices("a.ts", source.replace('"0.4.0"', "VERSION"))).toThrow("since");
});

test("a code is given once", () => {
  const [notice] = readNotices("a.ts", source);
  expect(renderNotices(notice === undefined ? [] : [notice])).toContain(
    "\n| `MEMORY_DEP0001` | `MemoryQuery.prefix` |",
  );
  expect(() => renderNotices(notice === undefined ? [] : [notice, notice])).toThrow("MEMORY_DEP0001");
});

test("the committed page is what the sources say", () => {
  expect(readFileSync(deprecationsPath, "utf8")).toBe(deprecationsPage());
});
