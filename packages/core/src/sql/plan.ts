// Tables as data: what an adapter's schema text prints, what its `verify()` compares with, and what its statements rely on.
// Each fact about a column or an index stands once, in the plan of its table.

import { METADATA_BY_TENANT } from "./conditions.ts";

/** A column: its type as `format_type` prints it, and what it is for. */
export interface ColumnPlan {
  readonly name: string;
  /** Of an extension's type without the extension's schema: `vector(1024)`. */
  readonly type: string;
  readonly isNullable?: true;
  /** The default, as an expression. */
  readonly fallback?: string;
  /** The expression that it is generated from and stored, as `pg_get_expr` prints it. */
  readonly generated?: string;
  /** How values beyond a few kilobytes are kept, where not as the type would have it. */
  readonly storage?: "plain" | "external" | "extended" | "main";
  readonly comment: string;
}

/** An index: its name, and its definition from `USING` on as `pg_get_indexdef` prints it. */
export interface IndexPlan {
  readonly name: string;
  /** `primary` and `unique` are constraints; `unique-index` is none, so it may have a condition or an expression. */
  readonly kind: "primary" | "unique" | "unique-index" | "plain";
  /** `btree (key)`, with `INCLUDE`, `WITH` and `WHERE` as they are printed: `hnsw (embedding vector_l2_ops) WITH (m='16')`. */
  readonly using: string;
  readonly comment: string;
}

/** A table. */
export interface TablePlan {
  readonly name: string;
  /** The version of the schema that it is of, which its comment says. */
  readonly version: number;
  /** Its name and those of what is on it come from an option, and are quoted wherever they are said. */
  readonly isQuoted?: true;
  readonly comment: string;
  readonly columns: readonly ColumnPlan[];
  readonly checks: readonly { readonly name: string; readonly expression: string }[];
  readonly indexes: readonly IndexPlan[];
}

/** The columns of a scope, as a list: every key and every index that is not of all tenants begins with them. */
export const SCOPE_LIST = "tenant_id, user_id, session_id, agent";

const NO_PART = "empty where the scope has none";

/** The columns that every table begins with. */
export const SCOPE_PLAN: readonly ColumnPlan[] = [
  textColumn("tenant_id", "The tenant; every key and index begins with it"),
  { ...textColumn("user_id", `The user; ${NO_PART}`), fallback: "''" },
  { ...textColumn("session_id", `The session; ${NO_PART}`), fallback: "''" },
  { ...textColumn("agent", `The agent; ${NO_PART}`), fallback: "''" },
];

/** The columns of a record that stand beside its scope, id and key. */
export const RECORD_PLAN: readonly ColumnPlan[] = [
  textColumn("value", "The value as JSON text, as it was given: jsonb refuses U+0000 and half surrogate pairs"),
  textColumn("source", "Where it comes from"),
  column("confidence", "numeric", "How sure the writer was, 0 to 1"),
  column("valid_from", "bigint", "True from this instant on, in milliseconds since 1970 UTC"),
  optional(column("valid_to", "bigint", "True until before this instant, where the writer named one")),
  optional(textColumn("subject", "What the fact speaks about")),
  optional(column("predicate", "jsonb", "What the fact says of it, an array of texts")),
  optional(column("metadata", "jsonb", "Flat attributes")),
  optional(textColumn("redacted", "JSON text: the paths at which secrets were masked")),
  column("recorded_at", "bigint", "When the store was told, by the writer's clock, in milliseconds since 1970 UTC"),
];

/** The check that a table's rows have a tenant. */
export function tenantCheck(table: string): TablePlan["checks"][number] {
  return { name: `${table}_tenant`, expression: "tenant_id <> ''" };
}

/** A column that is never null. */
export function column(name: string, type: string, comment: string): ColumnPlan {
  return { name, type, comment };
}

/** A text that is never null; it is ordered by its bytes. */
export function textColumn(name: string, comment: string): ColumnPlan {
  return column(name, "text", comment);
}

/** The same column, which may be null. */
export function optional(plan: ColumnPlan): ColumnPlan {
  return { ...plan, isNullable: true };
}

/** A primary key over these columns. */
export function primaryKey(name: string, columns: string, comment: string): IndexPlan {
  return { name, kind: "primary", using: `btree (${columns})`, comment };
}

/** A unique constraint over these columns. */
export function uniqueKey(name: string, columns: string, comment: string): IndexPlan {
  return { name, kind: "unique", using: `btree (${columns})`, comment };
}

/** An index over these columns, or of this definition where it begins with a method: `gin (...)`. */
export function plainIndex(name: string, definition: string, comment: string): IndexPlan {
  const using = /^[a-z]\w* \(/.test(definition) ? definition : `btree (${definition})`;
  return { name, kind: "plain", using, comment };
}

/** The index that serves conditions on metadata, tenant by tenant. */
export function metadataIndex(name: string): IndexPlan {
  return plainIndex(
    name,
    `gin (${METADATA_BY_TENANT} jsonb_path_ops) WHERE (metadata IS NOT NULL)`,
    "Conditions on metadata, tenant by tenant",
  );
}
