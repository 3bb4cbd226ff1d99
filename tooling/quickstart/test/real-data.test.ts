// Real conversations (the Schema-Guided Dialogue dataset), where they are at hand: the repository stands without them.

import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { run } from "./surroundings.ts";

const named = process.env["MEMORY_TEST_DATA"];
const folder = named ?? fileURLToPath(new URL("../../../../shared/data/", import.meta.url));

test("real conversations replay without a mismatch", { timeout: 120_000 }, async (context) => {
  if (named === undefined && !existsSync(folder)) {
    const reason = "no real conversations at hand: name their folder in MEMORY_TEST_DATA";
    console.info(`skipped: ${reason}`);
    context.skip(reason);
  }
  const files = readdirSync(folder).filter((file) => file.endsWith(".jsonl"));
  expect(files).not.toEqual([]);
  for (const file of files) {
    const { code, output } = await run(["--input", join(folder, file), "--embed", "24"]);
    expect(output).toMatch(/mismatches +0\n/);
    expect(code).toBe(0);
  }
});
