// Walking what a scope holds: chunk after chunk without a record twice, stopped by the caller's signal, and not confused by
// what ends meanwhile.

import { describe, expect, test } from "vitest";
import { HandClock } from "../test/hand-clock.ts";
import { eachEpisode, eachVersion, exportScope } from "./export.ts";
import { inMemoryDriver } from "./in-memory/driver.ts";
import { InMemoryMemoryStore } from "./in-memory.ts";
import type { MemoryStore } from "./model/protocol.ts";
import { createMemoryStore } from "./store.ts";

const scope = { tenantId: "acme" };
const record = (key: string) => ({ key, value: 1, source: "s" });

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

async function filled(count: number): Promise<MemoryStore> {
  const store = new InMemoryMemoryStore({ embeddingDimensions: 1 });
  const keys = Array.from({ length: count }, (_, at) => `k${String(at).padStart(5, "0")}`);
  for (const key of keys) {
    await store.write(scope, record(key));
    await store.upsert(scope, record(key));
  }
  await store.logAll(scope, keys.map(record));
  await store.indexAll(
    scope,
    keys.map((key) => ({ ...record(key), embedding: [1] })),
  );
  return store;
}

test.each([499, 500, 501, 1_001])("an export of %i records a kind has each exactly once", async (count) => {
  const store = await filled(count);
  const lines = await all(exportScope(store, scope));
  expect(lines).toHaveLength(4 * count);
  expect(new Set(lines.map((line) => `${line.record.kind} ${line.record.key}`)).size).toBe(4 * count);
  expect(await all(eachEpisode(store, scope))).toHaveLength(count);
  expect(await all(eachVersion(store, scope))).toHaveLength(count);
});

describe("a walk that is stopped rejects with the signal's reason at its next trip:", () => {
  test.each<[string, (store: MemoryStore, signal: AbortSignal) => AsyncIterable<unknown>]>([
    ["an export", (store, signal) => exportScope(store, scope, { signal })],
    ["the episodes", (store, signal) => eachEpisode(store, scope, { limit: 1 }, { signal })],
    ["the versions", (store, signal) => eachVersion(store, scope, { signal })],
  ])("%s", async (_what, walk) => {
    const store = await filled(1_001);
    const controller = new AbortController();
    let seen = 0;
    const walked = (async () => {
      for await (const _item of walk(store, controller.signal)) {
        seen += 1;
        if (seen === 1) controller.abort(new RangeError("stop"));
      }
    })();
    await expect(walked).rejects.toThrow("stop");
    expect(seen).toBeLessThanOrEqual(1_000);
  });
});

test("a working key that expires between its listing and its reading is passed over", async () => {
  const clock = new HandClock();
  const store = new InMemoryMemoryStore({ clock });
  for (const key of ["a", "b"]) await store.write(scope, record(key));
  await store.expire(scope, "b", { ttlMs: 10 });
  const lines: string[] = [];
  for await (const line of exportScope(store, scope)) {
    lines.push(line.record.key);
    await clock.advance(10);
  }
  expect(lines).toEqual(["a"]);
});

test.each([
  ["none", undefined],
  ["one of another width", [1, 2]],
])("a vector that is %s is damage, and no line lacks it without a word", async (_what, embedding) => {
  const inner = inMemoryDriver({ embeddingDimensions: 1 });
  const { semantic } = inner;
  if (semantic?.scan === undefined) throw new Error("the section is missing");
  const scan: typeof semantic.scan = async (request, call) =>
    ((await semantic.scan?.(request, call)) ?? []).map((row) => ({ ...row, embedding }));
  const store = createMemoryStore({ ...inner, semantic: { ...semantic, scan } });
  await store.index(scope, { ...record("k"), embedding: [1] });
  await expect(all(exportScope(store, scope))).rejects.toMatchObject({ code: "MEMORY_CORRUPTION" });
});

test("the versions of one key are those of no other", async () => {
  const store = await filled(3);
  await store.upsert(scope, { ...record("k00001"), value: 2 });
  const versions = await all(eachVersion(store, scope, { key: "k00001" }));
  expect(versions.map(({ key, version }) => [key, version])).toEqual([
    ["k00001", 1],
    ["k00001", 2],
  ]);
});
