// The schema as text, for the platform's own migration tool; nothing in this package runs it. Comments go with every table
// and column, for the person who opens psql.

import { MemorySettingsError } from "@memory/core/driver";
import { DEFAULT_SCHEMA, quoteIdentifier, rowSecuritySql, tableSql } from "@memory/core/sql";
import { SCHEMA_VERSION, TABLES } from "./tables.ts";

export { SCHEMA_VERSION } from "./tables.ts";

/** How the schema is laid out. */
export interface SchemaOptions {
  /** The database schema that the tables are in. Default `memory`. */
  readonly schema?: string | undefined;
  /** Hash partitions by tenant of the two tables that grow, 2 to 1,024. Default: none. */
  readonly partitions?: number | undefined;
  /**
   * Row security: a session sees and writes only the tenant that its setting `adk.tenant` names. The store is then opened
   * with `rowSecurity: true`, under a role that is neither superuser nor has BYPASSRLS. Default `false`.
   */
  readonly rowSecurity?: boolean | undefined;
}

const MOST_PARTITIONS = 1_024;
const PARTITIONED: readonly string[] = ["profile_versions", "episodes"];

/**
 * The statements that make the schema, from nothing, as one text that ends in a line feed. Same options, same text. Run it
 * in one transaction, as the owner; then grant a role of the stores SELECT, INSERT, UPDATE and DELETE and no more.
 *
 * @throws {MemorySettingsError} An option is unknown or out of its range.
 *
 * @example `psql -1 -c "$(memory-postgres-schema --schema memory)"`
 */
export function schemaSql(options: SchemaOptions = {}): string {
  const { schema, partitions, rowSecurity } = checkSchemaOptions(options);
  const owner = quoteIdentifier(schema);
  const parts = [
    `-- The tables of @memory/postgres, version ${SCHEMA_VERSION}.`,
    `CREATE SCHEMA IF NOT EXISTS ${owner};`,
    ...TABLES.flatMap((table) => tableSql(owner, table, PARTITIONED.includes(table.name) ? partitions : undefined)),
    ...(rowSecurity
      ? TABLES.flatMap((table) =>
          rowSecuritySql(owner, table, PARTITIONED.includes(table.name) ? partitions : undefined),
        )
      : []),
  ];
  return `${parts.join("\n\n")}\n`;
}

/**
 * The steps that lead from an older version of the schema to this one, as one text; empty where nothing has changed.
 * There is one version yet.
 *
 * @param from The version that is there; `verify()` names it where it is not this one.
 * @throws {MemorySettingsError} There is no such version.
 */
export function migrationSql(from: number, options: SchemaOptions = {}): string {
  checkSchemaOptions(options);
  if (!Number.isSafeInteger(from) || from < 1 || from > SCHEMA_VERSION) {
    throw new MemorySettingsError(`from is no version of the schema; there are 1 to ${SCHEMA_VERSION}`, {
      setting: "from",
    });
  }
  return "";
}

/** The options with their defaults, checked. */
function checkSchemaOptions(options: SchemaOptions): {
  readonly schema: string;
  readonly partitions: number | undefined;
  readonly rowSecurity: boolean;
} {
  const { schema = DEFAULT_SCHEMA, partitions, rowSecurity = false, ...rest } = options;
  const [unknown] = Object.keys(rest);
  if (unknown !== undefined) throw refusal(unknown, "is not an option of the schema");
  quoteIdentifier(schema, "schema");
  if (partitions !== undefined && !(Number.isInteger(partitions) && partitions >= 2 && partitions <= MOST_PARTITIONS)) {
    throw refusal("partitions", `must be a whole number from 2 to ${MOST_PARTITIONS}`);
  }
  if (typeof rowSecurity !== "boolean") throw refusal("rowSecurity", "must be true or false");
  return { schema, partitions, rowSecurity };
}

function refusal(setting: string, problem: string): MemorySettingsError {
  return new MemorySettingsError(`${setting} ${problem}`, { setting });
}
