// A scope with something of every kind in it, and the count of what can be read there: for promises about everything
// that a store holds (erasure, portability), over whichever kinds it has.

import type { MemoryCapabilities, MemoryKind, MemoryReach, MemoryScope, MemoryStore } from "@memory/core";
import type { CaseContext } from "./context.ts";
import { KINDS, record } from "./kinds.ts";

/** How many records per kind; a kind with none is absent, as in a receipt. */
export type Holdings = Partial<Record<MemoryKind, number>>;

/** Which kinds the store under test has. */
export function kindsOf(capabilities: MemoryCapabilities): readonly MemoryKind[] {
  return KINDS.filter((kind) => capabilities[kind]);
}

/**
 * Writes under `key`, of each kind that the store has: a working sequence of three elements (one record), three versions
 * of a fact, two episodes, one vector. Gives what there is now of it.
 */
export async function fill(
  context: CaseContext,
  store: MemoryStore,
  scope: MemoryScope,
  key: string,
  kinds: readonly MemoryKind[] = kindsOf(store.capabilities),
): Promise<Holdings> {
  const held: Holdings = {};
  if (kinds.includes("working")) {
    for (const value of [1, 2, 3]) await store.append(scope, key, value);
    held.working = 1;
  }
  if (kinds.includes("profile")) {
    for (const value of [1, 2, 3]) await store.upsert(scope, record(key, value));
    held.profile = 3;
  }
  if (kinds.includes("episodic")) {
    await store.logAll(scope, [record(key, 1), record(key, 2)]);
    held.episodic = 2;
  }
  if (kinds.includes("semantic")) {
    await store.index(scope, { ...record(key), embedding: context.vector(1) });
    held.semantic = 1;
  }
  return held;
}

/** What can be read in the scope, of at most 1,000 records a kind; of profiles every version. */
export async function readable(
  context: CaseContext,
  store: MemoryStore,
  scope: MemoryScope,
  reach: MemoryReach = "exact",
): Promise<Holdings> {
  const held: Holdings = {};
  const count = (kind: MemoryKind, list: readonly unknown[]) => {
    if (list.length > 0) held[kind] = list.length;
  };
  const limit = 1_000;
  if (store.capabilities.working) count("working", (await store.keys(scope, { reach, limit })).keys);
  if (store.capabilities.profile) count("profile", await store.history(scope, undefined, { reach }));
  if (store.capabilities.episodic) count("episodic", await store.episodes(scope, { reach, limit }));
  if (store.capabilities.semantic) {
    count("semantic", await store.search(scope, { embedding: context.vector(1), reach, limit }));
  }
  return held;
}

/** The sum of several holdings. */
export function sumOf(...all: readonly Holdings[]): Holdings {
  const sum: Holdings = {};
  for (const held of all) {
    for (const kind of KINDS) {
      const count = (sum[kind] ?? 0) + (held[kind] ?? 0);
      if (count > 0) sum[kind] = count;
    }
  }
  return sum;
}

/** How many records that is. */
export function totalOf(held: Holdings): number {
  return Object.values(held).reduce((sum, count) => sum + count, 0);
}
