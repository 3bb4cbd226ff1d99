// Operations on episodes: one by one and in batches, repeated as a careful caller repeats, and under an id that is taken.

import type { CallOptions, MemoryPage, MemoryStore } from "@memory/core";
import type { Answer, CallArgs } from "../history.ts";
import { scopeAt, type World } from "../world.ts";
import { anyKey, anyScope, type Caller, Looking, type Operation, recordOf } from "./operation.ts";

const KEYS = 2;
const PAGE = 200;
const REMEMBERED = 50;

/** What a worker does with episodes. */
export const episodicOperations: readonly Operation[] = [
  {
    name: "log",
    needs: "episodic",
    weight: 5,
    calls: 1,
    draw: (caller, id) => {
      const key = anyKey(caller, "e", KEYS);
      return { scope: anyScope(caller), key, items: [{ item: id, key }] };
    },
    perform: async (caller, id, args, options) => {
      const { store, world } = caller;
      await store.log(scopeAt(world, args.scope), recordOf(world, id, args.key ?? ""), options);
      remember(caller, args);
      return {};
    },
  },
  {
    name: "relog",
    needs: "episodic",
    weight: 1,
    calls: 1,
    draw: (caller) => {
      const own = drawOwn(caller);
      return own && { scope: own.scope, key: own.key, items: [{ item: own.item, key: own.key }] };
    },
    perform: async ({ store, world }, _id, { scope, key = "", items = [] }, options) => {
      for (const { item } of items) await store.log(scopeAt(world, scope), recordOf(world, item, key), options);
      return {};
    },
  },
  {
    name: "clash",
    needs: "episodic",
    weight: 0.5,
    calls: 1,
    draw: (caller, id) => {
      const own = drawOwn(caller);
      return own && { scope: own.scope, key: own.key, items: [{ item: id, key: own.key }], as: own.item };
    },
    perform: async ({ store, world }, id, { scope, key = "", as = "" }, options) => {
      const { id: taken } = recordOf(world, as, key);
      await store.log(scopeAt(world, scope), { ...recordOf(world, id, key), id: taken }, options);
      return {};
    },
  },
  {
    name: "logAll",
    needs: "episodic",
    weight: 1.5,
    calls: 1,
    draw: (caller, id) => {
      const key = anyKey(caller, "e", KEYS);
      const items = Array.from({ length: caller.dice.between(2, 12) }, (_, at) => ({ item: `${id}/${at}`, key }));
      return { scope: anyScope(caller), key, items };
    },
    perform: async ({ store, world }, _id, { scope, key = "", items = [] }, options) => {
      const records = items.map(({ item }) => recordOf(world, item, key));
      await store.logAll(scopeAt(world, scope), records, options);
      return {};
    },
  },
  {
    name: "episodes",
    needs: "episodic",
    weight: 3,
    calls: 1,
    draw: (caller) => {
      const group = caller.store.capabilities.filter && caller.dice.chance(0.4) ? { group: caller.dice.below(3) } : {};
      return { scope: anyScope(caller), reach: reachOf(caller), ...group };
    },
    perform: async ({ store, world }, _id, { scope, reach = "exact", group }, options) => {
      const looking = new Looking(world);
      const filter = group === undefined ? {} : { filter: { canary: world.canary, group } };
      const hits = await store.episodes(scopeAt(world, scope), { reach, limit: 25, ...filter }, options);
      let before = Number.POSITIVE_INFINITY;
      for (const { record } of hits) {
        looking.record(record);
        looking.expect((record.validFrom ?? 0) <= before, "episodes out of order");
        looking.expect(group === undefined || record.metadata?.["group"] === group, "a filter that does not filter");
        before = record.validFrom ?? 0;
      }
      return looking.answer();
    },
  },
  {
    name: "walk",
    needs: "episodic",
    weight: 0.4,
    calls: 20,
    draw: (caller) => ({ scope: anyScope(caller), reach: reachOf(caller) }),
    perform: ({ store, world }, _id, { scope, reach = "exact" }, options) => walk(store, world, scope, reach, options),
  },
];

async function walk(
  store: MemoryStore,
  world: World,
  scope: number,
  reach: "exact" | "under",
  options: CallOptions,
): Promise<Answer> {
  const looking = new Looking(world);
  let cursor: string | null = null;
  let pages = 0;
  do {
    const page: MemoryPage = await store.page(scopeAt(world, scope), { reach, limit: PAGE }, { cursor, ...options });
    for (const { record } of page.hits) looking.record(record);
    cursor = page.cursor;
    pages += 1;
  } while (cursor !== null);
  return looking.answer({ complete: true, pages });
}

function remember(caller: Caller, { scope, items = [] }: CallArgs): void {
  for (const { item, key } of items) caller.logged.push({ scope, item, key });
  if (caller.logged.length > REMEMBERED) caller.logged.shift();
}

function drawOwn({ logged, dice }: Caller): Caller["logged"][number] | undefined {
  return logged.length === 0 ? undefined : dice.pick(logged);
}

function reachOf({ store, dice }: Caller): "exact" | "under" {
  return store.capabilities.reach && dice.chance(0.3) ? "under" : "exact";
}
