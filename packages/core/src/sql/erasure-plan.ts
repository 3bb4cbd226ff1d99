// The two tables that an erasure needs beside those of the records: what was derived from them, and how much was erased.

import type { MemoryKind } from "../model/record.ts";
import {
  type ColumnPlan,
  column,
  plainIndex,
  primaryKey,
  SCOPE_LIST,
  SCOPE_PLAN,
  type TablePlan,
  tenantCheck,
  textColumn,
} from "./plan.ts";

/** What the adapter says of each table. */
export type ErasureTable = Pick<TablePlan, "name" | "version" | "isQuoted">;

/** The table of registrations. */
export function derivationsPlan(table: ErasureTable): TablePlan {
  const { name } = table;
  const place = "tenant_id, adapter, artefact_id, user_id, session_id, agent, source_kind, source_id";
  return {
    ...table,
    comment: "What was built from records and is kept elsewhere, so that erasure can follow it",
    columns: [
      ...SCOPE_PLAN,
      textColumn("source_kind", "The kind of the record that it was built from"),
      textColumn("source_id", "The id of that record"),
      textColumn("adapter", "The derived index that holds it"),
      textColumn("artefact_id", "Its id there"),
      column("mixes", "boolean", "Whether it mixes the content of several scopes"),
      {
        ...column("condemned", "boolean", "Whether its source was erased and it is still to be purged"),
        fallback: "false",
      },
    ],
    checks: [tenantCheck(name)],
    indexes: [
      primaryKey(`${name}_pkey`, place, "Each registration once"),
      plainIndex(
        `${name}_scope`,
        `${SCOPE_LIST}, adapter, artefact_id, source_kind, source_id`,
        "The registrations of a scope",
      ),
      plainIndex(`${name}_condemned`, `btree (${place}) WHERE condemned`, "What is still to be purged"),
    ],
  };
}

/** The table of notes. `nouns` names the kinds that the adapter holds, each with what its records are called: `episodes`. */
export function erasuresPlan(table: ErasureTable, nouns: Readonly<Partial<Record<MemoryKind, string>>>): TablePlan {
  const { name } = table;
  return {
    ...table,
    comment: "Erasures under way, and how much they removed; empty when none is",
    columns: [
      ...SCOPE_PLAN,
      ...Object.entries(nouns).map(
        ([kind, noun]): ColumnPlan => column(kind, "bigint", `How many ${noun} were removed and not yet answered for`),
      ),
    ],
    checks: [tenantCheck(name)],
    indexes: [primaryKey(`${name}_pkey`, SCOPE_LIST, "One note a scope")],
  };
}
