// The one mapping between a row and a record. Every column is read as the text that the server sends, so that neither the
// client's parsers nor its transforms can change a value.

import type { MemoryScope } from "@memory/core";
import { MemoryCorruptionError, type StoredRecord, type Successor, type VersionRow } from "@memory/core/driver";

/** A row as the server sent it: each column's text, or `null`. */
export type Row = readonly (string | null)[];

/** The columns of a record, in the order that {@link readRecord} reads them. */
export const RECORD_COLUMNS: readonly string[] = [
  "user_id",
  "session_id",
  "agent",
  "id",
  "key",
  "value",
  "source",
  "confidence",
  "valid_from",
  "valid_to",
  "subject",
  "predicate",
  "metadata",
  "redacted",
  "recorded_at",
];

/** The columns of a version: a record's, then these. */
export const VERSION_COLUMNS: readonly string[] = [...RECORD_COLUMNS, "version", "lineage", "settles"];

/** The columns, each of the table that `alias` names. */
export function columnsOf(alias: string, columns: readonly string[]): string {
  return columns.map((name) => `${alias}.${name}`).join(",");
}

/** A scope from a tenant and the columns from `at` on; an absent part is stored as the empty text. */
export function readScope(tenantId: string, row: Row, at = 0): MemoryScope {
  const userId = row[at] ?? "";
  const sessionId = row[at + 1] ?? "";
  const agent = row[at + 2] ?? "";
  return {
    tenantId,
    ...(userId === "" ? {} : { userId }),
    ...(sessionId === "" ? {} : { sessionId }),
    ...(agent === "" ? {} : { agent }),
  };
}

/** A record from the columns from `at` on. The rest of the row does not matter. */
export function readRecord(tenantId: string, row: Row, at = 0, version?: number): StoredRecord {
  return {
    scope: readScope(tenantId, row, at),
    id: textAt(row, at + 3),
    key: textAt(row, at + 4),
    value: textAt(row, at + 5),
    source: textAt(row, at + 6),
    confidence: Number(row[at + 7]),
    validFrom: numberAt(row, at + 8),
    validTo: numberAt(row, at + 9),
    subject: row[at + 10] ?? undefined,
    predicate: jsonAt(row, at + 11),
    metadata: jsonAt(row, at + 12),
    redacted: jsonAt(row, at + 13),
    recordedAt: Number(row[at + 14]),
    version,
    embedding: undefined,
  };
}

/** A version from the columns from `at` on. */
export function readVersion(tenantId: string, row: Row, at = 0): VersionRow {
  const end = at + RECORD_COLUMNS.length;
  return {
    record: readRecord(tenantId, row, at, Number(row[end])),
    lineage: Number(row[end + 1]),
    settles: readNumbers(row[end + 2]),
    next: readSuccessor(row, end + 3),
    end: readSuccessor(row, end + 5),
  };
}

/** The parameters of a record's own columns, in the order of {@link RECORD_COLUMNS} without the scope. */
export function recordParams(record: StoredRecord): readonly (string | number | null)[] {
  return [
    record.id,
    record.key,
    record.value,
    record.source,
    String(record.confidence),
    record.validFrom ?? null,
    record.validTo ?? null,
    record.subject ?? null,
    json(record.predicate),
    json(record.metadata),
    json(record.redacted),
    record.recordedAt,
  ];
}

/** The parameters that name a scope; absent parts as the empty text. */
export function scopeParams({ tenantId, userId = "", sessionId = "", agent = "" }: MemoryScope): readonly string[] {
  return [tenantId, userId, sessionId, agent];
}

/** Texts and numbers as an array literal, to be cast by the statement. */
export function arrayLiteral(values: readonly (string | number)[]): string {
  let text = "{";
  for (let index = 0; index < values.length; index += 1) {
    const value = values[index];
    if (index > 0) text += ",";
    if (typeof value === "number") text += value;
    else if (value !== undefined) text += `"${/["\\]/.test(value) ? value.replace(/["\\]/g, "\\$&") : value}"`;
  }
  return `${text}}`;
}

function textAt(row: Row, at: number): string {
  return row[at] ?? "";
}

function numberAt(row: Row, at: number): number | undefined {
  const text = row[at] ?? null;
  return text === null ? undefined : Number(text);
}

function readSuccessor(row: Row, at: number): Successor | undefined {
  const id = row[at] ?? null;
  return id === null ? undefined : { id, validFrom: Number(row[at + 1]) };
}

function readNumbers(text: string | null | undefined): readonly number[] {
  return text === null || text === undefined || text === "{}" ? [] : text.slice(1, -1).split(",").map(Number);
}

// What is no JSON is damage, which core says of a record's value; here it can only be said at once.
function jsonAt<T>(row: Row, at: number): T | undefined {
  const text = row[at] ?? null;
  if (text === null) return undefined;
  try {
    const value: T = JSON.parse(text);
    return value;
  } catch (error) {
    throw new MemoryCorruptionError(
      "a stored record holds a column that is no JSON",
      { id: null, payload: row },
      error,
    );
  }
}

function json(value: unknown): string | null {
  return value === undefined ? null : JSON.stringify(value);
}
