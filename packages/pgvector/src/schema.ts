// The schema as text, for the platform's own migration tool; nothing in this package runs it. Comments go with every table
// and column, for the person who opens psql.

import { checkSchemaVersion, quoteIdentifier, type SchemaLayout, schemaText } from "@memory/core/sql";
import { type Collection, type CollectionOptions, checkCollection } from "./collection.ts";
import { statisticsSql } from "./statistics.ts";
import { SCHEMA_VERSION, storageParameters, tableNames, tablesOf } from "./tables.ts";

export { SCHEMA_VERSION } from "./tables.ts";

/** What the schema is of, and how it is laid out. With `embedder`, the table takes the vectors of that model alone. */
export interface SchemaOptions extends CollectionOptions, SchemaLayout {}

// Types and functions of pgvector are then found wherever it was made, and those of nobody else.
const EXTENSION = `CREATE EXTENSION IF NOT EXISTS vector;

SELECT pg_catalog.set_config('search_path', pg_catalog.quote_ident(n.nspname) || ', pg_temp', true)
 FROM pg_catalog.pg_extension e JOIN pg_catalog.pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'vector';`;

/**
 * The statements that make a collection, from nothing, as one text that ends in a line feed. Same options, same text. Run it
 * in one transaction, as the owner, who must be one that may make the extension unless it is there; then grant a role of
 * the stores SELECT, INSERT, UPDATE and DELETE and no more.
 *
 * @throws {MemorySettingsError} An option is unknown or out of its range.
 *
 * @example `psql -1 -c "$(memory-pgvector-schema --dimensions 1024)"`
 */
export function schemaSql(options: SchemaOptions): string {
  const collection = checkCollection(options);
  const tables = tablesOf(collection);
  const plan = {
    packageName: "@memory/pgvector",
    version: SCHEMA_VERSION,
    tables,
    partitioned: [tableNames(collection.collection).records],
  };
  const [title = "", ...rest] = schemaText(plan, collection).split("\n\n");
  const owner = quoteIdentifier(collection.schema, "schema");
  return `${[title, EXTENSION, rest.join("\n\n"), storageSql(owner, collection), ...statisticsSql(owner, tables)].map((part) => part.trimEnd()).join("\n\n")}\n`;
}

// Of a table in partitions each has its own.
function storageSql(owner: string, collection: Collection): string {
  const { records } = tableNames(collection.collection);
  const { partitions } = collection;
  const names = partitions === undefined ? [records] : [...Array(partitions).keys()].map((n) => `${records}_${n}`);
  const parameters = storageParameters(collection).join(", ");
  return names.map((name) => `ALTER TABLE ${owner}.${quoteIdentifier(name)} SET (${parameters});`).join("\n");
}

/**
 * The steps that lead from an older version of the schema to this one, as one text; empty where nothing has changed.
 * There is one version yet.
 *
 * @param from The version that is there; `verify()` names it where it is not this one.
 * @throws {MemorySettingsError} There is no such version.
 */
export function migrationSql(from: number, options: SchemaOptions): string {
  checkCollection(options);
  checkSchemaVersion(from, SCHEMA_VERSION);
  return "";
}
