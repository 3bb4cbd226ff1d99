// The one mapping between a row and a record. Every column is read as the text that the server sends, so that neither the
// client's parsers nor its transforms can change a value.

import type { StoredRecord } from "../model/driver.ts";
import { MemoryCorruptionError } from "../model/errors.ts";
import type { MemoryScope } from "../model/scope.ts";
import type { Row } from "./executor.ts";
import { arrayLiteral, PART_COLUMNS } from "./params.ts";

/** The columns of a record after its scope, in the order of {@link contentParams} and {@link readContent}. */
export const CONTENT_COLUMNS: readonly string[] = [
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

/** The columns of a record, in the order that {@link readRecord} reads them. */
export const RECORD_COLUMNS: readonly string[] = [...PART_COLUMNS, ...CONTENT_COLUMNS];

/** Of the columns that are no text: how a parameter becomes what they hold. */
const CASTS: Readonly<Record<string, string>> = {
  confidence: "::text::numeric",
  valid_from: "::bigint",
  valid_to: "::bigint",
  predicate: "::text::jsonb",
  metadata: "::text::jsonb",
  recorded_at: "::bigint",
};

const OPTIONAL: readonly string[] = ["valid_from", "valid_to", "subject", "predicate", "metadata", "redacted"];

/** The columns, each of the table that `alias` names. */
export function columnsOf(alias: string, columns: readonly string[]): string {
  return columns.map((name) => `${alias}.${name}`).join(",");
}

/** The cast that a parameter of this column needs: `::text` unless it is something else. */
export function castOf(column: string): string {
  return CASTS[column] ?? "::text";
}

/** A scope from a tenant and the columns from `at` on; an absent part is stored as the empty text. */
export function readScope(tenantId: string, row: Row, at = 0): MemoryScope {
  const userId = row[at] ?? "";
  const sessionId = row[at + 1] ?? "";
  const agent = row[at + 2] ?? "";
  const scope: { -readonly [Part in keyof MemoryScope]: MemoryScope[Part] } = { tenantId };
  if (userId !== "") scope.userId = userId;
  if (sessionId !== "") scope.sessionId = sessionId;
  if (agent !== "") scope.agent = agent;
  return scope;
}

/**
 * A record from the columns from `at` on (see {@link RECORD_COLUMNS}), without an embedding. The rest of the row does not
 * matter.
 *
 * @throws {MemoryCorruptionError} A column that holds JSON holds none.
 */
export function readRecord(tenantId: string, row: Row, at = 0, version?: number): StoredRecord {
  return readContent(readScope(tenantId, row, at), row, at + PART_COLUMNS.length, version);
}

/**
 * A record of this scope from the columns from `at` on (see {@link CONTENT_COLUMNS}), without an embedding.
 *
 * @throws {MemoryCorruptionError} A column that holds JSON holds none.
 */
export function readContent(scope: MemoryScope, row: Row, at: number, version?: number): StoredRecord {
  return {
    scope,
    id: textAt(row, at),
    key: textAt(row, at + 1),
    value: textAt(row, at + 2),
    source: textAt(row, at + 3),
    confidence: Number(row[at + 4]),
    validFrom: numberAt(row, at + 5),
    validTo: numberAt(row, at + 6),
    subject: row[at + 7] ?? undefined,
    predicate: jsonAt(row, at + 8),
    metadata: jsonAt(row, at + 9),
    redacted: jsonAt(row, at + 10),
    recordedAt: Number(row[at + 11]),
    version,
    embedding: undefined,
  };
}

/** The parameters of a record's own columns, in the order of {@link CONTENT_COLUMNS}. */
export function contentParams(record: StoredRecord): readonly (string | number | null)[] {
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

/**
 * The content of many records as lists, a parameter a column of {@link CONTENT_COLUMNS}. No element is null, which
 * `array_nulls = off` would take for a text: what is absent is the empty text, and a subject, which may be empty, begins
 * with a mark. A list of absent ones alone is `null`, and so is one that `isLeftOut`, by the place of its column.
 *
 * @param rows What {@link contentParams} gives of each.
 */
export function contentLists(
  rows: readonly (readonly (string | number | null)[])[],
  isLeftOut: readonly boolean[] = [],
): readonly (string | null)[] {
  return CONTENT_COLUMNS.map((name, index) => {
    if (isLeftOut[index] === true) return null;
    const column = rows.map((row) => row[index] ?? null);
    if (column.every((value) => value === null)) return null;
    const mark = name === "subject" ? "+" : "";
    return arrayLiteral(column.map((value) => (value === null ? "" : mark === "" ? value : `${mark}${value}`)));
  });
}

/** The arguments by which `unnest` reads {@link contentLists}, bound from parameter `first` on. */
export function contentListsSql(first: number): string {
  return CONTENT_COLUMNS.map(
    (name, index) => `$${index + first}::text${OPTIONAL.includes(name) ? "::text" : typeOf(name)}[]`,
  ).join(",");
}

/** A column of {@link contentListsSql}, unnested as `alias`, as what it stands for. */
export function listedSql(alias: string, column: string): string {
  if (!OPTIONAL.includes(column)) return `${alias}.${column}`;
  if (column === "subject") return `substr(nullif(${alias}.subject,''),2)`;
  return `nullif(${alias}.${column},'')${typeOf(column)}`;
}

// The cast of a text to the type of this column.
function typeOf(column: string): string {
  return castOf(column).replace("::text::", "::");
}

function textAt(row: Row, at: number): string {
  return row[at] ?? "";
}

function numberAt(row: Row, at: number): number | undefined {
  const text = row[at] ?? null;
  return text === null ? undefined : Number(text);
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
