// Operations on working memory: registers that are replaced, brief ones that also expire, and sequences.

import type { MemoryKeyPage } from "@memory/core";
import { keyOf, keyText, kindOf, numberOf, payload, scopeAt } from "../world.ts";
import { anyKey, anyScope, type Caller, Looking, type Operation, placeName, recordOf } from "./operation.ts";

const REGISTERS = 3;
const BRIEF = 2;
const SEQUENCES = 2;

/** What a worker does with working memory. */
export const workingOperations: readonly Operation[] = [
  {
    name: "write",
    needs: "working",
    weight: 5,
    calls: 1,
    draw: (caller, id) => {
      const key = caller.dice.chance(0.25) ? anyKey(caller, "x", BRIEF) : anyKey(caller, "r", REGISTERS);
      return { scope: anyScope(caller), key, items: [{ item: id, key }] };
    },
    perform: async ({ store, world }, id, args, options) => {
      const written = await store.write(scopeAt(world, args.scope), recordOf(world, id, args.key ?? ""), options);
      return written.key === keyText(world, args.key ?? "") ? {} : { flaws: ["another key came back"] };
    },
  },
  {
    name: "expire",
    needs: "working",
    weight: 1,
    calls: 1,
    draw: (caller) => ({
      scope: anyScope(caller),
      key: anyKey(caller, "x", BRIEF),
      ttlMs: caller.dice.pick([0, 20, 150]),
    }),
    perform: async ({ store, world }, _id, { scope, key = "", ttlMs = 0 }, options) => {
      return { was: await store.expire(scopeAt(world, scope), keyText(world, key), { ttlMs, ...options }) };
    },
  },
  {
    name: "append",
    needs: "working",
    weight: 8,
    calls: 1,
    draw: (caller, id) => {
      const key = anyKey(caller, "q", SEQUENCES);
      const scope = anyScope(caller);
      const known = caller.known.get(placeName({ scope, key }));
      const insists = known !== undefined && caller.dice.chance(0.2);
      return { scope, key, items: [{ item: id, key }], ...(insists ? { after: known } : {}) };
    },
    perform: async (caller, id, args, options) => {
      const { store, world } = caller;
      const place = [scopeAt(world, args.scope), keyText(world, args.key ?? "")] as const;
      const more = { source: `${world.canary} turn`, after: args.after, ...options };
      const at = await store.append(...place, payload(world, id), more);
      caller.known.set(placeName(args), at);
      return { at };
    },
  },
  {
    name: "read",
    needs: "working",
    weight: 7,
    calls: 1,
    draw: (caller) => {
      const [letter, count] = caller.dice.pick([
        ["r", REGISTERS],
        ["x", BRIEF],
        ["q", SEQUENCES],
        ["q", SEQUENCES],
      ] as const);
      const last = letter === "q" && caller.dice.chance(0.5) ? { last: caller.dice.between(1, 20) } : {};
      return { scope: anyScope(caller), key: anyKey(caller, letter, count), ...last };
    },
    perform: async ({ store, world }, _id, { scope, key = "", last }, options) => {
      const looking = new Looking(world);
      const record = await store.read(scopeAt(world, scope), keyText(world, key), { last, ...options });
      if (record !== null && kindOf(key) === "sequence") looking.sequence(record, last === undefined);
      else if (record !== null) looking.record(record);
      return looking.answer();
    },
  },
  {
    name: "keys",
    needs: "working",
    weight: 1,
    // A page of Redis looks into each scope under the one asked for.
    calls: 8,
    draw: (caller) => ({ scope: anyScope(caller), reach: reachOf(caller) }),
    perform: async ({ store, world }, _id, { scope, reach = "exact" }, options) => {
      const page: MemoryKeyPage = await store.keys(scopeAt(world, scope), { reach, limit: 1_000, ...options });
      const flaws: string[] = [];
      const keys = page.keys.flatMap((one) => {
        const place = { scope: numberOf(world, one.scope), key: keyOf(world, one.key) };
        if (place.scope !== -1 && place.key !== undefined) return [{ scope: place.scope, key: place.key }];
        flaws.push("a key that is not in this world");
        return [];
      });
      return { keys, complete: page.cursor === null, ...(flaws.length === 0 ? {} : { flaws }) };
    },
  },
];

function reachOf({ store, dice }: Caller): "exact" | "under" {
  return store.capabilities.reach && dice.chance(0.5) ? "under" : "exact";
}
