// The mapping from a row to a version: a record's columns, then what places it among the versions of its key.

import type { Successor, VersionRow } from "@memory/core/driver";
import { RECORD_COLUMNS, type Row, readRecord } from "@memory/core/sql";

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

function readSuccessor(row: Row, at: number): Successor | undefined {
  const id = row[at] ?? null;
  return id === null ? undefined : { id, validFrom: Number(row[at + 1]) };
}

function readNumbers(text: string | null | undefined): readonly number[] {
  return text === null || text === undefined || text === "{}" ? [] : text.slice(1, -1).split(",").map(Number);
}
