// The one way up: what a driver gives back becomes a record here, checked once. A row that is damaged, or that belongs to
// a scope that was not asked for, is raised as corruption and never skipped or handed on.

import type { StoredRecord, WorkingEntry } from "../model/driver.ts";
import { MemoryCorruptionError } from "../model/errors.ts";
import { isWellFormedText, type JsonValue } from "../model/json.ts";
import { type EpochMs, isInstant, isMetadata, type MemoryKind, type MemoryRecord } from "../model/record.ts";
import { containsScope, type MemoryReach, type MemoryScope, memoryScope, sameScope } from "../model/scope.ts";

/** What was asked for, so that a row of anything else is noticed. */
export interface Asked {
  readonly kind: MemoryKind;
  readonly scope: MemoryScope;
  readonly reach: MemoryReach;
  /** The key, where one was asked for. */
  readonly key?: string | undefined;
}

/** What the rules add to a row on its way out. */
export interface RowView {
  readonly validTo?: number | undefined;
  readonly supersededBy?: string | undefined;
}

/**
 * A record from a row.
 *
 * @throws {MemoryCorruptionError} The row does not validate, or is not of what was asked.
 */
export function parseRow(asked: Asked, row: StoredRecord, view?: RowView): MemoryRecord {
  checkRow(asked, row);
  return buildRecord(asked.kind, rowScope(asked, row), row, parseValue(row), view);
}

/**
 * A working record from its head and content; the elements of a sequence become an array.
 *
 * @throws {MemoryCorruptionError} As {@link parseRow}.
 */
export function parseEntry(asked: Asked, entry: WorkingEntry): MemoryRecord {
  const { head, content } = entry;
  if (!isObject(head) || !isObject(content) || !(content.items === undefined || Array.isArray(content.items))) {
    throw corrupt(entry, "it is not an entry");
  }
  const marks: string[] = [];
  const value =
    content.items === undefined
      ? readItem(content.value, "value", marks)
      : `[${content.items.map((item, index) => readItem(item, `value.${index}`, marks)).join(",")}]`;
  const redacted = marks.length === 0 ? head.redacted : [...marks, ...(head.redacted ?? [])];
  return parseRow(asked, { ...head, value, redacted });
}

/** The scope of a row: the asked one itself where they are equal, so that nothing is allocated. */
export function rowScope(asked: Pick<Asked, "scope" | "reach">, row: { readonly scope: MemoryScope }): MemoryScope {
  if (row.scope === asked.scope) return asked.scope;
  try {
    if (sameScope(row.scope, asked.scope)) return asked.scope;
    const scope = memoryScope(row.scope);
    if (asked.reach === "under" && containsScope(asked.scope, scope)) return scope;
  } catch {
    // An invalid scope: corruption, as below.
  }
  throw corrupt(row, "it belongs to a scope that was not asked for");
}

/** Raises what a driver gave as corruption. */
export function corrupt(row: unknown, why: string, cause?: unknown): MemoryCorruptionError {
  const id: unknown = typeof row === "object" && row !== null ? Reflect.get(row, "id") : undefined;
  return new MemoryCorruptionError(
    `a stored record does not validate (${why}); its id and payload are on the error`,
    { id: typeof id === "string" ? id : null, payload: row },
    cause,
  );
}

/** Builds the frozen record; properties that are absent are left out. */
export function buildRecord(
  kind: MemoryKind,
  scope: MemoryScope,
  from: Omit<StoredRecord, "value" | "scope" | "recordedAt"> & { readonly recordedAt: EpochMs | undefined },
  value: JsonValue,
  view?: RowView,
): MemoryRecord {
  const record: { -readonly [Name in keyof MemoryRecord]: MemoryRecord[Name] } = {
    id: from.id,
    kind,
    scope,
    key: from.key,
    value,
    source: from.source,
    confidence: from.confidence,
  };
  if (from.validFrom !== undefined) record.validFrom = from.validFrom;
  const validTo = view === undefined ? from.validTo : view.validTo;
  if (validTo !== undefined) record.validTo = validTo;
  if (from.embedding !== undefined) record.embedding = from.embedding;
  if (from.subject !== undefined) record.subject = from.subject;
  if (from.predicate !== undefined) record.predicate = Object.freeze(from.predicate);
  if (from.metadata !== undefined) record.metadata = Object.freeze(from.metadata);
  if (from.recordedAt !== undefined) record.recordedAt = from.recordedAt;
  if (from.version !== undefined) record.version = from.version;
  if (view?.supersededBy !== undefined) record.supersededBy = view.supersededBy;
  if (from.redacted !== undefined && from.redacted.length > 0) record.redacted = Object.freeze(from.redacted);
  return Object.freeze(record);
}

/** Parses the value of a row. */
export function parseValue(row: StoredRecord): JsonValue {
  try {
    return JSON.parse(row.value);
  } catch (error) {
    throw corrupt(row, "its value is not JSON", error);
  }
}

/**
 * A working value, or an element of a sequence, as an opaque text: its JSON and, behind a line feed (which JSON text as we
 * write it never holds), its marks. They travel together, so that a value that becomes an element keeps its own.
 */
export function writeItem(text: string, marks: readonly string[]): string {
  return marks.length === 0 ? text : `${text}\n${JSON.stringify(marks)}`;
}

function readItem(item: unknown, path: string, marks: string[]): string {
  if (typeof item !== "string") throw corrupt(item, "a value is not a text");
  const at = item.indexOf("\n");
  if (at === -1) return item;
  try {
    const own: unknown = JSON.parse(item.slice(at + 1));
    if (!isTexts(own)) throw new TypeError("marks are not texts");
    for (const mark of own) marks.push(path + mark);
  } catch (error) {
    throw corrupt(item, "a value's marks are damaged", error);
  }
  return item.slice(0, at);
}

function checkRow(asked: Asked, row: StoredRecord): void {
  const bad = (why: string) => corrupt(row, why);
  if (!isObject(row)) throw bad("it is not a row");
  if (!isText(row.id)) throw bad("its id is not a text");
  if (!isText(row.key)) throw bad("its key is not a text");
  if (asked.key !== undefined && row.key !== asked.key) throw bad("it has another key than was asked for");
  if (typeof row.value !== "string") throw bad("its value is not a text");
  if (typeof row.source !== "string" || row.source === "") throw bad("its source is not a text");
  if (!(row.confidence >= 0 && row.confidence <= 1)) throw bad("its confidence is not within 0..1");
  if (!isInstant(row.recordedAt)) throw bad("its recordedAt is not an instant");
  if (row.validFrom !== undefined && !isInstant(row.validFrom)) throw bad("its validFrom is not an instant");
  if (row.validTo !== undefined && !isInstant(row.validTo)) throw bad("its validTo is not an instant");
  if (row.subject !== undefined && typeof row.subject !== "string") throw bad("its subject is not a text");
  if (row.predicate !== undefined && !isTexts(row.predicate)) throw bad("its predicate is not a list of texts");
  if (row.redacted !== undefined && !isTexts(row.redacted)) throw bad("its redacted is not a list of texts");
  if (row.metadata !== undefined && !isMetadata(row.metadata)) throw bad("its metadata is not flat");
  if (asked.kind === "profile" || asked.kind === "episodic") {
    if (row.validFrom === undefined) throw bad("its validFrom is missing");
    if (asked.kind === "profile" && !(Number.isSafeInteger(row.version) && Number(row.version) > 0)) {
      throw bad("its version is not a version");
    }
  }
  const { embedding } = row;
  if (embedding !== undefined && !(Array.isArray(embedding) && embedding.every(Number.isFinite))) {
    throw bad("its embedding is not a vector");
  }
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

/** Whether this is a text that a key or an id can be. */
export function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "" && isWellFormedText(value);
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === "string");
}
