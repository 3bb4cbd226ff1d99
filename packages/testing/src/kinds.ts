// The four kinds through one pair of eyes: put a record at a key, get it back, list what is there. For promises that
// every kind keeps, so that each is proven for each.

import assert from "node:assert/strict";
import type {
  JsonValue,
  MemoryCapability,
  MemoryKind,
  MemoryReach,
  MemoryRecord,
  MemoryRecordInput,
  MemoryScope,
  MemoryStore,
} from "@memory/core";
import type { CaseContext } from "./context.ts";

/** Every kind. */
export const KINDS: readonly MemoryKind[] = ["working", "profile", "episodic", "semantic"];

/** Every capability that is there or not, in the order in which a `CapabilityError` names them. */
export const CAPABILITIES: readonly MemoryCapability[] = [
  ...KINDS,
  "asOf",
  "knownAt",
  "supersession",
  "erasure",
  "erasureNarrowing",
  "reach",
  "filter",
];

/** One kind, by its plainest write and reads. */
export interface KindAccess {
  readonly kind: MemoryKind;
  /** Writes a record as the kind takes it (with a vector, for the semantic one). */
  put(store: MemoryStore, scope: MemoryScope, record: MemoryRecordInput): Promise<MemoryRecord>;
  /** The record at the key, or `null`. */
  get(store: MemoryStore, scope: MemoryScope, key: string): Promise<MemoryRecord | null>;
  /** The scope and key of everything there, up to 100. */
  list(
    store: MemoryStore,
    scope: MemoryScope,
    reach?: MemoryReach,
  ): Promise<readonly { readonly scope: MemoryScope; readonly key: string }[]>;
}

/** A record with what every record needs. */
export function record(key: string, value: JsonValue = 1): MemoryRecordInput {
  return { key, value, source: "case" };
}

/** Every kind, for a case's context. */
export function kindAccess(context: CaseContext, kind: MemoryKind): KindAccess {
  const embedding = () => context.vector(7);
  const access: Readonly<Record<MemoryKind, Omit<KindAccess, "kind">>> = {
    working: {
      put: (store, scope, input) => store.write(scope, input),
      get: (store, scope, key) => store.read(scope, key),
      list: async (store, scope, reach) => (await store.keys(scope, { reach })).keys,
    },
    profile: {
      put: (store, scope, input) => store.upsert(scope, input),
      get: (store, scope, key) => store.profile(scope, key),
      list: async (store, scope, reach) => (await store.beliefs(scope, { reach })).beliefs,
    },
    episodic: {
      put: (store, scope, input) => store.log(scope, input),
      get: async (store, scope, key) => (await store.episodes(scope, { key, limit: 1 }))[0]?.record ?? null,
      list: async (store, scope, reach) =>
        (await store.episodes(scope, { reach, limit: 100 })).map((hit) => hit.record),
    },
    semantic: {
      put: (store, scope, input) => store.index(scope, { embedding: embedding(), ...input }),
      get: (store, scope, key) => store.recall(scope, key),
      list: async (store, scope, reach) =>
        (await store.search(scope, { embedding: embedding(), reach, limit: 100 })).map((hit) => hit.record),
    },
  };
  return { kind, ...access[kind] };
}

/**
 * Asserts that the operation is refused for want of a capability: by this adapter, naming nothing that the store has.
 * The body of a refusal twin.
 */
export async function refused(context: CaseContext, store: MemoryStore, promise: Promise<unknown>): Promise<void> {
  const error = await context.rejects(promise, "MEMORY_CAPABILITY", { adapter: store.name });
  assert.ok(error.missing.length > 0, "the refusal names nothing that is missing");
  const flags: Readonly<Record<string, unknown>> = { ...context.capabilities };
  const held = error.missing.filter((name) => flags[name] === true);
  assert.deepEqual(held, [], "the refusal names a capability that the store has");
}

/** What `needs` a case over one kind has. */
export function needsKind(
  kind: MemoryKind,
  ...more: readonly MemoryCapability[]
): Partial<Record<MemoryCapability, true>> {
  return Object.fromEntries([kind, ...more].map((name) => [name, true]));
}
