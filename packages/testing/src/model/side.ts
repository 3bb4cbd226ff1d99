// One of the two stores of a run, and how a step is done to it. Both sides do exactly the same; what a step needs to know
// about the state (what holds, what is newest) it asks of the reference, once, for both.

import {
  type DerivedIndex,
  isMemoryError,
  MemoryConflictError,
  type MemoryError,
  type MemoryPage,
  type MemoryQuery,
  type MemoryRecordInput,
  type MemoryScope,
  type MemoryStore,
  memoryScope,
} from "@memory/core";
import { untyped } from "../untyped.ts";
import { FAULTS } from "./fault.ts";
import type { Content, Operation, Query, Sequence } from "./operation.ts";

// Ids as a store renames them are among those that callers choose.
const PROFILE_IDS = ["p0", "p1", "p0@2", "p0@3"];

/** The store's TTL where a sequence has one, in milliseconds. */
export const TTL_MS = 25;

/** A sequence's names made whole: scopes under tenants of its own, instants after its start. */
export interface World {
  readonly scopes: readonly MemoryScope[];
  readonly start: number;
  readonly sequence: Sequence;
}

/** The world of a sequence; `tenant` begins the name of each of its tenants, and of no other sequence's. */
export function worldOf(sequence: Sequence, tenant: string, start: number): World {
  const scopes = sequence.scopes.map(({ tenant: suffix, ...parts }) =>
    memoryScope({ tenantId: `${tenant}${suffix}`, ...parts }),
  );
  return { scopes, start, sequence };
}

/** What a step may know about the state before it, from the reference. */
export interface Hints {
  /** The ids of the records that hold at the key now. */
  readonly holds: readonly string[];
  /** The key's newest version. */
  readonly newest: number;
  /** The version of the key that a repeat is of, as it was read back, if there is one. */
  readonly last: MemoryRecordInput | undefined;
}

/** How a call ended: with a value, or with one of our errors as plain data. Anything else is thrown on. */
export type Ending = { readonly value: unknown } | { readonly error: Readonly<Record<string, unknown>> };

/** A derived index that notes what it is asked to purge. */
export interface NotingIndex extends DerivedIndex {
  readonly purged: Set<string>;
  broken: boolean;
}

/** A page walk that other steps come between. */
export interface Walk {
  readonly scope: MemoryScope;
  readonly query: MemoryQuery;
  readonly cursor: string;
}

/** A store with what belongs to it in a run. */
export interface Side {
  readonly store: MemoryStore;
  readonly indices: readonly NotingIndex[];
  walk: Walk | undefined;
}

/** The derived indices of a side: `alpha` and `beta`; `gamma` is registered with but never configured. */
export function notingIndices(): readonly NotingIndex[] {
  return ["alpha", "beta"].map((name) => {
    const purged = new Set<string>();
    const index: NotingIndex = {
      name,
      purged,
      broken: false,
      async purge(scope, artefactIds) {
        if (index.broken) throw new Error("this index cannot be reached");
        for (const id of artefactIds) purged.add(JSON.stringify([name, scope, id]));
      },
    };
    return index;
  });
}

/** The scope of that number in the world. */
export function scopeOf({ scopes }: World, number: number): MemoryScope {
  const scope = scopes[number % scopes.length];
  if (scope === undefined) throw new RangeError("a world has at least one scope");
  return scope;
}

/** The key of that number in the world. */
export function keyOf(world: World, number: number): string {
  return world.sequence.keys[number] ?? "k";
}

/** How a call ends. */
export async function ending(call: () => Promise<unknown>): Promise<Ending> {
  try {
    return { value: await call() };
  } catch (error) {
    if (!isMemoryError(error)) throw error;
    return { error: fieldsOf(error) };
  }
}

/** Does a step to one side; `undefined` for a step that is about the clock only. */
export function perform(side: Side, world: World, step: Operation, hints: Hints): Promise<unknown> | undefined {
  const { store } = side;
  const at = (offset: number) => world.start + offset;
  const scope = "scope" in step ? scopeOf(world, step.scope) : scopeOf(world, 0);
  const key = "key" in step && step.key !== undefined ? keyOf(world, step.key) : "k";
  const record = (kind: string, content: Content, its: string) => recordFrom(world, kind, content, its);
  switch (step.op) {
    case "advance":
      return undefined;
    case "write":
      return store.write(scope, record("working", step, key));
    case "append":
      return store.append(scope, key, step.value, given({ after: step.after, source: step.source }));
    case "expire":
      return store.expire(scope, key, { ttlMs: step.ttlMs });
    case "read":
      return store.read(scope, key, given({ last: step.last }));
    case "upsert":
      return store.upsert(scope, record("profile", step, key));
    case "repeat":
      return hints.last === undefined ? undefined : store.supersede(scope, hints.last);
    case "supersede": {
      const expectedVersion = step.expects === "newest" ? hints.newest : step.expects;
      return store.supersede(
        scope,
        record("profile", step, key),
        given({ expectedVersion, resolves: settled(step, hints) }),
      );
    }
    case "log":
      return store.log(scope, record("episodic", step, key));
    case "logAll":
      return store
        .logAll(
          scope,
          step.records.map((one) => record("episodic", one, keyOf(world, one.key))),
        )
        .catch(withoutPlace);
    case "episodes":
      return store.episodes(scope, queryFrom(world, step));
    case "turn":
      return turn(side, scope, queryFrom(world, step), step.resume);
    case "index":
      return store.index(scope, { ...record("semantic", step, key), embedding: step.vector });
    case "indexAll": {
      const records = step.records.map((one) => ({ one, its: keyOf(world, one.key) }));
      return store.indexAll(
        scope,
        records.map(({ one, its }) => ({ ...record("semantic", one, its), embedding: one.vector })),
      );
    }
    case "search": {
      const query = { ...queryFrom(world, step), embedding: step.vector, ...given({ minScore: step.minScore }) };
      return store.search(scope, query);
    }
    case "erase": {
      for (const index of side.indices) index.broken = step.broken && index.name === "beta";
      const keys = step.keys?.map((number) => keyOf(world, number));
      const { kinds, reach, dryRun } = step;
      return store.erase(scope, given({ kinds, keys, reach, dryRun }));
    }
    case "derived": {
      const { adapter, sourceKind, mixes } = step;
      const sourceId = idFor(sourceKind, step.source, keyOf(world, 0));
      const artefactId = `artefact${step.artefact}`;
      return store.derived(scope, { artefactId, sourceKind, sourceId, adapter, ...given({ mixes }) });
    }
    case "fault":
      return FAULTS[step.fault]?.run(store, scope, key);
    default:
      return step satisfies never;
  }

  function settled(one: Operation & { readonly op: "supersede" }, { holds }: Hints): readonly string[] | undefined {
    if (one.settles === undefined) return undefined;
    if ("ids" in one.settles) return one.settles.ids.map((number) => idFor("profile", number, key));
    const mask = one.settles.holds;
    return holds.filter((_, bit) => (mask >> bit) % 2 === 1);
  }

  function recordFrom({ start }: World, kind: string, content: Content, its: string): MemoryRecordInput {
    const { from, to, subject, predicate, metadata, confidence } = content;
    return {
      id: idFor(kind, content.id, its),
      key: its,
      value: content.value,
      source: content.source ?? "tool",
      // An end without a beginning lies far enough ahead to be after whatever the store fills in.
      ...given({ confidence, metadata, validFrom: from === undefined ? undefined : start + from }),
      ...given({ validTo: to === undefined ? undefined : from === undefined ? at(100_000 + to) : at(from + to) }),
      ...(kind === "profile" ? given({ subject, predicate }) : {}),
    };
  }
}

/** Leaves out what is `undefined`. */
function given<T extends object>(parts: T): { [Name in keyof T]?: Exclude<T[Name], undefined> } {
  const named = Object.entries(parts).filter(([, value]) => value !== undefined);
  return untyped(Object.fromEntries(named));
}

// Working and semantic records are replaced by key, so their ids belong to their keys; episodes' and profiles' ids meet.
function idFor(kind: string, number: number, key: string): string {
  if (kind === "episodic") return `e${number}`;
  return (kind === "profile" ? PROFILE_IDS[number] : undefined) ?? `${kind} ${key} ${number}`;
}

// Of several conflicts in a batch, any may be the one that is named.
function withoutPlace(error: unknown): never {
  throw isMemoryError(error, "MEMORY_CONFLICT") ? new MemoryConflictError("a conflict in a batch", {}) : error;
}

function queryFrom(world: World, query: Query): MemoryQuery {
  const at = (offset: number | undefined) => (offset === undefined ? undefined : world.start + offset);
  const { filter, reach, limit } = query;
  const key = query.key === undefined ? undefined : keyOf(world, query.key);
  return given({ key, since: at(query.since), until: at(query.until), asOf: at(query.asOf), filter, reach, limit });
}

async function turn(side: Side, scope: MemoryScope, query: MemoryQuery, resume: boolean): Promise<MemoryPage["hits"]> {
  const from = resume && side.walk !== undefined ? side.walk : { scope, query, cursor: null };
  const { hits, cursor } = await side.store.page(from.scope, from.query, { cursor: from.cursor });
  // A full last page may or may not know that it is the last one; both are the end.
  const more = cursor === null ? null : (await side.store.page(from.scope, from.query, { cursor })).hits;
  side.walk = cursor === null || more?.length === 0 ? undefined : { scope: from.scope, query: from.query, cursor };
  return hits;
}

function fieldsOf(error: MemoryError): Readonly<Record<string, unknown>> {
  const names: Readonly<Record<string, readonly string[]>> = {
    MEMORY_SCOPE: ["path"],
    MEMORY_RECORD: ["path"],
    MEMORY_LIMIT: ["what", "limit", "size"],
    EMBEDDING_DIMENSION: ["expected", "received"],
    MEMORY_CAPABILITY: ["missing"],
    MEMORY_CONFLICT: ["key", "id", "expectedVersion", "actualVersion"],
    MEMORY_CONTRADICTION: ["key", "records"],
    PARTIAL_ERASURE: ["adapter", "receipt"],
  };
  const fields = (names[error.code] ?? []).map((name): [string, unknown] => [name, Reflect.get(error, name)]);
  return { code: error.code, ...Object.fromEntries(fields) };
}
