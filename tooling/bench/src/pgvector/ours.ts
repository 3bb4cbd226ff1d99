// The seam: our store, as callers get it, as one more column beside the raw ones. It searches the same records, in the table
// that its own schema makes.

import { memoryStoreSettings } from "@memory/core";
import type { Metric } from "@memory/core/driver";
import { PgvectorMemoryStore } from "@memory/pgvector";
import { schemaSql } from "@memory/pgvector/schema";
import type { Sql } from "postgres";
import { type DataSet, LIMIT, NOW, RARE, RECORD_COLUMNS, recordSql } from "./data.ts";
import type { Racer } from "./race.ts";

/** Which collection the store is of. */
export interface Collection {
  readonly name: string;
  readonly dimensions: number;
  readonly metric: Metric;
  /** It is to have a graph for large scopes. */
  readonly isGraphed?: boolean;
}

/** Makes a collection and fills it with the records of `bench.source`. */
export async function fillOurs(sql: Sql, { name, dimensions, metric }: Collection, data: DataSet): Promise<void> {
  await sql.unsafe(`BEGIN; ${schemaSql({ collection: name, dimensions, metric })} COMMIT`);
  await sql.unsafe(`INSERT INTO memory."${name}" (${RECORD_COLUMNS}) ${recordSql(data)}`);
  // As the raw indexes, which are made after the load.
  await sql.unsafe(`REINDEX TABLE memory."${name}"`);
  await sql.unsafe(`VACUUM ANALYZE memory."${name}"`);
}

/** The store over a collection. */
export function openOurs(url: string, { name, dimensions, metric }: Collection): PgvectorMemoryStore {
  const settings = memoryStoreSettings({ dsn: url, attemptTimeoutMs: 600_000 });
  return PgvectorMemoryStore.connect(settings, { collection: name, dimensions, metric });
}

/** How a query is asked. */
export interface Manner {
  readonly reach?: "exact" | "under";
  readonly isFiltered?: boolean;
}

/** The store as a column. */
export function ours(store: PgvectorMemoryStore, { reach = "exact", isFiltered = false }: Manner = {}): Racer {
  return {
    name: "store.search",
    isOurs: true,
    search: async ({ vector, scope }) => {
      const query = { embedding: [...vector], limit: LIMIT, asOf: NOW, reach };
      const hits = await store.search(scope, isFiltered ? { ...query, filter: { rare: RARE } } : query);
      return hits.map(({ record }) => record.key);
    },
  };
}
