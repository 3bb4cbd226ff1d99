// What a stranger gets: every package packed and installed outside the workspace, alone and together. The task runner builds
// the packages first; alone: `npm run build`, then this file.

import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { useAlone } from "../src/alone.ts";
import { type Packed, packAll } from "../src/pack.ts";
import { type ProjectStep, useProject } from "../src/project.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const tsc = join(dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin", "tsc");
const folder = mkdtempSync(join(realpathSync(tmpdir()), "memory-installs-"));
const names = ["core", "pgvector", "postgres", "redis", "routed", "testing"].map((name) => `@memory/${name}`);
const timeout = 240_000;
let tarballs: readonly Packed[] = [];

beforeAll(() => {
  tarballs = packAll(root, join(folder, "tarballs"));
}, timeout);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("every published package is packed", () => {
  expect(tarballs.map(({ name }) => name)).toEqual(names);
});

test.each(names)(
  "%s installs with core alone, runs no script, and its doors open and do nothing",
  { timeout },
  (name) => {
    const packed = tarballs.find((one) => one.name === name);
    expect.assert(packed !== undefined);
    const steps = useAlone(join(folder, name.replace("/", "-")), packed, tarballs, tsc);
    expect(steps).toHaveLength(5);
    expect(failuresOf(steps)).toEqual([]);
  },
);

test("a project that uses all of them, beside a second copy of core, type-checks and runs", { timeout }, () => {
  const steps = useProject(join(folder, "project"), tarballs, tsc);
  expect(steps.length).toBeGreaterThan(0);
  expect(failuresOf(steps)).toEqual([]);
});

function failuresOf(steps: readonly ProjectStep[]): readonly ProjectStep[] {
  return steps.filter(({ failure }) => failure !== undefined);
}
