// What an error of SQLite means. The result codes: https://sqlite.org/rescode.html

import type { MemoryError } from "@memory/core";
import { MemoryCorruptionError, MemorySchemaError } from "@memory/core/driver";

const ERROR = 1;
const BUSY = 5;
const LOCKED = 6;
const CORRUPT = 11;
const PROTOCOL = 15;
const NOTADB = 26;

/** Another connection writes, or recovers the file. */
export function isBusy(error: unknown): boolean {
  return [BUSY, LOCKED, PROTOCOL].includes(resultCode(error));
}

/** The narrower error that this one is. */
export function toMemoryError(error: unknown): MemoryError | undefined {
  const code = resultCode(error);
  if (code === NOTADB) return schemaError("the file is no SQLite database", error);
  if (code === CORRUPT) return new MemoryCorruptionError("the file is damaged", { id: null, payload: null }, error);
  // SQLITE_ERROR has no finer code for it.
  if (code === ERROR && /^no such (table|column)/.test(messageOf(error))) {
    return schemaError("a table or a column is missing", error);
  }
  return undefined;
}

function schemaError(finding: string, cause: unknown): MemorySchemaError {
  const message = `${finding}: run schemaSql() on a new file`;
  return new MemorySchemaError(message, { findings: [finding] }, cause);
}

// The primary result code: the lower byte of the extended one.
function resultCode(error: unknown): number {
  const code: unknown = typeof error === "object" && error !== null ? Reflect.get(error, "errcode") : undefined;
  return typeof code === "number" ? code & 0xff : 0;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : "";
}
