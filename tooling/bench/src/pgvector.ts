// Our pgvector store beside what people do with pgvector by hand, on a private server: searches by width, metric, scope and
// condition, as scopes grow, and writes.

import { startPostgres } from "@tooling/servers";
import { searchCases } from "./pgvector/cases.ts";
import { growthTables } from "./pgvector/growth.ts";
import { printSearchTable } from "./pgvector/print.ts";
import type { SearchTable } from "./pgvector/race.ts";
import { writeTables } from "./pgvector/writes.ts";
import { keep, printTable } from "./report.ts";

/** How the suite runs. */
export interface PgvectorBenchOptions {
  /** A fiftieth of the records and of the queries: shows that it runs. */
  readonly quick?: boolean;
  /** The largest scope of the growing ones; a million by default, which takes 8 GB on disk. */
  readonly largest?: number;
  /** Where the figures go instead of the results of this package. */
  readonly folder?: string;
}

/** Runs the suite; gives the file with its figures. Targets are printed beside what was reached and fail nothing. */
export async function benchPgvector({
  quick = false,
  largest = 1_000_000,
  folder,
}: PgvectorBenchOptions = {}): Promise<string> {
  await using server = await startPostgres({
    settings: {
      shared_buffers: quick ? "256MB" : "3GB",
      max_wal_size: "8GB",
      checkpoint_timeout: "1h",
      autovacuum: "off",
      max_parallel_maintenance_workers: "1",
    },
  });
  const tables: SearchTable[] = [];
  const size = quick ? { part: 50, queries: 10 } : { part: 1, queries: 500 };
  const show = (table: SearchTable): void => {
    printSearchTable(table);
    tables.push(table);
  };
  await searchCases(server, size, show);
  await growthTables(server, { largest: quick ? 1_000 : largest, queries: quick ? 10 : 200 }, show);
  const writes = await writeTables(server, { records: quick ? 10_000 : 100_000 });
  for (const table of writes) printTable(table);
  const setting = { server: server.version, quick, largest, ...size };
  const file = keep("pgvector", [...tables, ...writes], { setting, ...(folder === undefined ? {} : { folder }) });
  console.log(`\nkept in ${file}`);
  return file;
}
