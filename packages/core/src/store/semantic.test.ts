// What the semantic operations send down and take back, beyond what a store's caller can see.

import { expect, test } from "vitest";
import { inMemoryDriver } from "../in-memory/driver.ts";
import type { MemoryDriver, SemanticSection, StoredRecord } from "../model/driver.ts";
import type { MemoryStore } from "../model/protocol.ts";
import { createMemoryStore } from "../store.ts";

const scope = { tenantId: "acme" };
const embedding = [1, 0];

function opened(change: (section: SemanticSection) => Partial<SemanticSection>): MemoryStore {
  const inner = inMemoryDriver({ embeddingDimensions: 2 });
  if (inner.semantic === undefined) throw new Error("the section is missing");
  const driver: MemoryDriver = { ...inner, semantic: { ...inner.semantic, ...change(inner.semantic) } };
  return createMemoryStore(driver);
}

const record = (key: string, value: number) => ({ key, value, source: "s", embedding });

test("of equal keys in one batch only the last goes down, and each is answered", async () => {
  const batches: (readonly StoredRecord[])[] = [];
  const store = opened(({ index }) => ({
    index: (records, call) => {
      batches.push(records);
      return index(records, call);
    },
  }));
  const answers = await store.indexAll(scope, [record("a", 1), record("b", 2), record("a", 3)]);
  expect(answers.map(({ value }) => value)).toEqual([1, 2, 3]);
  expect(batches.map((records) => records.map(({ key, value }) => [key, value]))).toEqual([
    [
      ["a", "3"],
      ["b", "2"],
    ],
  ]);
});

test("an empty batch asks the driver nothing", async () => {
  const store = opened(() => ({ index: () => Promise.reject(new Error("not to be called")) }));
  expect(await store.indexAll(scope, [])).toEqual([]);
});

test.each([[[1]], [[1, 0, 0]], [undefined]])("a record read back with the vector %j is corruption", async (damaged) => {
  const store = opened(({ get }) => ({
    get: async (request, call) => {
      const row = await get(request, call);
      return row === null ? null : { ...row, embedding: damaged };
    },
  }));
  await store.index(scope, record("k", 1));
  await expect(store.recall(scope, "k")).rejects.toMatchObject({ code: "MEMORY_CORRUPTION" });
});

test.each([Number.NaN, "1", null])("a hit with the score %j is corruption", async (score) => {
  const store = opened(({ nearest }) => ({
    nearest: async (request, call) => (await nearest(request, call)).map((hit) => Object.assign({}, hit, { score })),
  }));
  await store.index(scope, record("k", 1));
  await expect(store.search(scope, { embedding })).rejects.toMatchObject({ code: "MEMORY_CORRUPTION" });
});

test("a search gives no vector back, also where the driver does", async () => {
  const store = opened(({ nearest }) => ({
    nearest: async (request, call) =>
      (await nearest(request, call)).map((hit) => ({ ...hit, record: { ...hit.record, embedding } })),
  }));
  await store.index(scope, record("k", 1));
  const [hit] = await store.search(scope, { embedding });
  expect(Object.keys(hit?.record ?? {})).not.toContain("embedding");
});

test("a filter that matches nothing asks the driver nothing", async () => {
  const store = opened(() => ({ nearest: () => Promise.reject(new Error("not to be called")) }));
  expect(await store.search(scope, { embedding, filter: { a: [] } })).toEqual([]);
});
