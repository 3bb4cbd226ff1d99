// The seam: our store, as callers get it, as one more column beside the raw ones. It searches the same records, in the table
// that its own schema makes.

import { type MemoryEvent, type MemoryScope, memoryStoreSettings } from "@memory/core";
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
  /** The scopes that have a graph of their own. */
  readonly graphs?: readonly MemoryScope[];
}

/** How far a collection is brought after the load. */
export type Stage = "loaded" | "vacuumed" | "analysed";

/**
 * Makes a collection and fills it with the records of `bench.source`; unless it is to be only loaded indexes are whole
 * afterwards, and graphs are made after the load, as the raw ones are.
 */
export async function fillOurs(
  sql: Sql,
  collection: Collection,
  data: DataSet,
  stage: Stage = "analysed",
): Promise<void> {
  const { name, dimensions, metric, graphs = [] } = collection;
  const index = graphs.length === 0 ? undefined : { hnsw: graphs };
  const schema = schemaSql({ collection: name, dimensions, metric, index });
  await sql.unsafe(`BEGIN; ${schema} COMMIT`);
  const made = schema.match(/^CREATE INDEX .* USING hnsw .*;$/gm) ?? [];
  for (const [, graph = ""] of schema.matchAll(/^CREATE INDEX (\S+) .* USING hnsw /gm)) {
    await sql.unsafe(`DROP INDEX memory.${graph}`);
  }
  await sql.unsafe(`INSERT INTO memory."${name}" (${RECORD_COLUMNS}) ${recordSql(data)}`);
  if (stage === "loaded") return;
  await sql.unsafe(`REINDEX TABLE memory."${name}"`);
  for (const statement of made) await sql.unsafe(statement);
  await sql.unsafe(`VACUUM ${stage === "analysed" ? "ANALYZE " : ""}memory."${name}"`);
}

/** The store over a collection. */
export function openOurs(
  url: string,
  { name, dimensions, metric }: Collection,
  onEvent: (event: MemoryEvent) => void = () => {},
): PgvectorMemoryStore {
  const settings = memoryStoreSettings({ dsn: url, attemptTimeoutMs: 600_000 });
  return PgvectorMemoryStore.connect(settings, { collection: name, dimensions, metric, onEvent });
}

/** How a query is asked. */
export interface Manner {
  readonly reach?: "exact" | "under";
  readonly isFiltered?: boolean;
}

/** The store as a column. */
export function ours(
  store: PgvectorMemoryStore,
  { reach = "exact", isFiltered = false }: Manner = {},
  name = "store.search",
): Racer {
  return {
    name,
    isOurs: true,
    search: async ({ vector, scope }) => {
      const query = { embedding: vector, limit: LIMIT, asOf: NOW, reach };
      const hits = await store.search(scope, isFiltered ? { ...query, filter: { rare: RARE } } : query);
      return hits.map(({ record }) => record.key);
    },
  };
}
