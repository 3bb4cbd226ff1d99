// What the naive model keeps, and what it asks of its input: rows in one array, and checks written from the protocol's
// sentences alone. Nothing of core's rules is used here, so that a mistake there is not made twice.

import {
  EmbeddingDimensionError,
  type EpochMs,
  type JsonValue,
  type MemoryKind,
  type MemoryRecord,
  MemoryRecordError,
  type MemoryRecordInput,
  type MemoryScope,
  MemoryScopeError,
} from "@memory/core";

/** The parts of a scope, in the order in which scopes sort. */
const PARTS = ["tenantId", "userId", "sessionId", "agent"] as const;

/** One thing that was ever written. Only `gone`, and the expiry of a working key, ever change. */
export interface Row {
  readonly kind: MemoryKind;
  readonly scope: MemoryScope;
  readonly key: string;
  readonly id: string;
  readonly value: JsonValue;
  readonly source: string;
  readonly confidence: number;
  readonly validFrom: EpochMs | undefined;
  readonly validTo: EpochMs | undefined;
  readonly subject: string | undefined;
  readonly predicate: readonly string[] | undefined;
  readonly metadata: Readonly<Record<string, string | number | boolean>> | undefined;
  readonly embedding: readonly number[] | undefined;
  readonly recordedAt: EpochMs;
  /** Whether the caller named `validFrom`. */
  readonly dated: boolean;
  /** Profile: the version's number in its key, its lineage, and the lineages that it ended. 0 and none elsewhere. */
  readonly version: number;
  readonly lineage: number;
  readonly settles: readonly number[];
  /** Working: when it is gone by itself, and whether an explicit `expire` said so. */
  expiresAt: EpochMs | undefined;
  explicit: boolean;
  /** Replaced, expired or erased. */
  gone: boolean;
}

/** The order of two texts by their UTF-8 bytes. */
export function byBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a, "utf8"), Buffer.from(b, "utf8"));
}

/** The order of two scopes: part by part, absent first. */
export function byScope(a: MemoryScope, b: MemoryScope): number {
  for (const part of PARTS) {
    const [left, right] = [a[part], b[part]];
    if (left === right) continue;
    if (left === undefined) return -1;
    if (right === undefined) return 1;
    return byBytes(left, right);
  }
  return 0;
}

/** Whether `inner` is `outer` (exact), or one of those that it contains (under). */
export function within(outer: MemoryScope, inner: MemoryScope, reach: "exact" | "under"): boolean {
  return PARTS.every((part) => outer[part] === inner[part] || (reach === "under" && outer[part] === undefined));
}

/** Whether two JSON values are the same: members in any order. */
function sameValue(a: unknown, b: unknown): boolean {
  return canonical(a) === canonical(b);
}

/** Whether two rows say the same: everything but when they were recorded, and `validFrom` where `b` did not name it. */
export function sameContent(a: Row, b: Row): boolean {
  return sameValue(contentOf(a, b.dated), contentOf(b, b.dated));
}

/** The record that a row is read back as. */
export function recordOf(
  row: Row,
  view?: { validTo?: EpochMs | undefined; supersededBy?: string | undefined },
): MemoryRecord {
  const validTo = view === undefined ? row.validTo : view.validTo;
  return {
    id: row.id,
    kind: row.kind,
    scope: row.scope,
    key: row.key,
    value: row.value,
    source: row.source,
    confidence: row.confidence,
    ...(row.validFrom === undefined ? {} : { validFrom: row.validFrom }),
    ...(validTo === undefined ? {} : { validTo }),
    ...(row.embedding === undefined ? {} : { embedding: row.embedding }),
    ...(row.subject === undefined ? {} : { subject: row.subject }),
    ...(row.predicate === undefined ? {} : { predicate: row.predicate }),
    ...(row.metadata === undefined ? {} : { metadata: row.metadata }),
    recordedAt: row.recordedAt,
    ...(row.kind === "profile" ? { version: row.version } : {}),
    ...(view?.supersededBy === undefined ? {} : { supersededBy: view.supersededBy }),
  };
}

/**
 * Refuses what is no scope.
 *
 * @throws {MemoryScopeError} A part is blank or missing, or there is a part of another name.
 */
export function checkScope(scope: MemoryScope): void {
  for (const name of Object.keys(scope)) {
    if (!PARTS.some((part) => part === name)) throw new MemoryScopeError("unknown part", { path: name });
  }
  for (const part of PARTS) {
    const value: unknown = scope[part];
    if (value === undefined && part !== "tenantId") continue;
    if (!isName(value, 256)) throw new MemoryScopeError("bad part", { path: part });
  }
}

/**
 * Refuses what is no key (or id).
 *
 * @throws {MemoryRecordError} It is blank, too long, or holds a NUL or a lone surrogate.
 */
export function checkKey(key: string, path = "key", most = 1_024): void {
  if (!isName(key, most)) throw new MemoryRecordError("bad key", { path });
}

/**
 * Refuses a limit that is not a whole number from 1 to 1,000, and fills the default.
 *
 * @throws {MemoryRecordError}
 */
export function checkLimit(limit: number | undefined, fallback: number, path: string): number {
  const given = limit ?? fallback;
  if (!Number.isInteger(given) || given < 1 || given > 1_000) throw new MemoryRecordError("bad limit", { path });
  return given;
}

/** An instant, whichever way it was given. */
export function instant(given: EpochMs | Date | undefined): EpochMs | undefined {
  return given instanceof Date ? given.getTime() : given;
}

/**
 * A vector as float32.
 *
 * @throws {EmbeddingDimensionError} It is missing or of another width.
 * @throws {MemoryRecordError} A component is not finite as float32, or (cosine) all are zero.
 */
export function checkVector(
  given: readonly number[] | undefined,
  width: number,
  metric: string,
  path: string,
): readonly number[] {
  if (given === undefined || given.length !== width) {
    throw new EmbeddingDimensionError("width", { expected: width, received: given?.length ?? 0 });
  }
  const vector = given.map((component) => Math.fround(component) + 0);
  const bad = vector.findIndex((component) => !Number.isFinite(component));
  if (bad !== -1) throw new MemoryRecordError("not finite", { path: `${path}.${bad}` });
  if (metric === "cosine" && vector.every((component) => component === 0)) {
    throw new MemoryRecordError("zero", { path });
  }
  return vector;
}

/**
 * A row from what a caller gave, not yet numbered or dated.
 *
 * @throws {MemoryScopeError} It names another scope or kind.
 * @throws {MemoryRecordError} It is malformed.
 */
export function rowFrom(kind: MemoryKind, scope: MemoryScope, input: MemoryRecordInput, recordedAt: EpochMs): Row {
  checkRecord(input);
  if (input.scope !== undefined) {
    checkScope(input.scope);
    if (byScope(input.scope, scope) !== 0) throw new MemoryScopeError("another scope", { path: "record.scope" });
  }
  if (input.kind !== undefined && input.kind !== kind) {
    throw new MemoryScopeError("another kind", { path: "record.kind" });
  }
  const [from, to] = [instant(input.validFrom), instant(input.validTo)];
  const isDated = kind === "profile" || kind === "episodic";
  const validFrom = from ?? (isDated ? recordedAt : undefined);
  if (validFrom !== undefined && to !== undefined && to < validFrom) {
    throw new MemoryRecordError("window", { path: "validTo" });
  }
  checkJson(input.value, "value");
  return {
    kind,
    scope,
    key: input.key,
    id: input.id ?? crypto.randomUUID(),
    value: copy(input.value),
    source: input.source,
    confidence: input.confidence ?? 1,
    validFrom,
    validTo: to,
    dated: from !== undefined,
    subject: input.subject,
    predicate: input.predicate,
    metadata: input.metadata,
    embedding: undefined,
    recordedAt,
    version: 0,
    lineage: 0,
    settles: [],
    expiresAt: undefined,
    explicit: false,
    gone: false,
  };
}

/** A JSON value, copied (`-0` becomes `0`). */
export function copy(value: JsonValue): JsonValue {
  return JSON.parse(JSON.stringify(value));
}

/**
 * Refuses what is not JSON, naming the place.
 *
 * @throws {MemoryRecordError}
 */
export function checkJson(value: unknown, path: string): void {
  if (value === null || typeof value === "string" || typeof value === "boolean") return;
  if (typeof value === "number" && Number.isFinite(value)) return;
  if (Array.isArray(value)) {
    for (const [at, element] of value.entries()) checkJson(element, `${path}.${at}`);
    return;
  }
  if (typeof value === "object" && Object.getPrototypeOf(value) === Object.prototype) {
    for (const [name, member] of Object.entries(value)) checkJson(member, `${path}.${name}`);
    return;
  }
  throw new MemoryRecordError("not JSON", { path });
}

const NAMES = [
  "id kind scope key value source confidence validFrom validTo embedding subject predicate metadata",
  "recordedAt version supersededBy redacted",
].flatMap((line) => line.split(" "));

function checkRecord(input: MemoryRecordInput): void {
  checkKey(input.key);
  if (input.id !== undefined) checkKey(input.id, "id", 256);
  if (input.source.trim() === "") throw new MemoryRecordError("blank", { path: "source" });
  const confidence = input.confidence ?? 1;
  if (!(confidence >= 0 && confidence <= 1)) throw new MemoryRecordError("confidence", { path: "confidence" });
  for (const name of Object.keys(input)) {
    if (!NAMES.includes(name)) throw new MemoryRecordError("unknown property", { path: name });
  }
}

function isName(value: unknown, most: number): boolean {
  return (
    typeof value === "string" &&
    value.trim() !== "" &&
    !value.includes("\0") &&
    value.isWellFormed() &&
    Buffer.byteLength(value, "utf8") <= most
  );
}

function contentOf(row: Row, dated: boolean): unknown {
  const { key, value, source, confidence, validFrom, validTo, subject, predicate, metadata } = row;
  return [key, value, source, confidence, dated ? validFrom : null, validTo, subject, predicate, metadata];
}

// JSON with the members of every object in one order.
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (typeof value === "object" && value !== null) {
    const members = Object.entries(value).sort(([a], [b]) => byBytes(a, b));
    return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`).join(",")}}`;
  }
  return value === undefined ? "undefined" : JSON.stringify(value);
}
