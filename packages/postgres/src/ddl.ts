// The statements that make the tables, piece by piece: `schemaSql` prints them all, and `verify` names those that are wanting.

import { type ColumnPlan, type IndexPlan, SCHEMA_VERSION, type TablePlan } from "./tables.ts";

/** The schema that the tables are in unless another is named. */
export const DEFAULT_SCHEMA = "memory";

/** The setting by which a session names its tenant where row security is on. */
export const TENANT_SETTING = "adk.tenant";

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
