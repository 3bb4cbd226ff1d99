// docs/conformance.md holds a file for each runner and the command that runs it, and what it shows for `node:test` passes
// and fails as it has to. The other runners are installed by `npm run runners`.

import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import { filesOf, readPage } from "../src/page.ts";
import { runUnder, writeProject } from "../src/project.ts";
import { runners, TARGET_FILE } from "../src/runners.ts";

// Inside this package, so that the files import what it depends on.
const folder = fileURLToPath(new URL("../.cache/project/", import.meta.url));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const page = readPage();
const files = filesOf(page);

describe("docs/conformance.md", () => {
  test("holds a store under test, and a file and a command for each runner", () => {
    expect(files.has(TARGET_FILE)).toBe(true);
    for (const { name, file, command } of runners) {
      expect(files.get(file), name).toContain(`./${TARGET_FILE}`);
      expect(page, name).toContain(command);
    }
  });

  test("names the release of Vitest that the repository has", () => {
    const manifest = fileURLToPath(new URL("../node_modules/vitest/package.json", import.meta.url));
    const { version } = JSON.parse(readFileSync(manifest, "utf8"));
    expect(runners.find(({ name }) => name === "vitest")?.installs).toEqual({ vitest: version });
  });
});

test("what the page shows for node:test conforms, and tells of a broken store", { timeout: 240_000 }, () => {
  const runner = runners.find(({ name }) => name === "node:test");
  expect.assert(runner !== undefined);
  writeProject(join(folder), files, {});
  expect(runUnder(runner, folder)).toEqual({
    findings: [],
    summary: expect.stringMatching(/^node:test: \d+ kept, 0 broken/),
  });
});
