// The suite of pgvector runs against a real server and keeps what it promises to keep. No figure of time is judged here; that
// the store gives every row, in the exact order, is.

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findPostgres } from "@tooling/servers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { writeGrowthPage } from "./pgvector/growth-page.ts";
import { benchPgvector } from "./pgvector.ts";

const lane = findPostgres({ extensions: ["vector"] });

describe.skipIf(lane.isMissing)("the pgvector suite, quickly", () => {
  let folder = "";
  let kept: unknown;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "bench-"));
    const files = await benchPgvector({ quick: true, folder });
    kept = { tables: files.flatMap((file) => listAt(JSON.parse(readFileSync(file, "utf8")), "tables")) };
  }, 900_000);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it("keeps a figure of every column", () => {
    const number = expect.any(Number);
    const figure = { name: expect.any(String), p50: number, p99: number, perSecond: number, ratio: number };
    const tables = listAt(kept, "tables");
    expect(tables.length).toBeGreaterThan(20);
    for (const table of tables) {
      for (const one of listAt(table, "figures")) expect(one).toMatchObject(figure);
      expect(listAt(table, "figures").length).toBeGreaterThan(1);
    }
  });

  it("finds every row, the closest and in the exact order", () => {
    const figures = listAt(kept, "tables").flatMap((table) => listAt(table, "figures"));
    const ours = figures.filter((figure) => Reflect.get(Object(figure), "name") === "store.search");
    expect(ours.length).toBeGreaterThan(15);
    for (const figure of ours) expect(figure).toMatchObject({ leastRows: 1, recall: 1, inOrder: 1 });
  });

  it("draws the growth of scopes, a row for each of their sizes and a point for each of their figures", () => {
    writeGrowthPage(folder, folder);
    const page = readFileSync(join(folder, "pgvector-growth.md"), "utf8");
    expect(page.match(/^\| [\d,]+ \|/gm)).toEqual(["| 100 |", "| 1,000 |"]);
    // The store, and three ways by hand.
    expect(readFileSync(join(folder, "pgvector-growth.svg"), "utf8").match(/<circle /g)).toHaveLength(4 * 2);
  });
});

function listAt(kept: unknown, name: string): readonly unknown[] {
  const list: unknown = Reflect.get(Object(kept), name);
  return Array.isArray(list) ? list : [];
}
