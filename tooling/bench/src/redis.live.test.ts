// The suite of Redis runs against a real server and keeps what it promises to keep. No figure is judged here.

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findRedis } from "@tooling/servers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { benchRedis } from "./redis.ts";

const lane = await findRedis();

describe.skipIf(lane.isMissing)("the Redis suite, quickly", () => {
  let folder = "";
  let kept: unknown;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "bench-"));
    kept = JSON.parse(readFileSync(await benchRedis({ quick: true, folder }), "utf8"));
  }, 600_000);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it("keeps what it ran on", () => {
    const text = expect.stringMatching(/./);
    expect(kept).toMatchObject({
      suite: "redis",
      at: text,
      machine: { node: process.version, cpu: text, cores: expect.any(Number) },
      setting: { server: text, quick: true, bystanders: 100_000, serverCalls: expect.any(Object) },
    });
  });

  it("keeps a figure of every column and a verdict of every target", () => {
    const number = expect.any(Number);
    const figure = { name: expect.any(String), p50: number, p99: number, perSecond: number, ratio: number };
    const verdict = { what: expect.any(String), value: number, isMet: expect.any(Boolean) };
    const tables = listAt(kept, "tables");
    expect(tables).toHaveLength(14);
    for (const table of tables) {
      for (const one of listAt(table, "figures")) expect(one).toStrictEqual(figure);
      for (const one of listAt(table, "verdicts")) expect(one).toStrictEqual(verdict);
      expect(listAt(table, "figures").length).toBeGreaterThan(1);
      expect(listAt(table, "verdicts").length).toBeGreaterThan(0);
    }
  });

  it("compares with raw scripts that run nothing which ours does not", () => {
    const calls = new Map(
      Object.entries(Object(Reflect.get(Object(Reflect.get(Object(kept), "setting")), "serverCalls"))),
    );
    const compared = [...calls.keys()].filter((name) => name.endsWith(", raw"));
    expect(compared).toHaveLength(5);
    for (const raw of compared) {
      const ours = String(calls.get(raw.replace(/raw$/, "ours"))).split(", ");
      for (const command of String(calls.get(raw)).split(", ")) {
        expect(ours.map((one) => one.replace(/ x .*$/, ""))).toContain(command);
      }
    }
  });

  it("keeps what memory, processors and a bystander's reads came to", () => {
    const names = listAt(kept, "notes").map((note) => String(Reflect.get(Object(note), "name")));
    expect(names).toContain("written value, all in one scope");
    expect(names).toContain("write: the server");
    expect(names.filter((name) => name.endsWith("p99.9"))).toHaveLength(4);
  });
});

function listAt(kept: unknown, name: string): readonly unknown[] {
  const list: unknown = Reflect.get(Object(kept), name);
  return Array.isArray(list) ? list : [];
}
