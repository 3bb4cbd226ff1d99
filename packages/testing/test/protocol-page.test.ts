// docs/protocol.md says what the cases say: no promise without its case, no case unsaid, no path that is not there.

import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { conformanceCases } from "../src/cases.ts";
import { protocolPage } from "./docs/protocol-page.ts";
import { ELSEWHERE } from "./docs/protocol-prose.ts";

const root = new URL("../../../", import.meta.url);

/** The page with every table as narrow as it can be: the formatter pads them. */
function readPage(): string {
  const page = readFileSync(new URL("docs/protocol.md", root), "utf8");
  return page.replaceAll(/^\|.*$/gm, (row) => row.replaceAll(/ {2,}/g, " ").replaceAll(/-{3,}/g, "---"));
}

test("docs/protocol.md is the page that the cases make (test/docs/write-protocol-page.ts writes it anew)", () => {
  expect(readPage()).toBe(protocolPage());
});

test("docs/protocol.md has each case once, with its promise", () => {
  const rows = readPage().matchAll(/^\| (.+) \| `([a-z-]+\/[a-z0-9-]+)` \|$/gm);
  const found = [...rows].map(([, promise, id]) => [id, promise]);
  expect(found).toEqual(conformanceCases.map(({ id, promise }) => [id, promise]));
});

test("what docs/protocol.md says is proven elsewhere names tests that are there", () => {
  const paths = ELSEWHERE.flatMap(([, ...rest]) => rest);
  expect(paths.filter((path) => !existsSync(new URL(path, root)))).toEqual([]);
});
