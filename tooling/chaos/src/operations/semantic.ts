// Operations on vectors. An item's vector follows from its name, so that a value with another's vector is seen.

import type { MemoryRecord, MemoryStore } from "@memory/core";
import { itemOf, keyText, scopeAt, vectorOf, type World } from "../world.ts";
import { anyKey, anyScope, type Caller, Looking, type Operation, recordOf } from "./operation.ts";

const KEYS = 4;

/** What a worker does with vectors. */
export const semanticOperations: readonly Operation[] = [
  {
    name: "index",
    needs: "semantic",
    weight: 4,
    calls: 1,
    draw: (caller, id) => {
      const key = anyKey(caller, "v", KEYS);
      return { scope: anyScope(caller), key, items: [{ item: id, key }] };
    },
    perform: async ({ store, world }, id, { scope, key = "" }, options) => {
      await store.index(scopeAt(world, scope), embedded(store, world, id, key), options);
      return {};
    },
  },
  {
    name: "indexAll",
    needs: "semantic",
    weight: 1,
    calls: 1,
    draw: (caller, id) => {
      const keys = Array.from({ length: KEYS }, (_, at) => `v${at}`).slice(caller.dice.below(KEYS - 1));
      return { scope: anyScope(caller), items: keys.map((key) => ({ item: `${id}/${key}`, key })) };
    },
    perform: async ({ store, world }, _id, { scope, items = [] }, options) => {
      const records = items.map(({ item, key }) => embedded(store, world, item, key));
      await store.indexAll(scopeAt(world, scope), records, options);
      return {};
    },
  },
  {
    name: "recall",
    needs: "semantic",
    weight: 4,
    calls: 1,
    draw: (caller) => ({ scope: anyScope(caller), key: anyKey(caller, "v", KEYS) }),
    perform: async ({ store, world }, _id, { scope, key = "" }, options) => {
      const looking = new Looking(world);
      const record = await store.recall(scopeAt(world, scope), keyText(world, key), options);
      if (record !== null) {
        looking.record(record);
        looking.expect(isWhole(store, world, record), "a value with another's vector");
      }
      return looking.answer();
    },
  },
  {
    name: "search",
    needs: "semantic",
    weight: 3,
    calls: 2,
    draw: (caller) => ({ scope: anyScope(caller), reach: reachOf(caller) }),
    perform: async ({ store, world }, id, { scope, reach = "exact" }, options) => {
      const looking = new Looking(world);
      const embedding = vectorOf(id, store.capabilities.embeddingDimensions ?? 1);
      const filter = store.capabilities.filter ? { filter: { canary: world.canary } } : {};
      const query = { embedding, reach, limit: 100, ...filter };
      let before = Number.POSITIVE_INFINITY;
      const hits = await store.search(scopeAt(world, scope), query, options);
      for (const { record, score } of hits) {
        looking.record(record);
        looking.expect(score <= before, "hits out of order");
        before = score;
      }
      // More than there are keys in all scopes of a tenant: with fewer hits than that, all are here.
      return looking.answer({ complete: hits.length < 100 });
    },
  },
];

function embedded(store: MemoryStore, world: World, item: string, key: string) {
  const embedding = vectorOf(item, store.capabilities.embeddingDimensions ?? 1);
  return { ...recordOf(world, item, key), embedding };
}

function isWhole(store: MemoryStore, world: World, { value, embedding = [] }: MemoryRecord): boolean {
  const expected = vectorOf(itemOf(world, value) ?? "", store.capabilities.embeddingDimensions ?? 1);
  return embedding.length === expected.length && embedding.every((one, at) => one === expected[at]);
}

function reachOf({ store, dice }: Caller): "exact" | "under" {
  return store.capabilities.reach && dice.chance(0.5) ? "under" : "exact";
}
