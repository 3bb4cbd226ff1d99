// The refusal twin that every case has unless it brings its own: what the case needs and the store lacks is refused at
// run time, operation by operation, by the adapter's name. Never an empty list, never zero rows.

import assert from "node:assert/strict";
import { isMemoryError, type MemoryCapability, type MemoryKind, type MemoryStore } from "@memory/core";
import type { CaseContext } from "./context.ts";
import { KINDS, kindAccess, refused } from "./kinds.ts";
import { operations } from "./operations.ts";

/** Asserts that the store refuses what it lacks of these needs. */
export async function refuseMissing(context: CaseContext, missing: readonly string[]): Promise<void> {
  const store = await context.open();
  for (const operation of operations(context)) {
    // What a missing kind's finer flags would add cannot be refused by more than the kind.
    if (operation.needs === null || !missing.includes(operation.needs)) continue;
    await refused(context, store, operation.call(store, context.scope())).catch((failure: unknown) => {
      throw new assert.AssertionError({ message: `${operation.name}: ${String(failure)}` });
    });
  }
  for (const name of missing) await FINER[name]?.(context, store);
}

const FINER: Readonly<Record<string, (context: CaseContext, store: MemoryStore) => Promise<void>>> = {
  asOf: (context, store) => refuseOf(context, store, "profile", () => store.profile(context.scope(), "k", { asOf: 1 })),
  knownAt: (context, store) =>
    refuseOf(context, store, "profile", () => store.profile(context.scope(), "k", { knownAt: 1 })),
  erasureNarrowing: (context, store) =>
    refuseOf(context, store, "erasure", () => store.erase(context.scope(), { keys: ["k"] })),
  // These are said of a store when all of its kinds have them: at least one has not.
  reach: (context, store) =>
    refusedBySome(context, KINDS, (kind) => kindAccess(context, kind).list(store, context.scope(), "under")),
  filter: (context, store) =>
    refusedBySome(context, ["episodic", "semantic"], (kind) =>
      kind === "episodic"
        ? store.episodes(context.scope(), { filter: { a: 1 } })
        : store.search(context.scope(), { embedding: context.vector(1), filter: { a: 1 } }),
    ),
};

async function refuseOf(
  context: CaseContext,
  store: MemoryStore,
  section: MemoryCapability,
  call: () => Promise<unknown>,
): Promise<void> {
  if (context.capabilities[section]) await refused(context, store, call());
}

async function refusedBySome(
  context: CaseContext,
  kinds: readonly MemoryKind[],
  call: (kind: MemoryKind) => Promise<unknown>,
): Promise<void> {
  const held = kinds.filter((kind) => context.capabilities[kind]);
  const answers = await Promise.allSettled(held.map((kind) => call(kind)));
  const failures = answers.flatMap((answer) => (answer.status === "rejected" ? [answer.reason] : []));
  for (const failure of failures) assert.ok(isMemoryError(failure, "MEMORY_CAPABILITY"), String(failure));
  assert.ok(held.length === 0 || failures.length > 0, `not refused by any of ${held.join(", ")}`);
}
