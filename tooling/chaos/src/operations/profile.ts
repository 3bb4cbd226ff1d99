// Operations on facts: keys that one lineage holds, and keys whose writers speak about different subjects.

import type { MemoryRecord } from "@memory/core";
import type { Answer, CallArgs } from "../history.ts";
import { keyText, kindOf, scopeAt } from "../world.ts";
import { anyKey, anyScope, type Caller, Looking, type Operation, placeName, recordOf } from "./operation.ts";

const FACTS = 2;
const BRANCHES = 1;

/** What a worker does with profiles. */
export const profileOperations: readonly Operation[] = [
  {
    name: "upsert",
    needs: "profile",
    weight: 2,
    // What is there and the write, planned again after lost races until the budget of one call has passed.
    calls: 3,
    draw: (caller, id) => drawFact(caller, id, anyKey(caller, "f", FACTS)),
    perform: async (caller, id, args, options) => {
      const { store, world } = caller;
      const record = recordOf(world, id, args.key ?? "");
      return learn(caller, args, await store.upsert(scopeAt(world, args.scope), record, options));
    },
  },
  {
    name: "supersede",
    needs: "supersession",
    weight: 6,
    calls: 3,
    draw: (caller, id) => {
      if (caller.dice.chance(0.2)) {
        const fact = drawFact(caller, id, anyKey(caller, "b", BRANCHES));
        return { ...fact, subject: caller.dice.pick(["s", "s1"]) };
      }
      const fact = drawFact(caller, id, anyKey(caller, "f", FACTS));
      const known = caller.known.get(placeName(fact));
      const insists = known !== undefined && caller.dice.chance(0.3);
      return insists ? { ...fact, expectedVersion: known } : fact;
    },
    perform: async (caller, id, args, options) => {
      const { store, world } = caller;
      const about = args.subject === undefined ? {} : { subject: `${world.canary} ${args.subject}` };
      const record = { ...recordOf(world, id, args.key ?? ""), ...about };
      const insists = args.expectedVersion === undefined ? {} : { expectedVersion: args.expectedVersion };
      const written = await store.supersede(scopeAt(world, args.scope), record, { ...insists, ...options });
      return learn(caller, args, written.record);
    },
  },
  {
    name: "profile",
    needs: "profile",
    weight: 4,
    calls: 1,
    draw: (caller) => drawRead(caller),
    perform: async ({ store, world }, _id, { scope, key = "" }, options) => {
      const looking = new Looking(world);
      const record = await store.profile(scopeAt(world, scope), keyText(world, key), options);
      if (record !== null) looking.record(record, record.version);
      return looking.answer();
    },
  },
  {
    name: "belief",
    needs: "profile",
    weight: 2,
    calls: 1,
    draw: (caller) => drawRead(caller),
    perform: async ({ store, world }, _id, { scope, key = "" }, options) => {
      const looking = new Looking(world);
      const { record, contradiction } = await store.belief(scopeAt(world, scope), keyText(world, key), options);
      for (const one of contradiction?.holds ?? (record === null ? [] : [record])) looking.record(one, one.version);
      looking.expect(kindOf(key) === "branch" || contradiction === null, "a contradiction where one lineage is");
      return looking.answer();
    },
  },
  {
    name: "beliefs",
    needs: "profile",
    weight: 1,
    calls: 1,
    draw: (caller) => ({ scope: anyScope(caller), reach: reachOf(caller) }),
    perform: async ({ store, world }, _id, { scope, reach = "exact" }, options) => {
      const looking = new Looking(world);
      const page = await store.beliefs(scopeAt(world, scope), { reach, limit: 100, ...options });
      for (const { record } of page.beliefs) if (record !== null) looking.record(record, record.version);
      return looking.answer();
    },
  },
  {
    name: "history",
    needs: "profile",
    weight: 3,
    calls: 2,
    draw: (caller) => drawRead(caller),
    perform: ({ store, world }, _id, { scope, key = "" }, options) => {
      return lookAtTrail(world, store.history(scopeAt(world, scope), keyText(world, key), options), key);
    },
  },
];

async function lookAtTrail(
  world: Caller["world"],
  asked: Promise<readonly MemoryRecord[]>,
  key: string,
): Promise<Answer> {
  const looking = new Looking(world);
  const trail = await asked;
  let recordedAt = Number.NEGATIVE_INFINITY;
  for (const [index, one] of trail.entries()) {
    looking.record(one, one.version);
    looking.expect(one.version === index + 1, "versions with a gap");
    looking.expect((one.recordedAt ?? 0) >= recordedAt, "recordedAt decreases with the version");
    recordedAt = one.recordedAt ?? 0;
  }
  const open = trail.filter(({ validTo }) => validTo === undefined).length;
  if (kindOf(key) === "fact" && trail.length > 0) looking.expect(open === 1, `${open} versions live in one lineage`);
  return looking.answer();
}

function drawFact(caller: Caller, id: string, key: string): CallArgs {
  return { scope: anyScope(caller), key, items: [{ item: id, key }] };
}

function drawRead(caller: Caller): CallArgs {
  const key = caller.dice.chance(0.2) ? anyKey(caller, "b", BRANCHES) : anyKey(caller, "f", FACTS);
  return { scope: anyScope(caller), key };
}

function learn(caller: Caller, args: CallArgs, { version = 0 }: MemoryRecord): Answer {
  caller.known.set(placeName(args), version);
  return { at: version };
}

function reachOf({ store, dice }: Caller): "exact" | "under" {
  return store.capabilities.reach && dice.chance(0.5) ? "under" : "exact";
}
