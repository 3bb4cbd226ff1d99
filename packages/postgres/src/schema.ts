// The schema as text, for the platform's own migration tool; nothing in this package runs it. Comments go with every table
// and column, for the person who opens psql.

import { MemorySettingsError } from "@memory/core/driver";
import { quoteIdentifier } from "@memory/core/sql";
import { type ColumnPlan, type IndexPlan, SCHEMA_VERSION, TABLES, type TablePlan } from "./tables.ts";

export { SCHEMA_VERSION } from "./tables.ts";

/** The schema that the tables are in unless another is named. */
export const DEFAULT_SCHEMA = "memory";

/** The setting by which a session names its tenant where row security is on. */
export const TENANT_SETTING = "adk.tenant";

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
export function checkSchemaOptions(options: SchemaOptions): {
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

/** The statement that makes one column. */
export function columnSql({ name, type, isNullable, fallback }: ColumnPlan): string {
  const collation = type === "text" ? ' COLLATE "C"' : "";
  const presence = isNullable ? "" : " NOT NULL";
  return `${name} ${type}${collation}${presence}${fallback === undefined ? "" : ` DEFAULT ${fallback}`}`;
}

/** The statement that makes one index; a primary key is made with its table. */
export function indexSql(owner: string, table: TablePlan, index: IndexPlan): string {
  const on = `${owner}.${table.name}`;
  const columns = index.using.replace(/^btree /, "");
  if (index.kind === "primary") return `ALTER TABLE ${on} ADD CONSTRAINT ${index.name} PRIMARY KEY ${columns};`;
  if (index.kind === "unique") return `ALTER TABLE ${on} ADD CONSTRAINT ${index.name} UNIQUE ${columns};`;
  return `CREATE INDEX ${index.name} ON ${on} USING ${index.using};`;
}

/** The statements that make one table and everything on it. */
export function tableSql(owner: string, table: TablePlan, partitions?: number): readonly string[] {
  const on = `${owner}.${table.name}`;
  const lines = [
    ...table.columns.map(columnSql),
    ...table.checks.map(({ name, expression }) => `CONSTRAINT ${name} CHECK (${expression})`),
    ...table.indexes
      .filter(({ kind }) => kind !== "plain")
      .map(({ name, kind, using }) => {
        const word = kind === "primary" ? "PRIMARY KEY" : "UNIQUE";
        return `CONSTRAINT ${name} ${word} ${using.replace(/^btree /, "")}`;
      }),
  ];
  const split = partitions === undefined ? "" : " PARTITION BY HASH (tenant_id)";
  const comments = [
    `COMMENT ON TABLE ${on} IS ${literal(`${table.comment} (schema version ${SCHEMA_VERSION})`)};`,
    ...table.columns.map(({ name, comment }) => `COMMENT ON COLUMN ${on}.${name} IS ${literal(comment)};`),
    ...table.indexes.map(({ name, comment }) => `COMMENT ON INDEX ${owner}.${name} IS ${literal(comment)};`),
  ];
  return [
    `CREATE TABLE ${on} (\n  ${lines.join(",\n  ")}\n)${split};`,
    ...[...Array(partitions ?? 0).keys()].map(
      (n) =>
        `CREATE TABLE ${owner}.${table.name}_${n} PARTITION OF ${on} FOR VALUES WITH (MODULUS ${partitions}, REMAINDER ${n});`,
    ),
    ...table.indexes.filter(({ kind }) => kind === "plain").map((index) => indexSql(owner, table, index)),
    comments.join("\n"),
  ];
}

/**
 * The statements that let a session see one tenant only. Partitions get row security without a policy: what reaches them by
 * their own names, past the policy of the table, sees nothing.
 */
export function rowSecuritySql(owner: string, { name }: TablePlan, partitions = 0): readonly string[] {
  const on = `${owner}.${name}`;
  return [
    [
      `ALTER TABLE ${on} ENABLE ROW LEVEL SECURITY;`,
      `ALTER TABLE ${on} FORCE ROW LEVEL SECURITY;`,
      `CREATE POLICY ${name}_tenant ON ${on} USING (tenant_id = current_setting('${TENANT_SETTING}', true));`,
      ...[...Array(partitions).keys()].map((n) => partitionSecuritySql(`${on}_${n}`)),
    ].join("\n"),
  ];
}

/** The statement that shuts a partition to what names it itself. */
export function partitionSecuritySql(on: string): string {
  return `ALTER TABLE ${on} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;`;
}

function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

function refusal(setting: string, problem: string): MemorySettingsError {
  return new MemorySettingsError(`${setting} ${problem}`, { setting });
}
