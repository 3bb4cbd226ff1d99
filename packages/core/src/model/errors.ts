// Every error of the project and how it stays clean. An error tells what was refused and what to do; what a handler
// needs beyond that (a key, an id, a payload) hangs on non-enumerable properties, so that no message, stack, JSON or
// `util.inspect` ever prints it. Errors are branded by a registered symbol: two copies of this package in one process
// still recognise each other's.

import { brand, hide, isBranded, safeCause } from "./cause.ts";
import type { ErasureReceipt } from "./erasure.ts";
import type { MemoryRecord } from "./record.ts";

/** The stable code of every {@link MemoryError}; what `isMemoryError(error, code)` compares. */
export type MemoryErrorCode = keyof MemoryErrorClasses;

/** Which class carries which code; the type that `isMemoryError(error, code)` narrows to. */
export interface MemoryErrorClasses {
  readonly MEMORY_SCOPE: MemoryScopeError;
  readonly MEMORY_RECORD: MemoryRecordError;
  readonly MEMORY_CORRUPTION: MemoryCorruptionError;
  readonly MEMORY_LIMIT: MemoryLimitError;
  readonly EMBEDDING_DIMENSION: EmbeddingDimensionError;
  readonly MEMORY_CAPABILITY: CapabilityError;
  readonly MEMORY_CONFLICT: MemoryConflictError;
  readonly MEMORY_CONTRADICTION: MemoryContradictionError;
  readonly MEMORY_CURSOR: MemoryCursorError;
  readonly MEMORY_SCHEMA: MemorySchemaError;
  readonly MEMORY_SETTINGS: MemorySettingsError;
  readonly PARTIAL_ERASURE: PartialErasureError;
  readonly MEMORY_UNAVAILABLE: MemoryUnavailableError;
  readonly POOL_EXHAUSTED: PoolExhaustedError;
}

/** What every error of this project is: a stable `code`, a message free of content, a sanitised `cause`. */
export abstract class MemoryError extends Error {
  /** The stable code; compare this (or use {@link isMemoryError}) rather than the class or the message. */
  abstract readonly code: MemoryErrorCode;

  /**
   * @param message Free of stored values, keys, scope parts and secrets.
   * @param cause The raw error; what is kept is a copy with its class, code and a safe message.
   */
  constructor(message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause: safeCause(cause) });
    hide(this, { name: new.target.name });
    brand(this);
  }

  /** The content-free form that `JSON.stringify` prints: name, code and message. */
  toJSON(): { readonly name: string; readonly code: string; readonly message: string } {
    return { name: this.name, code: this.code, message: this.message };
  }
}

/**
 * Whether `error` is an error of this project (of `code`, when given), also one made by another copy of this package.
 *
 * @example `if (isMemoryError(error, "MEMORY_CONFLICT")) retryWith(error.actualVersion);`
 */
export function isMemoryError<C extends MemoryErrorCode>(error: unknown, code: C): error is MemoryErrorClasses[C];
export function isMemoryError(error: unknown): error is MemoryError;
export function isMemoryError(error: unknown, code?: string): boolean {
  return isBranded(error) && (code === undefined || codeOf(error) === code);
}

/**
 * Says where in a longer input an error of ours stands: `path` goes before its own, where it has one, and `where` before
 * its message. Only for an error that was made here, and that nobody holds yet.
 */
export function locate(error: MemoryError, path: string, where?: string): void {
  if (where !== undefined) {
    const { message, stack } = error;
    const located = `${where}: ${message}`;
    hide(error, { message: located, stack: stack?.replace(message, () => located) });
  }
  if (error instanceof MemoryRecordError || error instanceof MemoryScopeError) {
    hide(error, { path: `${path}.${error.path}` });
  }
}

/** A scope, or a record's scope or kind, is not what the operation needs. Nothing was read or stored. */
export class MemoryScopeError extends MemoryError {
  override readonly code = "MEMORY_SCOPE";
  /** Where: `tenantId`, `userId`, `record.scope`, `record.kind`, or the name of an unknown property. Non-enumerable. */
  declare readonly path: string;
  constructor(message: string, details: { readonly path: string }) {
    super(message);
    hide(this, details);
  }
}

/** A record, a query or an option is malformed. Nothing was read or stored. */
export class MemoryRecordError extends MemoryError {
  override readonly code = "MEMORY_RECORD";
  /** Where, as a dotted path (`value.items.3`, `confidence`, `query.limit`). Non-enumerable: it may hold member names. */
  declare readonly path: string;
  constructor(message: string, details: { readonly path: string }) {
    super(message);
    hide(this, details);
  }
}

/** What a store holds no longer validates: damaged, or written by something else. It is never skipped. */
export class MemoryCorruptionError extends MemoryError {
  override readonly code = "MEMORY_CORRUPTION";
  /** The id of the damaged record, or `null` when not even that can be read. Non-enumerable. */
  declare readonly id: string | null;
  /** What the store gave, as it gave it. Non-enumerable: it is content. */
  declare readonly payload: unknown;
  constructor(message: string, details: { readonly id: string | null; readonly payload: unknown }, cause?: unknown) {
    super(message, cause);
    hide(this, details);
  }
}

/** Something is larger than the store takes. Nothing was stored. */
export class MemoryLimitError extends MemoryError {
  override readonly code = "MEMORY_LIMIT";
  /** What is limited. */
  readonly what: "value" | "elements" | "attributes";
  /** The most that is taken: UTF-8 JSON bytes for a value or attributes, a count for elements. */
  readonly limit: number;
  /** What was found, in the same unit; at the least so much, where a value is many times too large. */
  readonly size: number;
  constructor(
    message: string,
    details: { readonly what: "value" | "elements" | "attributes"; readonly limit: number; readonly size: number },
  ) {
    super(message);
    this.what = details.what;
    this.limit = details.limit;
    this.size = details.size;
  }
}

/** An embedding is missing or of another width than the store's. Nothing was stored. */
export class EmbeddingDimensionError extends MemoryError {
  override readonly code = "EMBEDDING_DIMENSION";
  /** The width that the store holds. */
  readonly expected: number;
  /** The width that was found; 0 when the embedding is missing. */
  readonly received: number;
  /** From `verify()`: every other finding about the collection, or `null`. */
  readonly schema: MemorySchemaError | null;
  constructor(
    message: string,
    details: { readonly expected: number; readonly received: number; readonly schema?: MemorySchemaError },
  ) {
    super(message);
    this.expected = details.expected;
    this.received = details.received;
    this.schema = details.schema ?? null;
  }
}

/** The store cannot do what was asked; `missing` names every capability that is wanting. Nothing was done. */
export class CapabilityError extends MemoryError {
  override readonly code = "MEMORY_CAPABILITY";
  /** The adapter's name. */
  readonly adapter: string;
  /** Every missing capability, by its name in `MemoryNeeds`. */
  readonly missing: readonly string[];
  constructor(message: string, details: { readonly adapter: string; readonly missing: readonly string[] }) {
    super(message);
    this.adapter = details.adapter;
    this.missing = details.missing;
  }
}

/** What the caller took for given is no longer so, or the id is taken. Nothing was written. */
export class MemoryConflictError extends MemoryError {
  override readonly code = "MEMORY_CONFLICT";
  /** The key in conflict, or `null`. Non-enumerable. */
  declare readonly key: string | null;
  /** The id in conflict, or `null`. Non-enumerable. */
  declare readonly id: string | null;
  /** The version (or, for an `append`, the length) that the caller expected, or `null`. */
  readonly expectedVersion: number | null;
  /** The version (or length) that is there, or `null`. */
  readonly actualVersion: number | null;
  constructor(
    message: string,
    details: {
      readonly key?: string;
      readonly id?: string;
      readonly expectedVersion?: number;
      readonly actualVersion?: number;
    },
  ) {
    super(message);
    hide(this, { key: details.key ?? null, id: details.id ?? null });
    this.expectedVersion = details.expectedVersion ?? null;
    this.actualVersion = details.actualVersion ?? null;
  }
}

/** Several facts under one key disagree, and only a decision (`supersede` with `resolves`) can settle it. */
export class MemoryContradictionError extends MemoryError {
  override readonly code = "MEMORY_CONTRADICTION";
  /** The key. Non-enumerable. */
  declare readonly key: string;
  /** The records that disagree (on a rejected write: those it disagrees with). Non-enumerable. */
  declare readonly records: readonly MemoryRecord[];
  constructor(message: string, details: { readonly key: string; readonly records: readonly MemoryRecord[] }) {
    super(message);
    hide(this, details);
  }
}

/** A cursor is damaged, of another version, or belongs to another scope, query or store kind. */
export class MemoryCursorError extends MemoryError {
  override readonly code = "MEMORY_CURSOR";
}

/** The database is not as the store needs it; `findings` names everything at once, each with what mends it. */
export class MemorySchemaError extends MemoryError {
  override readonly code = "MEMORY_SCHEMA";
  /** Everything that is missing or wrong, a sentence each, with the statement that mends it where there is one. */
  readonly findings: readonly string[];
  constructor(message: string, details: { readonly findings: readonly string[] }, cause?: unknown) {
    super(message, cause);
    this.findings = details.findings;
  }
}

/** A setting or an option of a store is refused. */
export class MemorySettingsError extends MemoryError {
  override readonly code = "MEMORY_SETTINGS";
  /** The name of the setting. */
  readonly setting: string;
  constructor(message: string, details: { readonly setting: string }) {
    super(message);
    this.setting = details.setting;
  }
}

/**
 * An erasure made everything unreadable that it could reach but could not finish; run it again and it resumes, counting
 * nothing twice. What a member store that is outstanding holds may still be readable.
 */
export class PartialErasureError extends MemoryError {
  override readonly code = "PARTIAL_ERASURE";
  /** The first of `receipt.outstanding`: what could not be reached or is not configured. */
  readonly adapter: string;
  /** What was done so far; `outstanding` names every adapter still to be reached. */
  readonly receipt: ErasureReceipt;
  constructor(
    message: string,
    details: { readonly adapter: string; readonly receipt: ErasureReceipt },
    cause?: unknown,
  ) {
    super(message, cause);
    this.adapter = details.adapter;
    this.receipt = details.receipt;
  }
}

/** The store could not be reached within the budget, refused for good, or is closed. */
export class MemoryUnavailableError extends MemoryError {
  override readonly code = "MEMORY_UNAVAILABLE";
  /** The adapter's name. */
  readonly store: string;
  /** How many attempts were made; 0 when the store is closed. */
  readonly attempts: number;
  /** Whether the effect surely did not happen, or may have; of the whole operation, where it takes several steps. */
  readonly outcome: "not-applied" | "unknown";
  constructor(
    message: string,
    details: { readonly store: string; readonly attempts: number; readonly outcome: "not-applied" | "unknown" },
    cause?: unknown,
  ) {
    super(message, cause);
    this.store = details.store;
    this.attempts = details.attempts;
    this.outcome = details.outcome;
  }
}

/** No connection came free in time, or too many were waiting already. Nothing of the operation was done. */
export class PoolExhaustedError extends MemoryError {
  override readonly code = "POOL_EXHAUSTED";
  /** The adapter's name. */
  readonly store: string;
  /** How many were waiting when this one was refused. */
  readonly queued: number;
  constructor(message: string, details: { readonly store: string; readonly queued: number }, cause?: unknown) {
    super(message, cause);
    this.store = details.store;
    this.queued = details.queued;
  }
}

function codeOf(error: unknown): unknown {
  try {
    return Reflect.get(Object(error), "code");
  } catch {
    return undefined; // an accessor, or a proxy, that refuses to be asked
  }
}
