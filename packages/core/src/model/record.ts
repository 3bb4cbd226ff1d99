// The record: the one shape of everything remembered, on its way in (what a caller gives) and as it is handed out.
// Structure is checked here by valibot; what needs context (scope, kind, JSON, masking, sizes) is in rules/write.

import * as v from "valibot";
import { MemoryRecordError } from "./errors.ts";
import { isWellFormedText, type JsonValue, type Scalar, utf8Bytes } from "./json.ts";
import type { MemoryScope } from "./scope.ts";

/** Milliseconds since the Unix epoch, a whole number (`Date.now()`). */
export type EpochMs = number;

/** The four kinds of remembering. */
export type MemoryKind = "working" | "profile" | "episodic" | "semantic";

/** Every kind, in the order in which lists of kinds stand. */
export const MEMORY_KINDS: readonly MemoryKind[] = ["working", "profile", "episodic", "semantic"];

/** The largest key, in UTF-8 bytes. */
export const MAX_KEY_BYTES = 1_024;
/** The largest id that a caller may give, in UTF-8 bytes. */
const MAX_ID_BYTES = 256;
/** The most that source, subject, predicate and metadata may take together, in UTF-8 JSON bytes. */
export const MAX_ATTRIBUTE_BYTES = 16_384;
/** The largest instant on either side of the epoch (ECMA-262, time values). */
export const MAX_INSTANT = 8.64e15;

/**
 * What is remembered: plain JSON-serialisable data. The record is frozen, its `value` a copy of its own that nothing else
 * holds. Absent properties are absent, never `null`.
 */
export interface MemoryRecord {
  /** Unique in its scope and kind; a UUIDv7 unless the caller chose one. Never masked. */
  readonly id: string;
  readonly kind: MemoryKind;
  readonly scope: MemoryScope;
  /** What it is about. Several records may share a key over time; never masked. */
  readonly key: string;
  readonly value: JsonValue;
  /** Where it comes from: a tool, a turn, a person. */
  readonly source: string;
  /** 0..1. */
  readonly confidence: number;
  /** True from this instant on; a profile version and an episode always have one. */
  readonly validFrom?: EpochMs;
  /** True until (not including) this instant. */
  readonly validTo?: EpochMs;
  /** Semantic only: float32 values, as wide as the store's `embeddingDimensions`. `search` does not give it back. */
  readonly embedding?: readonly number[];
  /** Whom or what a profile fact speaks about. */
  readonly subject?: string;
  /** Which aspects of the subject it settles; the order does not matter. */
  readonly predicate?: readonly string[];
  /** Flat facts to filter by. */
  readonly metadata?: Readonly<Record<string, Scalar>>;
  /** Set by the store: when it was recorded, by the store's clock. */
  readonly recordedAt?: EpochMs;
  /** Set by the store (profile): the version's number in its key, from 1. */
  readonly version?: number;
  /** Set by the store (profile): the id of the write that followed it in its lineage or ended the lineage. */
  readonly supersededBy?: string;
  /** Set by the store: the paths at which something was masked. */
  readonly redacted?: readonly string[];
}

/**
 * What a caller gives. `scope` and `kind` may be left out of a record that is passed to an operation (they are the
 * operation's); what the store sets is ignored when given, so that a record read can be changed and written again.
 */
export interface MemoryRecordInput {
  readonly id?: string | undefined;
  readonly kind?: MemoryKind | undefined;
  readonly scope?: MemoryScope | undefined;
  readonly key: string;
  readonly value: JsonValue;
  readonly source: string;
  readonly confidence?: number | undefined;
  readonly validFrom?: EpochMs | Date | undefined;
  readonly validTo?: EpochMs | Date | undefined;
  readonly embedding?: readonly number[] | undefined;
  readonly subject?: string | undefined;
  readonly predicate?: readonly string[] | undefined;
  readonly metadata?: Readonly<Record<string, Scalar>> | undefined;
  readonly recordedAt?: EpochMs | undefined;
  readonly version?: number | undefined;
  readonly supersededBy?: string | undefined;
  readonly redacted?: readonly string[] | undefined;
}

/** A record's parts once their shape is known to be right; the value and the scope are not looked at yet. */
export interface RecordParts extends Omit<MemoryRecordInput, "scope" | "value" | "validFrom" | "validTo"> {
  readonly scope?: unknown;
  readonly value: unknown;
  readonly validFrom?: EpochMs | undefined;
  readonly validTo?: EpochMs | undefined;
}

const wellFormed = v.check(isWellFormedText, "holds a NUL or a lone surrogate");
const filled = v.check((value: string) => value.trim() !== "", "is blank");
const nonBlank = (maxBytes: number, measured: (value: string) => string = (value) => value) =>
  v.pipe(
    v.string("is not a string"),
    filled,
    wellFormed,
    v.check(
      (value: string) => value.length <= maxBytes / 3 || utf8Bytes(measured(value)) <= maxBytes,
      `is over ${maxBytes} UTF-8 bytes`,
    ),
  );

// 16 digits: no version is longer.
const RENAMED = /(?<=.)@[1-9]\d{0,15}$/s;

function chosenId(id: string): string {
  return id.replace(RENAMED, "");
}

/**
 * The id of a version whose own id belongs to other content of the key: `<id>@<version>`. A renamed id that is renamed
 * again does not grow: a record can be read, changed and written again for ever.
 */
export function renamed(id: string, version: number): string {
  return `${chosenId(id)}@${version}`;
}

/** A key: not blank, at most 1,024 UTF-8 bytes, no NUL, no lone surrogate. */
export const keySchema: v.GenericSchema<unknown, string> = nonBlank(MAX_KEY_BYTES);
/**
 * An id: not blank, at most 256 UTF-8 bytes, no NUL, no lone surrogate. The `@<version>` of a {@link renamed} one comes on
 * top, so that what a store handed out can be given back to it.
 */
export const idSchema: v.GenericSchema<unknown, string> = nonBlank(MAX_ID_BYTES, chosenId);
/** A text without NUL or lone surrogate. */
export const textSchema: v.GenericSchema<unknown, string> = v.pipe(v.string("is not a string"), wellFormed);
/** Where a record comes from: a text that is not blank. */
export const sourceSchema: v.GenericSchema<unknown, string> = v.pipe(textSchema, filled);
/** A vector; its width and its components are looked at where the store's are known. */
export const embeddingSchema: v.GenericSchema<unknown, readonly number[]> = v.custom<readonly number[]>(
  (value) => Array.isArray(value),
  "is not an array of numbers (Array.from a typed array)",
);

/** An instant: whole milliseconds within the range of `Date`, or a valid `Date`. */
export const instantSchema: v.GenericSchema<unknown, EpochMs> = v.pipe(
  v.unknown(),
  v.transform((value) => (value instanceof Date ? value.getTime() : value)),
  v.custom<EpochMs>(isInstant, "is not an instant: whole milliseconds since the epoch, or a valid Date"),
  v.transform((value: EpochMs) => value + 0),
);

/** Whether this is an instant: whole milliseconds within the range of `Date`. */
export function isInstant(value: unknown): value is EpochMs {
  return Number.isSafeInteger(value) && Math.abs(Number(value)) <= MAX_INSTANT;
}

/** Whether this is a plain object: no array, no class instance, no symbol-named member. */
export function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return (
    (prototype === null || Object.getPrototypeOf(prototype) === null) &&
    Object.getOwnPropertySymbols(value).length === 0
  );
}

/** Whether this is flat metadata: a plain object of strings, finite numbers and booleans. */
export function isMetadata(value: unknown): value is Readonly<Record<string, Scalar>> {
  return (
    isPlainObject(value) &&
    Object.keys(value).every((name) => isWellFormedText(name) && isScalar(Reflect.get(value, name)))
  );
}

/** Whether this is a scalar that metadata may hold. */
export function isScalar(value: unknown): value is Scalar {
  return (
    typeof value === "boolean" ||
    (typeof value === "number" && Number.isFinite(value)) ||
    (typeof value === "string" && isWellFormedText(value))
  );
}

const isShare = (value: unknown): value is number => typeof value === "number" && value >= 0 && value <= 1;

const FLAT = "is not a flat object of strings, finite numbers and booleans without NUL or lone surrogates";

// Copied before it is checked: an accessor that is read twice may give two things. `-0` becomes `0`.
const metadataSchema: v.GenericSchema<unknown, Readonly<Record<string, Scalar>>> = v.pipe(
  v.custom<Readonly<Record<string, unknown>>>(isPlainObject, FLAT),
  v.transform((given): Readonly<Record<string, unknown>> => {
    const entries = Object.entries(given);
    return Object.fromEntries(entries.map(([name, one]) => [name, typeof one === "number" ? one + 0 : one]));
  }),
  v.custom<Readonly<Record<string, Scalar>>>(isMetadata, FLAT),
);

const recordSchema = v.strictObject({
  id: v.optional(idSchema),
  kind: v.optional(v.picklist(MEMORY_KINDS, "is not a memory kind")),
  scope: v.optional(v.unknown()),
  key: keySchema,
  value: v.unknown(),
  source: sourceSchema,
  confidence: v.optional(
    v.pipe(
      v.custom<number>(isShare, "is not a number from 0 to 1"),
      v.transform((value) => value + 0),
    ),
  ),
  validFrom: v.optional(instantSchema),
  validTo: v.optional(instantSchema),
  embedding: v.optional(embeddingSchema),
  subject: v.optional(textSchema),
  predicate: v.optional(v.array(textSchema, "is not an array of strings")),
  metadata: v.optional(metadataSchema),
  recordedAt: v.optional(instantSchema),
  version: v.optional(
    v.custom<number>((value) => Number.isSafeInteger(value) && Number(value) > 0, "is not a version"),
  ),
  supersededBy: v.optional(v.string("is not a string")),
  redacted: v.optional(v.array(v.string("is not a string"), "is not an array of strings")),
});

/**
 * Checks a record's structure; the value itself is checked by the caller.
 *
 * @throws {MemoryRecordError} Something is missing, of a wrong type, out of bounds, or unknown.
 */
export function parseParts(input: unknown): RecordParts {
  const parts = parseWith(recordSchema, input, "a record", "");
  checkWindow(parts.validFrom, parts.validTo);
  return parts;
}

/**
 * Refuses a window that ends before it begins.
 *
 * @throws {MemoryRecordError} `validTo` is before `validFrom`.
 */
export function checkWindow(validFrom: EpochMs | undefined, validTo: EpochMs | undefined): void {
  if (validFrom !== undefined && validTo !== undefined && validTo < validFrom) {
    throw new MemoryRecordError("a record's validTo is before its validFrom", { path: "validTo" });
  }
}

/**
 * Runs a schema and turns its first complaint into a `MemoryRecordError` that names the place and never the value.
 *
 * @throws {MemoryRecordError}
 */
export function parseWith<Out>(schema: v.GenericSchema<unknown, Out>, input: unknown, what: string, path: string): Out {
  if (typeof input === "object" && input !== null && Object.getOwnPropertySymbols(input).length > 0) {
    throw new MemoryRecordError(`${what} has a symbol-named property`, { path });
  }
  const result = v.safeParse(schema, input, { abortEarly: true, abortPipeEarly: true });
  if (result.success) return result.output;
  const issue = result.issues[0];
  const at = v.getDotPath(issue) ?? "";
  const full = path === "" || at === "" ? path + at : `${path}.${at}`;
  throw new MemoryRecordError(`${what} is refused: ${complaint(issue, full)}`, { path: full });
}

// Valibot's own messages quote what was received; ours are fixed texts, and the names of known properties only.
function complaint(issue: v.BaseIssue<unknown>, at: string): string {
  if (issue.type === "strict_object") {
    if (issue.expected === "never") return "it has an unknown property (named in `error.path`)";
    if (issue.path === undefined) return "it is not an object";
    return `${at} is missing`;
  }
  return `${at === "" ? "it" : at} ${issue.message}`;
}
