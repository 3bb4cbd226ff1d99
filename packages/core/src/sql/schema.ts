// A schema as one text, for the platform's own migration tool; nothing runs it. What its options may be stands here, too, as
// a driver finds its tables by the same ones.

import { MemorySettingsError } from "../model/errors.ts";
import { DEFAULT_SCHEMA, rowSecuritySql, tableSql } from "./ddl.ts";
import { checkIdentifier, quoteIdentifier } from "./identifier.ts";
import type { TablePlan } from "./plan.ts";
import { statisticsSql } from "./statistics.ts";

/** How a schema is laid out. */
export interface SchemaLayout {
  /** The database schema that the tables are in. Default `memory`. */
  readonly schema?: string | undefined;
  /** Hash partitions by tenant of the tables that grow, 2 to 1,024. Default: none. */
  readonly partitions?: number | undefined;
  /**
   * Row security: a session sees and writes only the tenant that its setting `adk.tenant` names. The store is then opened
   * with `rowSecurity: true`, under a role that is neither superuser nor has BYPASSRLS. Default `false`.
   */
  readonly rowSecurity?: boolean | undefined;
}

/** A layout with its defaults. */
export interface CheckedLayout {
  readonly schema: string;
  readonly partitions: number | undefined;
  readonly rowSecurity: boolean;
}

/** The tables of an adapter. */
export interface SchemaPlan {
  /** The adapter's package, which the text names in its first line. */
  readonly packageName: string;
  readonly version: number;
  readonly tables: readonly TablePlan[];
  /** The names of those that grow, and are split where partitions are asked for. */
  readonly partitioned: readonly string[];
  /** The names of the columns that ANALYZE may sample, whose values may outlive their erasure. Default: none. */
  readonly sampled?: readonly string[] | undefined;
}

const MOST_PARTITIONS = 1_024;

/**
 * A layout with its defaults, checked.
 *
 * @throws {MemorySettingsError} An option is unknown or out of its range; `setting` names it.
 */
export function checkLayout(layout: SchemaLayout): CheckedLayout {
  const { schema = DEFAULT_SCHEMA, partitions, rowSecurity = false, ...rest } = layout;
  const [unknown] = Object.keys(rest);
  if (unknown !== undefined) throw refusal(unknown, "is not an option of the schema");
  checkIdentifier(schema, "schema");
  if (partitions !== undefined && !(Number.isInteger(partitions) && partitions >= 2 && partitions <= MOST_PARTITIONS)) {
    throw refusal("partitions", `must be a whole number from 2 to ${MOST_PARTITIONS}`);
  }
  if (typeof rowSecurity !== "boolean") throw refusal("rowSecurity", "must be true or false");
  return { schema, partitions, rowSecurity };
}

/** The statements that make the schema, from nothing, as one text that ends in a line feed. */
export function schemaText(
  { packageName, version, tables, partitioned, sampled }: SchemaPlan,
  { schema, partitions, rowSecurity }: CheckedLayout,
): string {
  const owner = quoteIdentifier(schema, "schema");
  const partsOf = ({ name }: TablePlan) => (partitioned.includes(name) ? partitions : undefined);
  const parts = [
    `-- The tables of ${packageName}, version ${version}.`,
    `CREATE SCHEMA IF NOT EXISTS ${owner};`,
    ...tables.flatMap((table) => tableSql(owner, table, partsOf(table))),
    ...(rowSecurity ? tables.flatMap((table) => rowSecuritySql(owner, table, partsOf(table))) : []),
    ...statisticsSql(owner, tables, sampled),
  ];
  return `${parts.join("\n\n")}\n`;
}

/**
 * Refuses what is no version of a schema that has come as far as `version`.
 *
 * @throws {MemorySettingsError} `from` is none.
 */
export function checkSchemaVersion(from: number, version: number): void {
  if (Number.isSafeInteger(from) && from >= 1 && from <= version) return;
  throw refusal("from", `is no version of the schema; there are 1 to ${version}`);
}

function refusal(setting: string, problem: string): MemorySettingsError {
  return new MemorySettingsError(`${setting} ${problem}`, { setting });
}
