// The schema as text, for the platform's own migration tool; nothing in this package runs it. Comments go with every table
// and column, for the person who opens psql.

import { checkLayout, checkSchemaVersion, type SchemaLayout, schemaText } from "@memory/core/sql";
import { SAMPLED, SCHEMA_VERSION, TABLES } from "./tables.ts";

export { SCHEMA_VERSION } from "./tables.ts";

/** How the schema is laid out. `partitions` splits the two tables that grow: versions and episodes. */
export type SchemaOptions = SchemaLayout;

/**
 * The statements that make the schema, from nothing, as one text that ends in a line feed. Same options, same text. Run it
 * in one transaction, as the owner; then grant a role of the stores SELECT, INSERT, UPDATE and DELETE and no more.
 *
 * @throws {MemorySettingsError} An option is unknown or out of its range.
 *
 * @example `psql -1 -c "$(memory-postgres-schema --schema memory)"`
 */
export function schemaSql(options: SchemaOptions = {}): string {
  const plan = {
    packageName: "@memory/postgres",
    version: SCHEMA_VERSION,
    tables: TABLES,
    partitioned: ["profile_versions", "episodes"],
    sampled: SAMPLED,
  };
  return schemaText(plan, checkLayout(options));
}

/**
 * The steps that lead from an older version of the schema to this one, as one text; empty where nothing has changed.
 * There is one version yet.
 *
 * @param from The version that is there; `verify()` names it where it is not this one.
 * @throws {MemorySettingsError} There is no such version.
 */
export function migrationSql(from: number, options: SchemaOptions = {}): string {
  checkLayout(options);
  checkSchemaVersion(from, SCHEMA_VERSION);
  return "";
}
