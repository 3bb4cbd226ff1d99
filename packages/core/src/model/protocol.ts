// The protocol that callers bind: `MemoryStore`. Every operation takes the scope first and its options last; every rule
// of it is kept by core, whatever driver is underneath. An operation whose capability is missing rejects with
// `CapabilityError`; bad input rejects before any I/O.

import type { Belief, BeliefPage, Supersession } from "./belief.ts";
import type { MemoryCapabilities } from "./capabilities.ts";
import type { DerivationPage, ErasureReceipt } from "./erasure.ts";
import type { JsonValue } from "./json.ts";
import type { MemoryHit, MemoryPage, MemoryQuery } from "./query.ts";
import type { EpochMs, MemoryKind, MemoryRecord, MemoryRecordInput } from "./record.ts";
import type { MemoryReach, MemoryScope } from "./scope.ts";

/** What every operation takes among its last options. */
export interface CallOptions {
  /** Stops the wait and rejects with its reason; the effect may or may not have happened, never half of it. */
  readonly signal?: AbortSignal | undefined;
}

/** A page over keys. */
export interface KeyPageOptions extends CallOptions {
  /** Only keys that begin with this text, compared exactly. */
  readonly keyPrefix?: string | undefined;
  readonly reach?: MemoryReach | undefined;
  /** How many at most, 1..1,000; default 100. */
  readonly limit?: number | undefined;
  /** Where the page before ended; `null` (its end) and `undefined` begin anew. */
  readonly cursor?: string | null | undefined;
}

/** A working key that is there. */
export interface MemoryKey {
  readonly scope: MemoryScope;
  readonly key: string;
  /** How long it still has, in milliseconds; absent when it does not expire. */
  readonly expiresInMs?: number;
}

/** A page of working keys, by scope and key. */
export interface MemoryKeyPage {
  readonly keys: readonly MemoryKey[];
  readonly cursor: string | null;
}

/** When a profile is asked about: what held at `asOf`, as it was known at `knownAt`. */
export interface ProfileOptions extends CallOptions {
  /** Default: the later of the store's clock and the key's newest `recordedAt`. */
  readonly asOf?: EpochMs | Date | undefined;
  /** Default: everything known by now. */
  readonly knownAt?: EpochMs | Date | undefined;
}

/** What a derived artefact is registered as. */
export interface DerivedInput {
  readonly artefactId: string;
  readonly sourceKind: MemoryKind;
  readonly sourceId: string;
  /** The name of the derived index that holds it. */
  readonly adapter: string;
  /** It mixes the content of several scopes: no other scope's registration can keep it. */
  readonly mixes?: boolean | undefined;
}

/** What `erase` takes. */
export interface EraseOptions extends CallOptions {
  /** Only these kinds. */
  readonly kinds?: readonly MemoryKind[] | undefined;
  /** Only these keys. */
  readonly keys?: readonly string[] | undefined;
  /** `"under"` (default): everything under the scope; `"exact"`: the scope itself only. */
  readonly reach?: MemoryReach | undefined;
  /** Counts, and erases nothing. */
  readonly dryRun?: boolean | undefined;
}

/**
 * One memory over four kinds, the scope in every signature.
 *
 * @sealed a minor may add operations: stores are made by `createMemoryStore`, from a driver.
 */
export interface MemoryStore {
  /** The adapter's name. */
  readonly name: string;
  readonly capabilities: MemoryCapabilities;

  /* -- working: the current task's scratch space ------------------------------------------------------- */

  /** Stores or replaces the record at its key. One round trip. */
  write(scope: MemoryScope, record: MemoryRecordInput, options?: CallOptions): Promise<MemoryRecord>;
  /** The record, or `null`; with `last`, only the newest n elements of a sequence. One round trip. */
  read(
    scope: MemoryScope,
    key: string,
    options?: CallOptions & { readonly last?: number | undefined },
  ): Promise<MemoryRecord | null>;
  /** Adds an element to the sequence at the key, once, and gives its position, counting from 1. One round trip. */
  append(
    scope: MemoryScope,
    key: string,
    value: JsonValue,
    options?: CallOptions & { readonly source?: string | undefined; readonly after?: number | undefined },
  ): Promise<number>;
  /** Lets the key read as absent after `ttlMs` (0: now); `false` when it is absent already. One round trip. */
  expire(scope: MemoryScope, key: string, options: CallOptions & { readonly ttlMs: number }): Promise<boolean>;
  /** Lists the keys that are there, by scope and key, without values. */
  keys(scope: MemoryScope, options?: KeyPageOptions): Promise<MemoryKeyPage>;

  /* -- profile: durable facts -------------------------------------------------------------------------- */

  /** "This is now so": continues the key's single open lineage, or starts the key. */
  upsert(scope: MemoryScope, record: MemoryRecordInput, options?: CallOptions): Promise<MemoryRecord>;
  /**
   * Writes a fact and lets the contradiction policy decide what it replaces. Two round trips; one more each for a key of
   * several lineages, a taken id, a `resolves` that names what is not the newest, a fact before its whole lineage, and
   * two for each lost race.
   */
  supersede(
    scope: MemoryScope,
    record: MemoryRecordInput,
    options?: CallOptions & {
      readonly expectedVersion?: number | undefined;
      readonly resolves?: readonly string[] | undefined;
    },
  ): Promise<Supersession>;
  /** The live record or `null`. @throws {MemoryContradictionError} Several are live. */
  profile(scope: MemoryScope, key: string, options?: ProfileOptions): Promise<MemoryRecord | null>;
  /** What is held about the key; never raises for a contradiction. */
  belief(scope: MemoryScope, key: string, options?: ProfileOptions): Promise<Belief>;
  /** A page of one belief per (scope, key) that is known, in that order. */
  beliefs(scope: MemoryScope, options?: ProfileOptions & KeyPageOptions): Promise<BeliefPage>;
  /** Every version, by scope, key and version. For a large scope use `eachVersion`. */
  history(
    scope: MemoryScope,
    key?: string,
    options?: CallOptions & { readonly reach?: MemoryReach | undefined },
  ): Promise<readonly MemoryRecord[]>;

  /* -- episodic: things that happened ------------------------------------------------------------------ */

  /**
   * Logs an episode, idempotently by (scope, id). One round trip. Of an episode that was there already the answer is this
   * call's record: its `recordedAt`, and a `validFrom` that was left out, are this call's and not those stored.
   */
  log(scope: MemoryScope, record: MemoryRecordInput, options?: CallOptions): Promise<MemoryRecord>;
  /** Logs many, all or nothing, in one round trip per few thousand. */
  logAll(
    scope: MemoryScope,
    records: readonly MemoryRecordInput[],
    options?: CallOptions,
  ): Promise<readonly MemoryRecord[]>;
  /** The newest episodes first. */
  episodes(scope: MemoryScope, query?: MemoryQuery, options?: CallOptions): Promise<readonly MemoryHit[]>;
  /** The same, a page at a time; every episode exactly once, also while others write. Not a change feed. */
  page(
    scope: MemoryScope,
    query?: MemoryQuery,
    options?: CallOptions & { readonly cursor?: string | null | undefined },
  ): Promise<MemoryPage>;

  /* -- semantic: things known, found by resemblance ---------------------------------------------------- */

  /** Stores or replaces by key, value and vector together. */
  index(scope: MemoryScope, record: MemoryRecordInput, options?: CallOptions): Promise<MemoryRecord>;
  /** The same in bulk, all or nothing, the last of equal keys winning. */
  indexAll(
    scope: MemoryScope,
    records: readonly MemoryRecordInput[],
    options?: CallOptions,
  ): Promise<readonly MemoryRecord[]>;
  /** One record by its key, with its embedding, or `null`. */
  recall(scope: MemoryScope, key: string, options?: CallOptions): Promise<MemoryRecord | null>;
  /** The closest records first, without their embeddings. */
  search(
    scope: MemoryScope,
    query: MemoryQuery & { readonly embedding: readonly number[] },
    options?: CallOptions,
  ): Promise<readonly MemoryHit[]>;

  /* -- all --------------------------------------------------------------------------------------------- */

  /** Erases everything under the scope (or what the options narrow it to), derived artefacts included. */
  erase(scope: MemoryScope, options?: EraseOptions): Promise<ErasureReceipt>;
  /** Registers what was built from a record, so that erasing the record purges it. */
  derived(scope: MemoryScope, artefact: DerivedInput, options?: CallOptions): Promise<void>;
  /** Lists what is registered, by adapter and artefact. */
  derivations(scope: MemoryScope, options?: Omit<KeyPageOptions, "keyPrefix">): Promise<DerivationPage>;
  /** Checks that the server is there and as it must be; to be called at start-up. */
  verify(options?: CallOptions): Promise<void>;
  /** Closes what the store owns; idempotent, waits for what is in flight under a deadline. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}
