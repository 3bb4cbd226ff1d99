// What an adapter writes: the driver and its sections. A driver is plain effects: its sections store and fetch rows, and every
// rule (validation, scope, masking, sizes, contradiction, decay, retry, deadlines, cursors) stands in core above it.
//
// Rules for a driver:
// - Arguments arrive validated, scoped, masked and sized. Trust them; compare scope parts and keys by equality only. No text
//   holds a NUL or a lone surrogate, and no part of a scope is empty: an absent one may be stored as the empty text.
// - One call is one atomic effect: wholly there or not at all, also when the connection dies in the middle.
// - Calls overlap, as many as `concurrency` says, also calls that write to one key.
// - Return plain data as it is stored; core validates every row once and raises `MemoryCorruptionError` for a bad one.
// - Throw your client's own errors, and say in `isTransient`, `isExhausted`, `hadNoEffect` and `toMemoryError` what they are.
// - Never retry and never time out: core calls again, with the same token, where that is right. Stop early on `call.signal`.
// - Text that needs an order is in UTF-8 byte order; scopes sort by tenant, user, session, agent, absent parts first.

import type { Derivation } from "./erasure.ts";
import type { MemoryError } from "./errors.ts";
import type { Scalar } from "./json.ts";
import type { EpochMs, MemoryKind } from "./record.ts";
import type { MemoryReach, MemoryScope } from "./scope.ts";

/** What every call into a driver carries beside its request. */
export interface DriverCall {
  /** The store's clock at the start of the operation; use it wherever "now" is meant, never the server's. */
  readonly now: EpochMs;
  /** Aborts when the attempt is given up (deadline or the caller's own signal). Made on first use. */
  readonly signal: AbortSignal;
  /** Which attempt of the same call this is, from 1: from 2 on an earlier one may have had its effect. */
  readonly attempt: number;
  /** How long, in milliseconds, this operation may still be attempted again: a token must be remembered at least so long. */
  readonly budgetMs: number;
}

/**
 * One record as a driver keeps it and gives it back: the value as JSON text (opaque: keep it byte for byte), the rest as
 * plain fields, `undefined` where there is none.
 */
export interface StoredRecord {
  readonly id: string;
  readonly scope: MemoryScope;
  readonly key: string;
  /** The value, as JSON text. */
  readonly value: string;
  readonly source: string;
  readonly confidence: number;
  readonly validFrom: EpochMs | undefined;
  readonly validTo: EpochMs | undefined;
  readonly subject: string | undefined;
  readonly predicate: readonly string[] | undefined;
  readonly metadata: Readonly<Record<string, Scalar>> | undefined;
  readonly redacted: readonly string[] | undefined;
  readonly recordedAt: EpochMs;
  /** Profile only: the version's number in its key, from 1. */
  readonly version: number | undefined;
  /** Semantic only: whole float32 values. */
  readonly embedding: readonly number[] | undefined;
}

/** A place in the order of (scope, key). */
export interface KeyPosition {
  readonly scope: MemoryScope;
  readonly key: string;
}

/** A page over keys, in the order of (scope, key), strictly after `after`. */
export interface KeyPageRequest {
  readonly scope: MemoryScope;
  readonly reach: MemoryReach;
  /** Only keys that begin with this text, compared exactly (no pattern). */
  readonly keyPrefix: string | undefined;
  readonly after: KeyPosition | undefined;
  readonly limit: number;
}

/* ------------------------------------------------------------------------------------------------ working */

/** What a working key holds: one value, or a sequence of elements; each an opaque text of core's making, not just JSON. */
export type WorkingContent =
  | { readonly value: string; readonly items?: undefined }
  | { readonly value?: undefined; readonly items: readonly string[] };

/** A working record: its head (everything but the value) and its content. */
export interface WorkingEntry {
  /** `value` of the head is `""`: the content stands beside it. */
  readonly head: StoredRecord;
  readonly content: WorkingContent;
}

/** A record to put. */
export interface PutRequest extends WorkingEntry {
  /** An explicit expiry to arm in the same step (an import brings it along), in place of the store's TTL. */
  readonly expiresInMs?: number | undefined;
}

export interface AppendRequest {
  readonly scope: MemoryScope;
  readonly key: string;
  /** The element, an opaque text. */
  readonly item: string;
  /** The head to store when nothing is at the key; otherwise the head that is there stays. */
  readonly head: StoredRecord;
  /** Names this append: a second call with the same token within `call.budgetMs` answers as the first and adds nothing. */
  readonly token: string;
  /** Append only if the sequence has exactly this length (0: only if nothing is there). */
  readonly after: number | undefined;
}

/**
 * How an append went. `length` is the sequence's length (with `appended`: the new element's position, counting from 1);
 * `moved`: it was not `after` long; `full`: it holds `limit` elements already. With these two nothing was added.
 */
export type AppendReply =
  | { readonly outcome: "appended"; readonly length: number }
  | { readonly outcome: "moved"; readonly length: number }
  | { readonly outcome: "full"; readonly length: number; readonly limit: number };

/** A key that is there, and how many milliseconds it still has (`undefined`: it does not expire). */
export interface WorkingKeyRow {
  readonly scope: MemoryScope;
  readonly key: string;
  readonly expiresInMs: number | undefined;
}

/**
 * Scratch space with expiry. The driver owns its TTL options: a store TTL is armed by every `put` and `append` (and by
 * `get` when sliding, unless an explicit `expire` holds); without one an explicit expiry stays through them.
 *
 * @handedIn a minor adds only members that may be left out.
 */
export interface WorkingSection {
  /** `keys` honours `reach: "under"`. */
  readonly under?: true;
  /** The most elements a sequence may hold; core refuses a longer written array. Default 1,000,000. */
  readonly maxElements?: number;
  /** Stores or replaces the record at (scope, key). */
  put(request: PutRequest, call: DriverCall): Promise<void>;
  /** The record, or `null`; of a sequence only the newest `last` elements when given. Its cost follows what it returns. */
  get(
    request: { readonly scope: MemoryScope; readonly key: string; readonly last: number | undefined },
    call: DriverCall,
  ): Promise<WorkingEntry | null>;
  /** Adds one element; a single value that is there becomes the first element. Cost independent of the length. */
  append(request: AppendRequest, call: DriverCall): Promise<AppendReply>;
  /** Lets the key read as absent after `ttlMs` (0: from now on); `false` when it was absent already. */
  expire(
    request: { readonly scope: MemoryScope; readonly key: string; readonly ttlMs: number },
    call: DriverCall,
  ): Promise<boolean>;
  /** A page of the keys that are there. */
  keys(request: KeyPageRequest, call: DriverCall): Promise<readonly WorkingKeyRow[]>;
}

/* ------------------------------------------------------------------------------------------------ profile */

/** What ends a version's or a lineage's time: a later write, by its id and `validFrom`. */
export interface Successor {
  readonly id: string;
  readonly validFrom: EpochMs;
}

/** One version as it stands in its lineage, as known at the read's `knownAt`. */
export interface VersionRow {
  /** `version` and `validFrom` are set; `validTo` is the version's own, as written. */
  readonly record: StoredRecord;
  /** The lineage's number in its key, from 1. */
  readonly lineage: number;
  /** The lineages that this write ended at its `validFrom` (empty for most). */
  readonly settles: readonly number[];
  /** The next version of the same lineage in the order of (`validFrom`, `version`), if any. */
  readonly next: Successor | undefined;
  /** The write that ended the whole lineage, if any: the one with the least version among those that settled it. */
  readonly end: Successor | undefined;
}

/**
 * What is known of one key at one instant: per lineage the version with the greatest (`validFrom`, `version`) among those
 * with `validFrom <= asOf` and `recordedAt <= knownAt`, live or not; lineages without one are left out. In lineage order.
 */
export interface KeyVersions {
  readonly scope: MemoryScope;
  readonly key: string;
  /** The newest `recordedAt` of the key, whatever `knownAt`. */
  readonly recordedAt: EpochMs;
  readonly versions: readonly VersionRow[];
}

/** An open lineage, for planning a write. */
export interface LineageHead {
  readonly lineage: number;
  /** The version with the greatest number. */
  readonly newest: VersionRow;
  /** The version with the greatest (`validFrom`, `version`) among those with `validFrom <= at`, or `null`. */
  readonly held: VersionRow | null;
}

/** A key as a write finds it. */
export interface KeyHeads {
  /** The key's newest version number; 0 when it has none. */
  readonly version: number;
  /** The key's newest `recordedAt`; `undefined` when it has no version. */
  readonly recordedAt: EpochMs | undefined;
  /** The `token` of the plan by which that version was written; `undefined` when the key has none. */
  readonly token: string | undefined;
  /** How many lineages the key has, settled ones too (they are numbered from 1). */
  readonly lineages: number;
  /** The lineages that no write has settled, in order. */
  readonly open: readonly LineageHead[];
  /** The key, in this scope, that holds a profile record with the request's `id`; `undefined` when none does. */
  readonly idKey: string | undefined;
}

/**
 * One decided belief write: insert `record` as version `base + 1`, provided that `base` is still the newest version, and
 * still the one that was written with `baseToken`: the key may have been erased and have got as many versions again.
 */
export interface WritePlan {
  readonly scope: MemoryScope;
  readonly key: string;
  /** The newest version number that the plan was made on; 0 for a new key. */
  readonly base: number;
  /** The token that `base` was written with; `undefined` for a new key. */
  readonly baseToken: string | undefined;
  /** `version` is `base + 1`; `validFrom` and `recordedAt` are set. */
  readonly record: StoredRecord;
  /** The lineage that it continues, or the number of a new one. */
  readonly lineage: number;
  /** The version that was the newest of that lineage; `undefined` for a new lineage. */
  readonly head: number | undefined;
  /** Lineages that end at the record's `validFrom`. */
  readonly settles: readonly number[];
  /** Names this write: when a version with this token is there already, answer `true` and write nothing. */
  readonly token: string;
}

/**
 * Versions that are only ever added. `asOf` defaults (when `undefined`) to the later of `call.now` and the key's newest
 * `recordedAt`; `knownAt` to unbounded.
 *
 * @handedIn a minor adds only members that may be left out.
 */
export interface ProfileSection {
  /** `versions` and `beliefs` honour `asOf`. */
  readonly asOf?: true;
  /** `versions` and `beliefs` honour `knownAt`. */
  readonly knownAt?: true;
  /** Holds several lineages a key and settles them; without it only `upsert` is offered. */
  readonly supersession?: true;
  /** `beliefs` and `history` honour `reach: "under"`. */
  readonly under?: true;
  /** One key, or `null` when it has no version. Its cost must not grow with the history. */
  versions(
    request: {
      readonly scope: MemoryScope;
      readonly key: string;
      readonly asOf: EpochMs | undefined;
      readonly knownAt: EpochMs | undefined;
    },
    call: DriverCall,
  ): Promise<KeyVersions | null>;
  /**
   * What a write needs. `at` defaults to the later of `call.now` and the key's newest `recordedAt`. With `before`, the key
   * as it was before that version number: later versions, and what they settled, are not there. Without `id` nobody is
   * looked for who holds it: core has just made it.
   */
  heads(
    request: {
      readonly scope: MemoryScope;
      readonly key: string;
      readonly id: string | undefined;
      readonly at: EpochMs | undefined;
      readonly before: number | undefined;
    },
    call: DriverCall,
  ): Promise<KeyHeads>;
  /** A page of keys, in (scope, key) order: every key that has a version with `recordedAt <= knownAt`. */
  beliefs(
    request: KeyPageRequest & { readonly asOf: EpochMs | undefined; readonly knownAt: EpochMs | undefined },
    call: DriverCall,
  ): Promise<readonly KeyVersions[]>;
  /** A page of versions in (scope, key, version) order, strictly after `after`, of one key when `key` is given. */
  history(
    request: {
      readonly scope: MemoryScope;
      readonly reach: MemoryReach;
      readonly key: string | undefined;
      readonly after: (KeyPosition & { readonly version: number }) | undefined;
      readonly limit: number;
    },
    call: DriverCall,
  ): Promise<readonly VersionRow[]>;
  /**
   * The write, atomically. `false`: a lost race (`base` is no longer the newest version, or is another one than was planned
   * on, or the id was taken by another key of the scope), nothing written; core reads again and plans again. Idempotent by the token.
   */
  commit(request: WritePlan, call: DriverCall): Promise<boolean>;
}

/* ------------------------------------------------------------------------------------------------ episodic */

/** One episode to log. */
export interface LogEntry {
  /** `validFrom` is set. */
  readonly record: StoredRecord;
  /** The caller left `validFrom` out: leave it (and `recordedAt`, always) out of the comparison with what is there. */
  readonly anyFrom: boolean;
}

/** A place in the order of episodes. */
export interface EpisodePosition {
  readonly validFrom: EpochMs;
  readonly id: string;
  readonly scope: MemoryScope;
}

/** Conditions on metadata: every name must be present and equal (type included) to one of its values (never empty). */
export type MetadataFilter = Readonly<Record<string, readonly Scalar[]>>;

export interface EpisodePageRequest {
  readonly scope: MemoryScope;
  readonly reach: MemoryReach;
  readonly key: string | undefined;
  /** Inclusive bounds on `validFrom`. */
  readonly since: EpochMs | undefined;
  readonly until: EpochMs | undefined;
  /** When given: only episodes with `validFrom <= asOf` and (`validTo` absent or `asOf < validTo`). */
  readonly asOf: EpochMs | undefined;
  readonly filter: MetadataFilter | undefined;
  readonly after: EpisodePosition | undefined;
  readonly limit: number;
}

/**
 * What happened, each episode once by its id, in the order of instants.
 *
 * @handedIn a minor adds only members that may be left out.
 */
export interface EpisodicSection {
  /** `page` honours `reach: "under"`. */
  readonly under?: true;
  /** `page` honours `filter`. */
  readonly filter?: true;
  /**
   * Stores every episode whose id is new in its scope, all or nothing. Those whose id is there already with the same
   * content (all columns but `recordedAt`, and `validFrom` when `anyFrom`) are passed over. If any is there with content
   * that differs as text, nothing is stored and the rows that differ come back; core judges them. Any number of entries, a
   * round trip per few thousand; no two entries of a call share scope and id.
   */
  log(request: readonly LogEntry[], call: DriverCall): Promise<readonly StoredRecord[]>;
  /** Newest first: by `validFrom` and `id`, both descending, then by scope ascending; strictly after `after`. */
  page(request: EpisodePageRequest, call: DriverCall): Promise<readonly StoredRecord[]>;
}

/* ------------------------------------------------------------------------------------------------ semantic */

/** How resemblance is measured; the score is 1 minus the distance. */
export type Metric = "cosine" | "l2" | "inner";

export interface NearestRequest {
  readonly scope: MemoryScope;
  readonly reach: MemoryReach;
  readonly embedding: readonly number[];
  readonly limit: number;
  /** Only records whose window contains this instant. */
  readonly asOf: EpochMs;
  readonly filter: MetadataFilter | undefined;
  readonly minScore: number | undefined;
}

export interface NearestRow {
  /** `embedding` may be left `undefined`: a search does not give vectors back. */
  readonly record: StoredRecord;
  readonly score: number;
}

/**
 * What is known, a record and a vector a key, found by resemblance.
 *
 * @handedIn a minor adds only members that may be left out.
 */
export interface SemanticSection {
  readonly dimensions: number;
  readonly metric: Metric;
  /** `nearest` honours `reach: "under"`. */
  readonly under?: true;
  /** `nearest` honours `filter`. */
  readonly filter?: true;
  /** Stores or replaces by (scope, key), value and vector together, all or nothing. No two records share scope and key. */
  index(request: readonly StoredRecord[], call: DriverCall): Promise<void>;
  /** One record with its embedding, or `null`. */
  get(request: { readonly scope: MemoryScope; readonly key: string }, call: DriverCall): Promise<StoredRecord | null>;
  /** The closest first; ties by key, then scope. If the scope holds `limit` matching records, `limit` come back. */
  nearest(request: NearestRequest, call: DriverCall): Promise<readonly NearestRow[]>;
  /** A page of whole records (embedding included) in (scope, key) order; what an export reads. */
  scan?(request: KeyPageRequest, call: DriverCall): Promise<readonly StoredRecord[]>;
}

/* ------------------------------------------------------------------------------------------------ erasure */

/** What an erasure means: a scope, and (with `narrowing`) only some kinds or keys of it. */
export interface ErasureTarget {
  readonly scope: MemoryScope;
  readonly reach: MemoryReach;
  /** `undefined`: all kinds. */
  readonly kinds: readonly MemoryKind[] | undefined;
  /** `undefined`: all keys. */
  readonly keys: readonly string[] | undefined;
}

/** How many records (every version counted) per kind. */
export type ErasureTally = Readonly<Partial<Record<MemoryKind, number>>>;

/** What a dry run answers. Artefacts are counted by distinct (adapter, artefactId). */
export interface ErasureForecast {
  readonly counts: ErasureTally;
  readonly artefacts: number;
  readonly sharedArtefacts: number;
}

/** A registration whose source is erased, and whether a registration in another, surviving scope keeps the artefact. */
export interface CondemnedDerivation {
  readonly derivation: Derivation;
  /** Another scope of the tenant also registered it (uncondemned), and no registration of it says that it mixes. */
  readonly shared: boolean;
}

/** A place in the order of (adapter, artefactId, scope, sourceKind, sourceId). */
export type DerivationPosition = Omit<Derivation, "mixes">;

/**
 * Two-phase erasure. `tombstone` makes everything meant unreadable at once and condemns the derivations of what it meant;
 * then core purges and `forget`s condemned derivations, and calls `sweep` until it is done.
 *
 * @handedIn a minor adds only members that may be left out.
 */
export interface ErasureSection {
  /** `tombstone` honours `kinds`, `keys` and `reach: "exact"`; without it every target is a whole scope, `under`. */
  readonly narrowing?: true;
  /** Counts what `tombstone` would erase now, and erases nothing. */
  count?(request: ErasureTarget, call: DriverCall): Promise<ErasureForecast>;
  /**
   * Phase one, one atomic step: from here on nothing of the target that was there is readable, and a write that comes
   * after is kept. It notes, durably and until a `sweep` answers, how many records it made unreadable, and marks the
   * derivations condemned: of a whole target all of its scopes; of a narrowed one those of matching `kinds` whose source
   * is a record that it erased (with `keys`) . Gives the sum of the notes under the target's scope: an erasure that died
   * before its `sweep` answered is counted by the next one.
   */
  tombstone(request: ErasureTarget, call: DriverCall): Promise<ErasureTally>;
  /** A page of condemned derivations under the target's scope (whatever erasure condemned them), in their order. */
  condemned(
    request: {
      readonly scope: MemoryScope;
      readonly reach: MemoryReach;
      readonly after: DerivationPosition | undefined;
      readonly limit: number;
    },
    call: DriverCall,
  ): Promise<readonly CondemnedDerivation[]>;
  /** Removes these condemned registrations. Idempotent. */
  forget(request: readonly DerivationPosition[], call: DriverCall): Promise<void>;
  /**
   * Phase two: removes a bounded chunk of what was tombstoned under the scope. `null` while more is left; at the end it
   * takes the notes of `tombstone` away and gives their sum (zero when another run took them), atomically.
   */
  sweep(
    request: { readonly scope: MemoryScope; readonly reach: MemoryReach },
    call: DriverCall,
  ): Promise<ErasureTally | null>;
  /** Registers an artefact; the same registration again replaces it (and is no longer condemned). Idempotent. */
  register(request: Derivation, call: DriverCall): Promise<void>;
  /** A page of registrations that are not condemned, in the order of (adapter, artefactId, scope, sourceKind, sourceId). */
  derivations(
    request: {
      readonly scope: MemoryScope;
      readonly reach: MemoryReach;
      readonly after: DerivationPosition | undefined;
      readonly limit: number;
    },
    call: DriverCall,
  ): Promise<readonly Derivation[]>;
}

/* ------------------------------------------------------------------------------------------------ driver */

/** Something that `verify()` found that does not stop the store but that its operator should know. Free of content. */
export interface MemoryWarning {
  /** A stable code, for example `redis-eviction`. */
  readonly code: string;
  readonly message: string;
}

/**
 * A driver of a composition, as an erasure sees it.
 *
 * @handedIn a minor adds only members that may be left out.
 */
export interface DriverMember {
  /** Names it in receipts: the adapter's name, told apart where two members have the same. */
  readonly name: string;
  readonly erasure: ErasureSection;
}

/**
 * What an adapter writes. A kind that it does not hold is a section that is not there.
 *
 * @handedIn a minor adds only members that may be left out.
 */
export interface MemoryDriver {
  /** The adapter's name, for errors and events: `redis`, `postgres`. */
  readonly name: string;
  /** The object that stands for the connection: stores over the same one share one gate. Default: the driver itself. */
  readonly client?: object;
  /** How many calls may be in flight at once: the pool's connections. Default: no bound. */
  readonly concurrency?: number;
  /** The largest value in UTF-8 JSON bytes. Default 16 MiB. */
  readonly maxValueBytes?: number;
  readonly working?: WorkingSection;
  readonly profile?: ProfileSection;
  readonly episodic?: EpisodicSection;
  readonly semantic?: SemanticSection;
  readonly erasure?: ErasureSection;
  /** Checks at start-up that everything is there and right; throws what is wrong, gives back what is only unwise. */
  verify?(request: undefined, call: DriverCall): Promise<readonly MemoryWarning[]>;
  /** Whether calling again may help: refused, reset, failover, read-only replica, loading, serialization, deadlock. */
  isTransient(error: unknown): boolean;
  /** Whether the server or the pool had no room (`too many connections`): refused at once, never retried. */
  isExhausted(error: unknown): boolean;
  /** Whether the failed call surely had no effect (refused before it was sent, rolled back). Default: unknown. */
  hadNoEffect?(error: unknown): boolean;
  /** The narrower error that this one is (a missing table: `MemorySchemaError`); `undefined` where there is none. */
  toMemoryError?(error: unknown): MemoryError | undefined;
  /** Set by a composition of drivers that are guarded already: gate, retry and deadlines are applied inside. */
  readonly guarded?: true;
  /**
   * Set by a composition: every driver that an erasure has to reach. All hide what is meant before anything else is done;
   * the last one keeps the registrations (its section stands as `erasure` too) and comes after the others, so that what
   * is registered for a record is condemned no earlier than the record is gone.
   */
  readonly members?: readonly DriverMember[];
  /**
   * Closes what the driver owns. Called once. A composition is told how long its members may still wait for their calls, in
   * milliseconds; to others nothing is said, for theirs have ended.
   */
  close(deadlineMs?: number): Promise<void>;
}
