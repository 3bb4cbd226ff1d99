// The statements that make tables, piece by piece: an adapter's schema text prints them all, and `verify()` names those that
// are wanting. `owner` is the database schema, quoted.

import { quoteIdentifier } from "./identifier.ts";
import type { ColumnPlan, IndexPlan, TablePlan } from "./plan.ts";
import { TENANT_SETTING } from "./tenant.ts";

/** The schema that the tables are in unless another is named. */
export const DEFAULT_SCHEMA = "memory";

/** A name of a table, or of what is on it, as it is said in statements. */
export function nameSql({ isQuoted }: TablePlan, name: string): string {
  return isQuoted === true ? quoteIdentifier(name) : name;
}

/** A table's name with its schema. */
export function tableNameSql(owner: string, table: TablePlan): string {
  return `${owner}.${nameSql(table, table.name)}`;
}

/** The statement that makes one column. */
export function columnSql({ name, type, isNullable, fallback, generated }: ColumnPlan): string {
  const collation = type === "text" ? ' COLLATE "C"' : "";
  const presence = isNullable ? "" : " NOT NULL";
  const value = generated === undefined ? "" : ` GENERATED ALWAYS AS (${generated}) STORED`;
  return `${name} ${type}${collation}${presence}${value}${fallback === undefined ? "" : ` DEFAULT ${fallback}`}`;
}

/** The statement that says how a column's long values are kept; `undefined` where the type says so. */
export function storageSql(owner: string, table: TablePlan, { name, storage }: ColumnPlan): string | undefined {
  if (storage === undefined) return undefined;
  return `ALTER TABLE ${tableNameSql(owner, table)} ALTER COLUMN ${name} SET STORAGE ${storage.toUpperCase()};`;
}

/** The statement that makes one index; a key is made with its table. */
export function indexSql(owner: string, table: TablePlan, index: IndexPlan): string {
  const on = tableNameSql(owner, table);
  if (isConstraint(index)) return `ALTER TABLE ${on} ADD ${constraintSql(table, index)};`;
  const word = index.kind === "unique-index" ? "UNIQUE INDEX" : "INDEX";
  return `CREATE ${word} ${nameSql(table, index.name)} ON ${on} USING ${index.using};`;
}

/** The statements that make one table and everything on it. */
export function tableSql(owner: string, table: TablePlan, partitions?: number): readonly string[] {
  const on = tableNameSql(owner, table);
  const lines = [
    ...table.columns.map(columnSql),
    ...table.checks.map(({ name, expression }) => `CONSTRAINT ${nameSql(table, name)} CHECK (${expression})`),
    ...table.indexes.filter(isConstraint).map((index) => constraintSql(table, index)),
  ];
  const split = partitions === undefined ? "" : " PARTITION BY HASH (tenant_id)";
  const comments = [
    `COMMENT ON TABLE ${on} IS ${literal(`${table.comment} (schema version ${table.version})`)};`,
    ...table.columns.map(({ name, comment }) => `COMMENT ON COLUMN ${on}.${name} IS ${literal(comment)};`),
    ...table.indexes.map(
      ({ name, comment }) => `COMMENT ON INDEX ${owner}.${nameSql(table, name)} IS ${literal(comment)};`,
    ),
  ];
  return [
    `CREATE TABLE ${on} (\n  ${lines.join(",\n  ")}\n)${split};`,
    ...[...Array(partitions ?? 0).keys()].map(
      (n) =>
        `CREATE TABLE ${partitionSql(owner, table, n)} PARTITION OF ${on} FOR VALUES WITH (MODULUS ${partitions}, REMAINDER ${n});`,
    ),
    ...table.columns.flatMap((column) => storageSql(owner, table, column) ?? []),
    ...table.indexes.filter((index) => !isConstraint(index)).map((index) => indexSql(owner, table, index)),
    comments.join("\n"),
  ];
}

/**
 * The statements that let a session see one tenant only. Partitions get row security without a policy: what reaches them by
 * their own names, past the policy of the table, sees nothing.
 */
export function rowSecuritySql(owner: string, table: TablePlan, partitions = 0): readonly string[] {
  const on = tableNameSql(owner, table);
  return [
    [
      `ALTER TABLE ${on} ENABLE ROW LEVEL SECURITY;`,
      `ALTER TABLE ${on} FORCE ROW LEVEL SECURITY;`,
      `CREATE POLICY ${policyName(table)} ON ${on} USING (tenant_id = current_setting('${TENANT_SETTING}', true));`,
      ...[...Array(partitions).keys()].map((n) => partitionSecuritySql(partitionSql(owner, table, n))),
    ].join("\n"),
  ];
}

/** The statement that shuts a partition to what names it itself. */
export function partitionSecuritySql(on: string): string {
  return `ALTER TABLE ${on} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;`;
}

/** The name of a table's policy on the tenant, as it is said in statements. */
export function policyName(table: TablePlan): string {
  return nameSql(table, `${table.name}_tenant`);
}

function partitionSql(owner: string, table: TablePlan, n: number): string {
  return `${owner}.${nameSql(table, `${table.name}_${n}`)}`;
}

function isConstraint({ kind }: IndexPlan): boolean {
  return kind === "primary" || kind === "unique";
}

function constraintSql(table: TablePlan, { name, kind, using }: IndexPlan): string {
  const word = kind === "primary" ? "PRIMARY KEY" : "UNIQUE";
  return `CONSTRAINT ${nameSql(table, name)} ${word} ${using.replace(/^btree /, "")}`;
}

function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
