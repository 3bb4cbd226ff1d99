// Whether the file is what the store needs: every table, column and index of the schema, its settings, and how the
// connection is set up.

import { DatabaseSync } from "node:sqlite";
import { EmbeddingDimensionError, type Metric } from "@memory/core";
import { MemorySchemaError, type MemoryWarning } from "@memory/core/driver";
import { Connection } from "./connection.ts";
import { type Row, text } from "./row.ts";
import { SCHEMA_VERSION, schemaSql } from "./schema.ts";

// Of tables and their columns, and of indexes and their columns: one row each, with all that matters.
const TABLES = `SELECT m.name AS owner, 'column ' || c.name AS part, c.type || ' ' || c."notnull" || ' ' || c.pk AS shape
  FROM sqlite_schema m JOIN pragma_table_xinfo(m.name) c WHERE m.type='table' AND m.name LIKE 'memory\\_%' ESCAPE '\\'`;
const INDEXES = `SELECT m.tbl_name AS owner, 'index ' || m.name AS part, group_concat(coalesce(i.name,'') || ' ' || i."desc") AS shape
  FROM sqlite_schema m JOIN pragma_index_xinfo(m.name) i WHERE m.type='index' AND i.key AND m.tbl_name LIKE 'memory\\_%' ESCAPE '\\' GROUP BY m.name`;
const TRIGGERS = `SELECT tbl_name AS owner, 'trigger ' || name AS part, '' AS shape
  FROM sqlite_schema WHERE type='trigger' AND tbl_name LIKE 'memory\\_%' ESCAPE '\\'`;
const PARTS = `${TABLES} UNION ALL SELECT * FROM (${INDEXES}) UNION ALL ${TRIGGERS} ORDER BY owner, part`;

/** What the store was opened with. */
export interface Expected {
  readonly dimensions: number | undefined;
  readonly metric: Metric;
}

/**
 * Compares the file with the schema; gives back what is only unwise.
 *
 * @throws {EmbeddingDimensionError} The file holds vectors of another width; all other findings are in its `schema`.
 * @throws {MemorySchemaError} Something is missing or other than it should be; every finding is named.
 */
export function verify(connection: Connection, { dimensions, metric }: Expected): readonly MemoryWarning[] {
  const findings = layoutFindings(connection);
  const settings = findings.some((finding) => finding.startsWith("memory_settings"))
    ? new Map<string, string>()
    : settingsOf(connection);
  const check = (name: string, expected: string): void => {
    const found = settings.get(name) ?? "nothing";
    if (found !== expected) findings.push(`memory_settings says ${found} of ${name}; the store expects ${expected}`);
  };
  if (settings.size > 0) check("schema", SCHEMA_VERSION);
  if (settings.size > 0 && dimensions !== undefined) check("metric", metric);
  const width = Number(settings.get("dimensions") ?? 0);
  const isOtherWidth = settings.size > 0 && dimensions !== undefined && width !== dimensions;
  const schema = findings.length === 0 ? undefined : schemaError(findings);
  if (isOtherWidth) {
    throw new EmbeddingDimensionError(`the file was made for vectors of ${width}, the store takes ${dimensions}`, {
      expected: dimensions,
      received: width,
      ...(schema === undefined ? {} : { schema }),
    });
  }
  if (schema !== undefined) throw schema;
  return warningsOf(connection);
}

function layoutFindings(connection: Connection): string[] {
  const model = new DatabaseSync(":memory:");
  try {
    model.exec(schemaSql());
    const there = new Map(connection.all(PARTS).map((row) => [nameOf(row), text(row, "shape")]));
    return new Connection(model).all(PARTS).flatMap((row) => {
      const found = there.get(nameOf(row));
      if (found === undefined) return [`${nameOf(row)} is missing`];
      return found === text(row, "shape") ? [] : [`${nameOf(row)} is another than it should be`];
    });
  } finally {
    model.close();
  }
}

function settingsOf(connection: Connection): ReadonlyMap<string, string> {
  const rows = connection.all("SELECT name,value FROM memory_settings");
  return new Map(rows.map((row) => [text(row, "name"), text(row, "value")]));
}

function warningsOf(connection: Connection): readonly MemoryWarning[] {
  const pragma = (name: string): unknown => Object.values(connection.get(`PRAGMA ${name}`) ?? {})[0];
  const warnings: MemoryWarning[] = [];
  if (!["wal", "memory"].includes(String(pragma("journal_mode")))) {
    warnings.push({
      code: "sqlite-journal",
      message: "readers and writers block each other: PRAGMA journal_mode=WAL lets them go side by side",
    });
  }
  if (pragma("secure_delete") === 0) {
    warnings.push({
      code: "sqlite-secure-delete",
      message: "erased content stays in free pages of the file: PRAGMA secure_delete=ON overwrites it",
    });
  }
  return warnings;
}

function schemaError(findings: readonly string[]): MemorySchemaError {
  return new MemorySchemaError(`${findings.join("; ")}: run schemaSql() on the file`, { findings });
}

function nameOf(row: Row): string {
  return `${text(row, "owner")}: ${text(row, "part")}`;
}
