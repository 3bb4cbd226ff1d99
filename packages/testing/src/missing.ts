// The refusal twin that every case has unless it brings its own: what the case needs and the store lacks is refused at
// run time, operation by operation, by the adapter's name. Never an empty list, never zero rows.

import assert from "node:assert/strict";
import { isMemoryError, type MemoryCapability, type MemoryKind, type MemoryStore } from "@memory/core";
import { about } from "./about.ts";
import type { CaseContext } from "./context.ts";
import { KINDS, kindAccess, refused } from "./kinds.ts";
import { operations } from "./operations.ts";

/** Asserts that the store refuses what it lacks of these needs; gives the names of the operations that it refused. */
export async function refuseMissing(context: CaseContext, missing: readonly string[]): Promise<readonly string[]> {
  const store = await context.open();
  const asked: string[] = [];
  for (const operation of operations(context)) {
    // What a missing kind's finer flags would add cannot be refused by more than the kind.
    if (operation.needs === null || !missing.includes(operation.needs)) continue;
    await refused(context, store, operation.call(store, context.scope())).catch(about(operation.name));
    asked.push(operation.name);
  }
  for (const name of missing) {
    const finer = FINER[name];
    if (finer !== undefined) asked.push(...(await finer(context, store)));
  }
  return asked;
}

const FINER: Readonly<Record<string, (context: CaseContext, store: MemoryStore) => Promise<readonly string[]>>> = {
  asOf: (context, store) =>
    refuseOf(context, store, "profile", "profile with asOf", () => store.profile(context.scope(), "k", { asOf: 1 })),
  knownAt: (context, store) =>
    refuseOf(context, store, "profile", "profile with knownAt", () =>
      store.profile(context.scope(), "k", { knownAt: 1 }),
    ),
  erasureNarrowing: (context, store) =>
    refuseOf(context, store, "erasure", "erase with keys", () => store.erase(context.scope(), { keys: ["k"] })),
  // These are said of a store when all of its kinds have them: at least one has not.
  reach: (context, store) =>
    refusedBySome(context, KINDS, "a list with reach", (kind) =>
      kindAccess(context, kind).list(store, context.scope(), "under"),
    ),
  filter: (context, store) =>
    refusedBySome(context, ["episodic", "semantic"], "a list with filter", (kind) =>
      kind === "episodic"
        ? store.episodes(context.scope(), { filter: { a: 1 } })
        : store.search(context.scope(), { embedding: context.vector(1), filter: { a: 1 } }),
    ),
};

async function refuseOf(
  context: CaseContext,
  store: MemoryStore,
  section: MemoryCapability,
  name: string,
  call: () => Promise<unknown>,
): Promise<readonly string[]> {
  if (!context.capabilities[section]) return [];
  await refused(context, store, call()).catch(about(name));
  return [name];
}

async function refusedBySome(
  context: CaseContext,
  kinds: readonly MemoryKind[],
  name: string,
  call: (kind: MemoryKind) => Promise<unknown>,
): Promise<readonly string[]> {
  const held = kinds.filter((kind) => context.capabilities[kind]);
  const answers = await Promise.allSettled(held.map((kind) => call(kind)));
  const failures = answers.flatMap((answer) => (answer.status === "rejected" ? [answer.reason] : []));
  for (const failure of failures) assert.ok(isMemoryError(failure, "MEMORY_CAPABILITY"), String(failure));
  assert.ok(held.length === 0 || failures.length > 0, `${name}: not refused by any of ${held.join(", ")}`);
  return held.length === 0 ? [] : [name];
}
