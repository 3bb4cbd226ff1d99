// The one mapping between a row and a record, and the conditions by which rows are found: parts of a scope are compared by
// `=` and nothing else, an absent part is the empty text (core refuses blank ones), and every list goes on from a place.

import type { SQLInputValue, SQLOutputValue } from "node:sqlite";
import type { MemoryReach, MemoryScope } from "@memory/core";
import { MemoryCorruptionError, type StoredRecord } from "@memory/core/driver";

/** A row, by the names of its columns. */
export type Row = Readonly<Record<string, SQLOutputValue>>;

/** What a statement is given, by the names of its parameters. */
export type Values = Readonly<Record<string, SQLInputValue>>;

/** The columns of a scope, in its order. */
export const PARTS: readonly string[] = ["tenant_id", "user_id", "session_id", "agent"];

/** The columns of a record. */
export const RECORD_COLUMNS: string = [
  ...PARTS,
  "id,key,value,source,confidence,valid_from,valid_to,subject,predicate,metadata,redacted,recorded_at",
].join(",");

/** Exactly the scope that the parameters name. */
export const EXACT: string = PARTS.map((part) => `${part}=:${part}`).join(" AND ");

/** An insert of these columns, each from the parameter of its name. */
export function insertInto(table: string, columns: string): string {
  return `INSERT INTO ${table} (${columns}) VALUES (${columns.replaceAll(/\w+/g, ":$&")})`;
}

/** The parameters of a scope. */
export function scopeValues({ tenantId, userId = "", sessionId = "", agent = "" }: MemoryScope): Values {
  return { tenant_id: tenantId, user_id: userId, session_id: sessionId, agent };
}

/** The condition that a row is in the scope's reach. */
export function within(scope: MemoryScope, reach: MemoryReach): string {
  return reach === "exact"
    ? EXACT
    : fixed(scope)
        .map((part) => `${part}=:${part}`)
        .join(" AND ");
}

/** The columns that tell rows in a scope's reach apart, in their order: the parts that it leaves open, then `rest`. */
export function order(scope: MemoryScope, reach: MemoryReach, ...rest: readonly string[]): string {
  const named = fixed(scope);
  const open = reach === "exact" ? [] : PARTS.filter((part) => !named.includes(part));
  return [...open, ...rest].join(",");
}

/** The condition that a row comes after the place that the parameters `after_*` name, in the order of these columns. */
export function beyond(columns: string): string {
  return `(${columns})>(${columns.replaceAll(/\w+/g, ":after_$&")})`;
}

/** The parameters of a place for {@link beyond}. */
export function afterValues(place: Values): Values {
  return Object.fromEntries(Object.entries(place).map(([name, value]) => [`after_${name}`, value]));
}

/** The condition that a key begins with `:prefix`: no byte of UTF-8 is FF, so that this is a range, without any pattern. */
export const PREFIXED: string = "key>=:prefix AND key<:prefix||CAST(x'FF' AS TEXT)";

/** The parameters of a record's own columns. */
export function recordValues(record: StoredRecord): Values {
  return {
    ...scopeValues(record.scope),
    id: record.id,
    key: record.key,
    value: record.value,
    source: record.source,
    confidence: record.confidence,
    valid_from: record.validFrom ?? null,
    valid_to: record.validTo ?? null,
    subject: record.subject ?? null,
    predicate: json(record.predicate),
    metadata: json(record.metadata),
    redacted: json(record.redacted),
    recorded_at: record.recordedAt,
  };
}

/**
 * The record of a row, without an embedding.
 *
 * @throws {MemoryCorruptionError} A column that holds JSON holds none.
 */
export function readRecord(row: Row): StoredRecord {
  return {
    scope: readScope(row),
    id: text(row, "id"),
    key: text(row, "key"),
    value: text(row, "value"),
    source: text(row, "source"),
    confidence: Number(row["confidence"]),
    validFrom: count(row, "valid_from"),
    validTo: count(row, "valid_to"),
    subject: row["subject"] === null ? undefined : text(row, "subject"),
    predicate: readJson(row, "predicate"),
    metadata: readJson(row, "metadata"),
    redacted: readJson(row, "redacted"),
    recordedAt: Number(row["recorded_at"]),
    version: count(row, "version"),
    embedding: undefined,
  };
}

/** The scope of a row. */
export function readScope(row: Row): MemoryScope {
  const [userId, sessionId, agent] = PARTS.slice(1).map((part) => text(row, part));
  return {
    tenantId: text(row, "tenant_id"),
    ...(userId ? { userId } : {}),
    ...(sessionId ? { sessionId } : {}),
    ...(agent ? { agent } : {}),
  };
}

/** A column of text; the empty one where there is none. */
export function text(row: Row, column: string): string {
  const value = row[column];
  return typeof value === "string" ? value : "";
}

/** A column of whole numbers, `undefined` where there is none. */
export function count(row: Row, column: string): number | undefined {
  const value = row[column] ?? null;
  return value === null ? undefined : Number(value);
}

/**
 * A column of JSON, `undefined` where there is none.
 *
 * @throws {MemoryCorruptionError} It holds something else.
 */
export function readJson<T>(row: Row, column: string): T | undefined {
  const value = row[column] ?? null;
  if (value === null) return undefined;
  try {
    const parsed: T = JSON.parse(String(value));
    return parsed;
  } catch (error) {
    const id = typeof row["id"] === "string" ? row["id"] : null;
    throw new MemoryCorruptionError(`the column ${column} of a stored record is no JSON`, { id, payload: row }, error);
  }
}

function fixed({ userId, sessionId, agent }: MemoryScope): readonly string[] {
  const named = [true, userId !== undefined, sessionId !== undefined, agent !== undefined];
  return PARTS.filter((_, index) => named[index]);
}

function json(value: unknown): string | null {
  return value === undefined ? null : JSON.stringify(value);
}
