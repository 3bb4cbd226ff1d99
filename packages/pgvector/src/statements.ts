// The statements of one collection, for the schema that pgvector is in.

import { ErasureStatements, quoteIdentifier, type TenantLock, tenantLock } from "@memory/core/sql";
import type { Collection } from "./collection.ts";
import type { Place } from "./extension.ts";
import { RecordStatements } from "./record-statements.ts";
import { SearchStatements } from "./search-statements.ts";
import { tableNames } from "./tables.ts";

/** The statements that name what pgvector brings. */
export interface VectorStatements {
  readonly records: RecordStatements;
  readonly search: SearchStatements;
  /** What they were made for. */
  readonly place: Place;
}

/** The statements of a collection, given where things are. */
export function vectorStatements(collection: Collection, place: Place): VectorStatements {
  const { records } = qualifiedNames(collection);
  return {
    records: new RecordStatements(records, `${place.extension}.vector`, collection.embedder, lockOf(collection)),
    search: new SearchStatements(records, place, collection),
    place,
  };
}

/** The statements of a collection's erasure, which need nothing of pgvector. */
export function erasureStatements(collection: Collection): ErasureStatements {
  const { records, derivations, erasures } = qualifiedNames(collection);
  return new ErasureStatements({ records: { semantic: records }, derivations, erasures, lock: lockOf(collection) });
}

/** The tables of a collection, with their schema, as they are said in statements. */
export function qualifiedNames({ schema, collection }: Collection): ReturnType<typeof tableNames> {
  const owner = quoteIdentifier(schema, "schema");
  const { records, derivations, erasures } = tableNames(collection);
  return {
    records: `${owner}.${quoteIdentifier(records)}`,
    derivations: `${owner}.${quoteIdentifier(derivations)}`,
    erasures: `${owner}.${quoteIdentifier(erasures)}`,
  };
}

function lockOf({ schema, collection }: Collection): TenantLock {
  return tenantLock(`${schema}\u0001${collection}`);
}
