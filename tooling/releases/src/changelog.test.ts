// What stands in a changelog.

import { expect, test } from "vitest";
import { getDependencyReleaseLine, getReleaseLine } from "./changelog.ts";

test("an entry is the author's text, its later paragraphs under it, without a commit's digest", async () => {
  const note = { summary: "`a` is now `b`.\n\nWrite `b`.\n", commit: "0123456789", id: "x" };
  expect(await getReleaseLine(note)).toBe("- `a` is now `b`.\n\n  Write `b`.");
});

test("a dependency is named only where the range of before does not cover it", async () => {
  expect(await getDependencyReleaseLine([], [])).toBe("");
  const core = { name: "@memory/core", newVersion: "1.0.0" };
  expect(await getDependencyReleaseLine([], [core])).toBe("- Needs `@memory/core` 1.0.0 or newer.");
});
