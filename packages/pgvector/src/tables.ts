// The three tables of a collection as data: what `schemaSql` prints, what `verify` compares with, and what the statements
// rely on.

import {
  column,
  derivationsPlan,
  erasuresPlan,
  metadataIndex,
  optional,
  plainIndex,
  primaryKey,
  RECORD_PLAN,
  SCOPE_LIST,
  SCOPE_PLAN,
  type TablePlan,
  tenantCheck,
  textColumn,
} from "@memory/core/sql";
import type { Collection } from "./collection.ts";
import { sketchColumns, sketchIndex } from "./sketch.ts";

/** The version of these tables; each change of them is a migration of its own and raises it by one. */
export const SCHEMA_VERSION = 1;

/** The names of a collection's tables. */
export interface TableNames {
  readonly records: string;
  readonly derivations: string;
  readonly erasures: string;
}

/** The names of a collection's tables. */
export function tableNames(collection: string): TableNames {
  return { records: collection, derivations: `${collection}_derivations`, erasures: `${collection}_erasures` };
}

/** The name of the check by which a collection holds the vectors of one model alone. */
export function embedderCheck(collection: string): string {
  return `${collection}_embedder`;
}

/** The widest vectors of which a page holds one beside its record; wider ones are kept apart from it. */
const MOST_INLINE = 1_900;

function isInline(dimensions: number): boolean {
  return dimensions <= MOST_INLINE;
}

/**
 * How the table of records is kept, a parameter a line: rows whole up to the length of their vector, so that looking at one
 * is looking at one page; and vacuumed early, as the first pass of a search is quick where it need not look at the rows.
 */
export function storageParameters({ dimensions }: Collection): readonly string[] {
  const target = isInline(dimensions) ? Math.max(2_032, Math.min(8_160, 4 * dimensions + 700)) : 2_032;
  return [
    ...(target === 2_032 ? [] : [`toast_tuple_target = ${target}`]),
    "autovacuum_vacuum_insert_scale_factor = 0.02",
    "autovacuum_vacuum_scale_factor = 0.05",
  ];
}

/** All tables, in the order of their making. */
export function tablesOf({ collection, dimensions, metric, embedder }: Collection): readonly TablePlan[] {
  const names = tableNames(collection);
  const of = (name: string) => ({ name, version: SCHEMA_VERSION, isQuoted: true }) as const;
  // What waits in a list is looked through by every search with a filter, until a vacuum.
  const metadata = metadataIndex(`${names.records}_metadata`);
  const records: TablePlan = {
    ...of(names.records),
    comment: "Things known, found by resemblance; a key holds one record, which a later one replaces",
    columns: [
      ...SCOPE_PLAN,
      textColumn("key", "What the record is filed under, once in a scope"),
      textColumn("id", "The record's id"),
      ...RECORD_PLAN.map((plan) => (plan.name === "valid_from" ? optional(plan) : plan)),
      optional(textColumn("embedder", "The model that made the vector, as name@version, where the store was told")),
      {
        ...column("embedding", `vector(${dimensions})`, "The vector"),
        storage: isInline(dimensions) ? "main" : "external",
      },
      ...sketchColumns(dimensions, metric),
    ],
    checks: [
      tenantCheck(names.records),
      ...(embedder === undefined
        ? []
        : [{ name: embedderCheck(collection), expression: `embedder IS NOT NULL AND embedder = '${embedder}'` }]),
    ],
    indexes: [
      primaryKey(`${names.records}_pkey`, `${SCOPE_LIST}, key`, "Each key once in a scope"),
      plainIndex(
        `${names.records}_near`,
        sketchIndex(metric),
        "What resembles a vector: the first pass of a search reads its scope's part of this and nothing else",
      ),
      { ...metadata, using: metadata.using.replace(" WHERE ", " WITH (fastupdate=off) WHERE ") },
      plainIndex(`${names.records}_stamp`, "embedder", "Which models made the vectors, for verify()"),
    ],
  };
  return [records, derivationsPlan(of(names.derivations)), erasuresPlan(of(names.erasures), { semantic: "records" })];
}
