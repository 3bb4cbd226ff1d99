// The mapping from a row to a version: a record's columns, then what places it among the versions of its key.

import type { MemoryScope } from "@memory/core";
import type { Successor, VersionRow } from "@memory/core/driver";
import { CONTENT_COLUMNS, RECORD_COLUMNS, type Row, readContent, readRecord } from "@memory/core/sql";

/** The columns of a version: a record's, then these. */
export const VERSION_COLUMNS: readonly string[] = [...RECORD_COLUMNS, "version", "lineage", "settles"];

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

/** The columns of the newest version of a key in a scope that are not known from the question. */
export const NEWEST_COLUMNS: readonly string[] = ["lineages", "latest_from", "version", ...CONTENT_COLUMNS];

/**
 * The newest version of a key from the columns from `at` on (see {@link NEWEST_COLUMNS}), if the key is plain: it has one
 * lineage, which nothing can have ended then, and nothing in it begins later.
 */
export function readNewest(scope: MemoryScope, row: Row, at: number): VersionRow | undefined {
  if (row[at] !== "1") return undefined;
  const record = readContent(scope, row, at + 3, Number(row[at + 2]));
  if (record.validFrom !== Number(row[at + 1])) return undefined;
  return { record, lineage: 1, settles: [], next: undefined, end: undefined };
}

function readSuccessor(row: Row, at: number): Successor | undefined {
  const id = row[at] ?? null;
  return id === null ? undefined : { id, validFrom: Number(row[at + 1]) };
}

function readNumbers(text: string | null | undefined): readonly number[] {
  return text === null || text === undefined || text === "{}" ? [] : text.slice(1, -1).split(",").map(Number);
}
