// What a list is asked for, and how options are checked: one schema each, refused with the place and never the content.

import * as v from "valibot";
import { MemoryScopeError } from "./errors.ts";
import { isWellFormedText, type Scalar } from "./json.ts";
import {
  type EpochMs,
  embeddingSchema,
  idSchema,
  instantSchema,
  isPlainObject,
  isScalar,
  keySchema,
  MEMORY_KINDS,
  type MemoryKind,
  type MemoryRecord,
  parseWith,
  sourceSchema,
  textSchema,
} from "./record.ts";
import type { MemoryReach } from "./scope.ts";

/** What `episodes` and `page` (since until asOf key filter reach limit) or `search` (embedding asOf filter minScore reach limit) take. */
export interface MemoryQuery {
  /** When given, must be the operation's. */
  readonly kind?: MemoryKind | undefined;
  readonly key?: string | undefined;
  readonly embedding?: readonly number[] | undefined;
  /** Inclusive bounds on `validFrom`. */
  readonly since?: EpochMs | Date | undefined;
  readonly until?: EpochMs | Date | undefined;
  /** Only records whose window contains this instant. Default: for `search` now, for episodes no such condition. */
  readonly asOf?: EpochMs | Date | undefined;
  readonly minScore?: number | undefined;
  readonly reach?: MemoryReach | undefined;
  /** 1..1,000; default 10. */
  readonly limit?: number | undefined;
  /** Conditions on metadata: all names must match, each equal to the scalar or to one of the list; `[]` matches nothing. */
  readonly filter?: Readonly<Record<string, Scalar | readonly Scalar[]>> | undefined;
}

/** A record and how well it matches. */
export interface MemoryHit {
  readonly record: MemoryRecord;
  /** 1 where nothing is ranked; for `search` 1 - distance, unclamped, comparable within one result only. */
  readonly score: number;
}

/** A page of hits; `cursor` is `null` at the end. */
export interface MemoryPage {
  readonly hits: readonly MemoryHit[];
  readonly cursor: string | null;
}

const MAX_LIMIT = 1_000;

const whole = (least: number, most: number, what: string) =>
  v.custom<number>((value) => Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= most, what);
const limit = v.optional(whole(1, MAX_LIMIT, "is not a whole number from 1 to 1,000"));
const reach = v.optional(v.picklist(["exact", "under"], 'is neither "exact" nor "under"'));
const signal = v.optional(v.custom<AbortSignal>((value) => value instanceof AbortSignal, "is not an AbortSignal"));
const instant = v.optional(instantSchema);
const cursor = v.optional(v.nullable(v.string("is not a string")));
const kind = v.picklist(MEMORY_KINDS, "is not a memory kind");
const count = whole(0, Number.MAX_SAFE_INTEGER, "is not a whole number of 0 or more");

type Filter = Readonly<Record<string, readonly Scalar[]>>;
const CONDITIONS = "is not an object of scalars or lists of scalars without NUL or lone surrogates";

function isFilter(value: unknown): value is Filter {
  return (
    isPlainObject(value) &&
    Object.entries(value).every(
      ([name, list]) => isWellFormedText(name) && Array.isArray(list) && list.every((one) => isScalar(one)),
    )
  );
}

const filter = v.optional(
  v.pipe(
    v.custom<Readonly<Record<string, unknown>>>(isPlainObject, CONDITIONS),
    v.transform((given): Readonly<Record<string, readonly unknown[]>> => {
      const conditions = Object.entries(given).map(([name, one]) => [name, Array.isArray(one) ? [...one] : [one]]);
      return Object.fromEntries(conditions);
    }),
    v.custom<Filter>(isFilter, CONDITIONS),
  ),
);

interface Reaching {
  readonly reach?: MemoryReach | undefined;
  readonly limit?: number | undefined;
}

interface Paging extends Reaching {
  readonly cursor?: string | null | undefined;
}

interface Times {
  readonly asOf?: EpochMs | undefined;
  readonly knownAt?: EpochMs | undefined;
}

interface Keyed {
  readonly keyPrefix?: string | undefined;
}

interface Query extends Reaching {
  readonly asOf?: EpochMs | undefined;
  readonly filter?: Filter | undefined;
}

interface Shapes {
  readonly call: object;
  readonly read: { readonly last?: number | undefined };
  readonly append: { readonly source?: string | undefined; readonly after?: number | undefined };
  readonly expire: { readonly ttlMs: number };
  readonly keys: Paging & Keyed;
  readonly supersede: {
    readonly expectedVersion?: number | undefined;
    readonly resolves?: readonly string[] | undefined;
  };
  readonly profile: Times;
  readonly beliefs: Times & Paging & Keyed;
  readonly history: { readonly reach?: MemoryReach | undefined };
  readonly page: { readonly cursor?: string | null | undefined };
  readonly derivations: Paging;
  readonly derived: {
    readonly artefactId: string;
    readonly sourceKind: MemoryKind;
    readonly sourceId: string;
    readonly adapter: string;
    readonly mixes?: boolean | undefined;
  };
  readonly erase: {
    readonly kinds?: readonly MemoryKind[] | undefined;
    readonly keys?: readonly string[] | undefined;
    readonly reach?: MemoryReach | undefined;
    readonly dryRun?: boolean | undefined;
  };
  readonly episodic: Query & {
    readonly key?: string | undefined;
    readonly since?: EpochMs | undefined;
    readonly until?: EpochMs | undefined;
  };
  readonly semantic: Query & {
    readonly embedding?: readonly number[] | undefined;
    readonly minScore?: number | undefined;
  };
}

const schemas: {
  readonly [Name in keyof Shapes]: v.GenericSchema<
    unknown,
    Shapes[Name] & { readonly signal?: AbortSignal | undefined }
  >;
} = {
  call: v.strictObject({ signal }),
  read: v.strictObject({
    signal,
    last: v.optional(whole(1, Number.MAX_SAFE_INTEGER, "is not a whole number of 1 or more")),
  }),
  append: v.strictObject({
    signal,
    source: v.optional(sourceSchema),
    after: v.optional(count),
  }),
  expire: v.strictObject({ signal, ttlMs: count }),
  keys: v.strictObject({ signal, keyPrefix: v.optional(textSchema), reach, limit, cursor }),
  supersede: v.strictObject({
    signal,
    expectedVersion: v.optional(count),
    resolves: v.optional(v.array(idSchema, "is not a list of ids")),
  }),
  profile: v.strictObject({ signal, asOf: instant, knownAt: instant }),
  beliefs: v.strictObject({
    signal,
    asOf: instant,
    knownAt: instant,
    keyPrefix: v.optional(textSchema),
    reach,
    limit,
    cursor,
  }),
  history: v.strictObject({ signal, reach }),
  page: v.strictObject({ signal, cursor }),
  derivations: v.strictObject({ signal, reach, limit, cursor }),
  derived: v.strictObject({
    artefactId: idSchema,
    sourceKind: kind,
    sourceId: idSchema,
    adapter: idSchema,
    mixes: v.optional(v.boolean("is not a boolean")),
  }),
  erase: v.strictObject({
    signal,
    kinds: v.optional(v.array(kind, "is not a list of kinds")),
    keys: v.optional(v.array(keySchema, "is not a list of keys")),
    reach,
    dryRun: v.optional(v.boolean("is not a boolean")),
  }),
  episodic: v.strictObject({
    kind: v.optional(kind),
    key: v.optional(keySchema),
    since: instant,
    until: instant,
    asOf: instant,
    filter,
    reach,
    limit,
  }),
  semantic: v.strictObject({
    kind: v.optional(kind),
    embedding: v.optional(embeddingSchema),
    asOf: instant,
    filter,
    minScore: v.optional(
      v.custom<number>((value) => typeof value === "number" && !Number.isNaN(value), "is not a number"),
    ),
    reach,
    limit,
  }),
};

/** The operations' sets of options. */
export type OptionsName = Exclude<keyof Shapes, "episodic" | "semantic" | "derived">;
/** The checked options (or query) of each operation. */
export type Parsed<Name extends keyof Shapes> = Shapes[Name] & { readonly signal?: AbortSignal | undefined };

const NONE = Object.freeze({});

/**
 * Checks the options of an operation.
 *
 * @throws {MemoryRecordError} One is unknown, of a wrong type, or out of bounds.
 */
export function parseOptions<Name extends OptionsName>(name: Name, input: unknown): Parsed<Name> {
  // Most calls have none, and no option but `ttlMs` is required.
  if (input === undefined && name !== "expire") return NONE as Parsed<Name>;
  return parseWith(schemas[name], input, "an option", "options");
}

/**
 * Checks the query of a list.
 *
 * @throws {MemoryScopeError} Its `kind` is another than the operation's.
 * @throws {MemoryRecordError} A part is unknown to this operation, of a wrong type, or out of bounds.
 */
export function parseQuery<Name extends "episodic" | "semantic">(name: Name, input: unknown): Parsed<Name> {
  const given = input === undefined ? NONE : input;
  if (isPlainObject(given)) {
    const named = Reflect.get(given, "kind");
    if (named !== undefined && named !== name && MEMORY_KINDS.some((one) => one === named)) {
      throw new MemoryScopeError(`a query of the ${name} kind names another kind`, { path: "query.kind" });
    }
  }
  return parseWith(schemas[name], given, "a query", "query");
}

/**
 * Checks what a derived artefact is to be registered as.
 *
 * @throws {MemoryRecordError} A part is missing, unknown, or of a wrong type.
 */
export function parseDerived(input: unknown): Parsed<"derived"> {
  return parseWith(schemas.derived, input, "an artefact", "artefact");
}

/**
 * Checks a key.
 *
 * @throws {MemoryRecordError} It is no string, blank, over 1,024 UTF-8 bytes, or holds a NUL or a lone surrogate.
 */
export function parseKey(key: unknown): string {
  return parseWith(keySchema, key, "a key", "key");
}

/** Whether a filter can match at all: a name with an empty list matches nothing. */
export function canMatch(conditions: Filter | undefined): boolean {
  return conditions === undefined || Object.values(conditions).every((values) => values.length > 0);
}
