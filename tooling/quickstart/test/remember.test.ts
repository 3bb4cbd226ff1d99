// The demo on a data folder: a second run remembers the first, and both answer as they have to.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startEngine } from "../src/engine.ts";
import { run } from "./surroundings.ts";

const small = new URL("small.jsonl", import.meta.url).pathname;

test("a second run in the same folder remembers the first, and neither has a mismatch", {
  timeout: 180_000,
}, async () => {
  const folder = await mkdtemp(join(tmpdir(), "quickstart-data-"));
  try {
    const once = () => run(["--input", small, "--data", folder, "--embed", "1"], { startEngine });
    const first = await once();
    expect(first).toMatchObject({ code: 0, complaints: "" });
    expect(first.output).toMatch(/run +the first here\n/);
    expect(first.output).toMatch(/mismatches +0\n/);
    const second = await once();
    expect(second).toMatchObject({ code: 0, complaints: "" });
    expect(second.output).toMatch(/run +number 2 here, as it remembers\n/);
    expect(second.output).toMatch(/the last one +replayed 2 conversations of 5 turns, 0 mismatches\n/);
    expect(second.output).toMatch(/mismatches +0\n/);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
