// What is looked at after each step and at the end of a sequence: everything that a caller can see of the kinds that the
// step can have touched, so that a wrong is noticed where it happens and not only where it is asked for.

import type { MemoryCapabilities, MemoryKind, MemoryScope, MemoryStore } from "@memory/core";
import { FILTERS, type Operation } from "./operation.ts";
import { keyOf, scopeOf, type World } from "./side.ts";

/** One question to a store. */
export interface Look {
  readonly name: string;
  ask(store: MemoryStore): Promise<unknown>;
}

/** What a run looks at. */
export interface Sights {
  readonly kinds: readonly MemoryKind[];
  readonly capabilities: MemoryCapabilities;
}

/** What is looked at after a step. */
export function looksAfter(step: Operation, world: World, sights: Sights): readonly Look[] {
  const root = scopeOf(world, 0);
  const scope = "scope" in step ? scopeOf(world, step.scope) : root;
  const key = "key" in step && step.key !== undefined ? keyOf(world, step.key) : keyOf(world, 0);
  switch (step.op) {
    case "write":
    case "append":
    case "expire":
      return [...readLooks(scope, key), ...wide("working", world, root, sights)];
    case "upsert":
    case "supersede":
    case "repeat":
      return [
        ...beliefLooks(scope, key, world.start + step.asOf, world.start + step.knownAt, sights),
        ...beliefsLooks(root, world.start + step.asOf, world.start + step.knownAt, sights),
        ...wide("profile", world, root, sights),
      ];
    case "log":
    case "logAll":
      return wide("episodic", world, root, sights);
    case "index":
      return [recallLook(scope, key), ...wide("semantic", world, root, sights)];
    case "indexAll":
      return wide("semantic", world, root, sights);
    case "derived":
      return [derivationsLook(root, sights)];
    case "erase":
      return [derivationsLook(root, sights), ...sights.kinds.flatMap((kind) => wide(kind, world, root, sights))];
    default:
      return [];
  }
}

/** Everything, of every scope and key of the world, in pages too. */
export function looksAtEnd(world: World, sights: Sights): readonly Look[] {
  const scopes = world.sequence.scopes.map((_, number) => scopeOf(world, number));
  const instants = [0, 25].map((offset) => world.start + offset);
  return scopes.flatMap((scope) => [
    ...sights.kinds.flatMap((kind) => [
      ...wide(kind, world, scope, sights),
      ...paged(kind, scope, sights),
      ...filtered(kind, scope, sights),
    ]),
    ...(sights.capabilities.erasure ? [derivationsLook(scope, sights)] : []),
    ...world.sequence.keys.flatMap((key) => [
      ...(sights.kinds.includes("working") ? readLooks(scope, key) : []),
      ...(sights.kinds.includes("semantic") ? [recallLook(scope, key)] : []),
      ...(sights.kinds.includes("profile")
        ? instants.flatMap((asOf, at) => beliefLooks(scope, key, asOf, instants[1 - at] ?? asOf, sights))
        : []),
    ]),
  ]);
}

function readLooks(scope: MemoryScope, key: string): readonly Look[] {
  return [
    { name: "read", ask: (store) => store.read(scope, key) },
    { name: "read last 2", ask: (store) => store.read(scope, key, { last: 2 }) },
  ];
}

function recallLook(scope: MemoryScope, key: string): Look {
  return { name: "recall", ask: (store) => store.recall(scope, key) };
}

function derivationsLook(scope: MemoryScope, { capabilities }: Sights): Look {
  const reach = capabilities.reach ? "under" : "exact";
  return { name: "derivations", ask: (store) => store.derivations(scope, { reach, limit: 1_000 }) };
}

function beliefLooks(scope: MemoryScope, key: string, asOf: number, knownAt: number, sights: Sights): readonly Look[] {
  const { capabilities } = sights;
  const looks: Look[] = [
    { name: "belief", ask: (store) => store.belief(scope, key) },
    { name: "profile", ask: (store) => store.profile(scope, key) },
  ];
  const ask = (options: { readonly asOf?: number; readonly knownAt?: number }) =>
    looks.push({ name: `belief ${Object.keys(options)}`, ask: (store) => store.belief(scope, key, options) });
  if (capabilities.asOf) ask({ asOf });
  if (capabilities.knownAt) ask({ knownAt });
  if (capabilities.asOf && capabilities.knownAt) ask({ asOf, knownAt });
  return looks;
}

function beliefsLooks(scope: MemoryScope, asOf: number, knownAt: number, { capabilities }: Sights): readonly Look[] {
  const options = {
    limit: 1_000,
    ...(capabilities.reach ? ({ reach: "under" } as const) : {}),
    ...(capabilities.asOf ? { asOf } : {}),
    ...(capabilities.knownAt ? { knownAt } : {}),
  };
  return [{ name: "beliefs then", ask: (store) => store.beliefs(scope, options) }];
}

// Whole lists of a kind under a scope.
function wide(kind: MemoryKind, world: World, scope: MemoryScope, sights: Sights): readonly Look[] {
  const reach = sights.capabilities.reach ? "under" : "exact";
  switch (kind) {
    case "working":
      return [{ name: "keys", ask: (store) => store.keys(scope, { reach, limit: 1_000 }) }];
    case "profile":
      return [
        { name: "history", ask: (store) => store.history(scope, undefined, { reach }) },
        { name: "beliefs", ask: (store) => store.beliefs(scope, { reach, limit: 1_000 }) },
      ];
    case "episodic":
      return [{ name: "episodes", ask: (store) => store.episodes(scope, { reach, limit: 1_000 }) }];
    default: {
      const width = sights.capabilities.embeddingDimensions ?? 1;
      const embedding = Array.from({ length: width }, (_, at) => (at < 2 ? 1 : 0));
      const asOf = world.start + 20;
      return [
        { name: "search", ask: (store) => store.search(scope, { embedding, reach, limit: 1_000 }) },
        { name: "search asOf", ask: (store) => store.search(scope, { embedding, reach, asOf, limit: 3 }) },
      ];
    }
  }
}

// The same lists two at a time, exact and by prefix, joined: what pages give must be what the list gives.
function paged(kind: MemoryKind, scope: MemoryScope, { capabilities }: Sights): readonly Look[] {
  const reach = capabilities.reach ? "under" : "exact";
  switch (kind) {
    case "working":
      return [undefined, "k", "*", "%"].map((keyPrefix) => ({
        name: `keys by twos from ${keyPrefix}`,
        ask: (store) =>
          walk(async (cursor) => {
            const page = await store.keys(scope, { limit: 2, keyPrefix, cursor, reach });
            return { items: page.keys, cursor: page.cursor };
          }),
      }));
    case "profile":
      return [undefined, "k", "_", "a"].map((keyPrefix) => ({
        name: `beliefs by twos from ${keyPrefix}`,
        ask: (store) =>
          walk(async (cursor) => {
            const page = await store.beliefs(scope, { limit: 2, keyPrefix, cursor, reach });
            return { items: page.beliefs, cursor: page.cursor };
          }),
      }));
    case "episodic":
      return [
        {
          name: "episodes by twos",
          ask: (store) =>
            walk(async (cursor) => {
              const page = await store.page(scope, { limit: 2, reach }, { cursor });
              return { items: page.hits, cursor: page.cursor };
            }),
        },
      ];
    default:
      return [];
  }
}

function filtered(kind: MemoryKind, scope: MemoryScope, { capabilities }: Sights): readonly Look[] {
  if (!capabilities.filter || (kind !== "episodic" && kind !== "semantic")) return [];
  const reach = capabilities.reach ? "under" : "exact";
  const width = capabilities.embeddingDimensions ?? 1;
  const embedding = Array.from({ length: width }, (_, at) => (at === 0 ? 1 : 0));
  return FILTERS.map((filter) => ({
    name: `${kind} with ${JSON.stringify(filter)}`,
    ask: (store) =>
      kind === "episodic"
        ? store.episodes(scope, { filter, reach, limit: 3 })
        : store.search(scope, { embedding, filter, reach, limit: 3 }),
  }));
}

async function walk(
  turn: (cursor: string | undefined) => Promise<{ readonly items: readonly unknown[]; readonly cursor: string | null }>,
): Promise<readonly unknown[]> {
  const all: unknown[] = [];
  let cursor: string | undefined;
  for (let pages = 0; pages < 10_000; pages += 1) {
    const page = await turn(cursor);
    all.push(...page.items);
    if (page.cursor === null) return all;
    cursor = page.cursor;
  }
  throw new RangeError("a list did not end after 10,000 pages");
}
