// Operations on everything: erasures of all shapes, derived artefacts, and the check that a deployment runs at start-up.

import { type EraseOptions, isMemoryError, type MemoryKind } from "@memory/core";
import type { Answer, CallArgs } from "../history.ts";
import { INDEX } from "../outcome.ts";
import { keyText, numberOf, scopeAt } from "../world.ts";
import { anyScope, type Operation } from "./operation.ts";

/** The key under which a history speaks of artefacts. */
export const ARTEFACTS = "a";

const KINDS: readonly MemoryKind[] = ["working", "profile", "episodic", "semantic"];
const KEYS = ["r0", "r1", "x0", "q0", "q1", "f0", "f1", "b0", "e0", "v0", "v1"];

/** What a worker does with everything. */
export const erasureOperations: readonly Operation[] = [
  {
    name: "erase",
    needs: "erasure",
    weight: 0.5,
    // Tombstone, artefacts, and a sweep in chunks.
    calls: 8,
    draw: (caller) => {
      const { dice, world, store } = caller;
      const may = world.scopes.flatMap((scope, at) => {
        const fate = world.fates[at];
        const isUsers = scope.userId?.endsWith(" u1") === true;
        return fate === "erased" || (fate === "touched" && isUsers) ? [at] : [];
      });
      const scope = dice.pick(may);
      if (!store.capabilities.erasureNarrowing) return { scope };
      const kinds = KINDS.filter((kind) => store.capabilities[kind]);
      return dice.weighted<CallArgs>([
        [4, { scope }],
        [2, { scope, reach: "exact" }],
        [2, { scope, keys: dice.shuffled(KEYS).slice(0, 2) }],
        [1, { scope, kinds: [dice.pick(kinds)] }],
        [1, { scope, dryRun: true }],
      ]);
    },
    perform: async ({ store, world }, _id, args, options) => {
      const narrowed: EraseOptions = {
        ...(args.reach === undefined ? {} : { reach: args.reach }),
        ...(args.kinds === undefined ? {} : { kinds: KINDS.filter((kind) => args.kinds?.includes(kind)) }),
        ...(args.keys === undefined ? {} : { keys: args.keys.map((key) => keyText(world, key)) }),
        ...(args.dryRun === undefined ? {} : { dryRun: args.dryRun }),
        ...options,
      };
      const { counts, complete } = await store.erase(scopeAt(world, args.scope), narrowed);
      return { counts: { ...counts }, complete };
    },
  },
  {
    name: "derived",
    needs: "erasure",
    weight: 1,
    calls: 1,
    draw: (caller, id) => {
      const shared = caller.dice.chance(0.2);
      const items = shared ? {} : { items: [{ item: id, key: ARTEFACTS }] };
      return { scope: anyScope(caller), artefact: shared ? "shared" : id, ...items };
    },
    perform: async ({ store, world }, id, { scope, artefact = "" }, options) => {
      const sourceKind = KINDS.find((kind) => store.capabilities[kind]) ?? "working";
      const input = { artefactId: artefactText(world.canary, artefact), sourceKind, sourceId: `${world.canary}/${id}` };
      await store.derived(scopeAt(world, scope), { ...input, adapter: INDEX }, options);
      return {};
    },
  },
  {
    name: "derivations",
    needs: "erasure",
    weight: 0.5,
    calls: 1,
    draw: (caller) => ({ scope: anyScope(caller) }),
    perform: async ({ store, world }, _id, { scope }, options) => {
      const page = await store.derivations(scopeAt(world, scope), { limit: 1_000, ...options });
      const seen = page.derivations.flatMap((one) => {
        const item = artefactOf(world.canary, one.artefactId);
        return item === "shared" ? [] : [{ item, scope: numberOf(world, one.scope), key: ARTEFACTS }];
      });
      return { seen, complete: page.cursor === null };
    },
  },
  {
    name: "verify",
    needs: "erasure",
    weight: 0.05,
    calls: 2,
    draw: (caller) => ({ scope: anyScope(caller) }),
    perform: async ({ store }, _id, _args, options) => {
      await store.verify(options);
      return {};
    },
  },
];

/** What a partial erasure did: everything is unreadable, and it is counted. */
export function partialAnswer(error: unknown): Answer | undefined {
  if (!isMemoryError(error, "PARTIAL_ERASURE")) return undefined;
  return { counts: { ...error.receipt.counts }, complete: false };
}

/** The artefact's id in the derived index. */
function artefactText(canary: string, artefact: string): string {
  return `${canary}/artefact/${artefact}`;
}

/** The artefact of such an id. */
export function artefactOf(canary: string, id: string): string {
  return id.slice(`${canary}/artefact/`.length);
}
