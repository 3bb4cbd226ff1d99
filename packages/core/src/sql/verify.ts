// What `verify()` does: one look at the catalogs, compared with the tables as data. Everything that is missing or wrong is
// named at once, each with the statement that mends it.

import type { DriverCall, MemoryWarning } from "../model/driver.ts";
import { MemorySchemaError } from "../model/errors.ts";
import { Catalog, type CatalogRequest, catalogStatement, isTrue } from "./catalog.ts";
import type { Executor } from "./executor.ts";
import { tableFindings } from "./findings.ts";
import { quoteIdentifier } from "./identifier.ts";
import { SAMPLED_LOOK, sampleWarnings } from "./statistics.ts";

/** The least server that the statements are written for. */
const LEAST_SERVER_VERSION = 150_000;

/** What an adapter needs of its database. */
export interface SchemaRequest extends CatalogRequest {
  /** The adapter's name, for messages and the codes of warnings: `postgres`. */
  readonly adapter: string;
  /** The command that prints the schema: `memory-postgres-schema`. */
  readonly bin: string;
  /** The tables have row security. */
  readonly rowSecurity: boolean;
  /** The names of the columns that ANALYZE may sample, as the schema's plan has them. Default: none. */
  readonly sampled?: readonly string[] | undefined;
  /** What else the adapter finds wrong, also where the tables are not there. */
  readonly findings?: ((seen: Catalog) => readonly string[]) | undefined;
  /** What else is only unwise. */
  readonly warnings?: ((seen: Catalog) => readonly MemoryWarning[]) | undefined;
}

/** What was found. */
export interface SchemaReport {
  /** What is missing or wrong. */
  readonly findings: readonly string[];
  /** What is only unwise. */
  readonly warnings: readonly MemoryWarning[];
  readonly seen: Catalog;
}

/** Compares the database with what the statements need. One round trip. */
export async function inspectSchema(
  executor: Executor,
  request: SchemaRequest,
  call: DriverCall,
): Promise<SchemaReport> {
  const seen = new Catalog(
    await executor.run(catalogStatement({ ...request, looks: [SAMPLED_LOOK, ...(request.looks ?? [])] }), call),
  );
  return {
    findings: [...serverFindings(seen), ...(request.findings?.(seen) ?? []), ...schemaFindings(seen, request)],
    warnings: [...serverWarnings(seen, request), ...(request.warnings?.(seen) ?? [])],
    seen,
  };
}

/**
 * Compares as {@link inspectSchema} does, and gives what is only unwise.
 *
 * @throws {MemorySchemaError} Something is missing or wrong; `findings` names all of it.
 */
export async function verifySchema(
  executor: Executor,
  request: SchemaRequest,
  call: DriverCall,
): Promise<readonly MemoryWarning[]> {
  const { findings, warnings } = await inspectSchema(executor, request, call);
  if (findings.length > 0) throw schemaError(request.adapter, findings);
  return warnings;
}

/** The error that says what was found, at least one finding: the first in its message, all of them in `findings`. */
export function schemaError(adapter: string, findings: readonly string[]): MemorySchemaError {
  const others = findings.length === 1 ? "" : ` (and ${findings.length - 1} more in \`error.findings\`)`;
  return new MemorySchemaError(`${adapter}: the schema is not as the store needs it${others}: ${findings[0]}`, {
    findings,
  });
}

function serverFindings(seen: Catalog): readonly string[] {
  const version = Number(seen.setting("server_version_num"));
  const encoding = seen.setting("server_encoding");
  return [
    ...(version < LEAST_SERVER_VERSION ? [`the server is ${version}; PostgreSQL 15 or newer is needed`] : []),
    ...(encoding === "UTF8" ? [] : [`the database's encoding is ${encoding}; create it with ENCODING 'UTF8'`]),
  ];
}

function schemaFindings(seen: Catalog, { schema, tables, rowSecurity, bin }: SchemaRequest): readonly string[] {
  const owner = quoteIdentifier(schema, "schema");
  const there = seen.one("schema", "", schema);
  if (there === undefined) return [`the schema ${owner} is missing: apply what ${bin} prints`];
  const usage = isTrue(there[3]) ? [] : [`the role may not use the schema: GRANT USAGE ON SCHEMA ${owner} TO <role>;`];
  return [...usage, ...tables.flatMap((table) => tableFindings(seen, owner, table, rowSecurity))];
}

function serverWarnings(seen: Catalog, request: SchemaRequest): readonly MemoryWarning[] {
  const { adapter, rowSecurity } = request;
  const warning = (name: string, message: string): MemoryWarning => ({ code: `${adapter}-${name}`, message });
  return [
    ...(rowSecurity && seen.isBypassing()
      ? [warning("row-security-bypassed", "the role is a superuser or has BYPASSRLS, so row security does nothing")]
      : []),
    ...(seen.setting("synchronous_commit") === "off"
      ? [warning("synchronous-commit", "synchronous_commit is off: what was acknowledged last is lost in a crash")]
      : []),
    ...(seen.setting("fsync") === "off"
      ? [warning("fsync", "fsync is off: a crash of the machine may damage the database")]
      : []),
    ...sampleWarnings(seen, request),
  ];
}
