// Our pgvector store beside what people do with pgvector by hand, on a private server: searches by width, metric, scope and
// condition, at every execution and stage of a table, as scopes grow, and writes.

import { startPostgres } from "@tooling/servers";
import { searchCases } from "./pgvector/cases.ts";
import { growthTables } from "./pgvector/growth.ts";
import { writeGrowthPage } from "./pgvector/growth-page.ts";
import { printSearchTable } from "./pgvector/print.ts";
import { printSummary, type SearchTable } from "./pgvector/race.ts";
import { stageTables } from "./pgvector/stages.ts";
import { writeTables } from "./pgvector/writes.ts";
import { keep, printTable } from "./report.ts";
import type { Table } from "./rounds.ts";

/** What the suite is made of. */
export const PARTS = ["searches", "stages", "writes", "growth"] as const;
export type Part = (typeof PARTS)[number];

/** How the suite runs. */
export interface PgvectorBenchOptions {
  /** A fiftieth of the records and of the queries: shows that it runs. */
  readonly quick?: boolean;
  /** Only these parts; all by default. */
  readonly only?: readonly Part[];
  /** The largest scope of the growing ones; a million by default, which takes 20 GB on disk. */
  readonly largest?: number;
  /** Whether the growing scopes have graphs, ours and by hand, which are most of the time of a large run; they do by default. */
  readonly hasGraphs?: boolean;
  /** Whether the page and the picture of the growth in `docs` are written anew. */
  readonly writesDocs?: boolean;
  /** Where the figures go instead of the results of this package. */
  readonly folder?: string;
}

/** Runs the suite; gives the files with its figures. Targets are printed beside what was reached and fail nothing. */
export async function benchPgvector({
  quick = false,
  only = PARTS,
  largest = quick ? 1_000 : 1_000_000,
  hasGraphs = true,
  writesDocs = false,
  folder,
}: PgvectorBenchOptions = {}): Promise<readonly string[]> {
  await using server = await startPostgres({
    settings: {
      // All that is searched fits, so that no column puts out what another one reads.
      shared_buffers: quick ? "256MB" : "8GB",
      max_wal_size: "8GB",
      checkpoint_timeout: "1h",
      autovacuum: "off",
      max_parallel_maintenance_workers: "1",
    },
  });
  const size = quick ? { part: 50, queries: 10 } : { part: 1, queries: 500 };
  const tables: Table[] = [];
  const setting = { server: server.version, quick, parts: only, ...size };
  const place = folder === undefined ? {} : { folder };
  const files = new Set<string>();
  const show = (table: SearchTable): void => {
    printSearchTable(table);
    tables.push(table);
    // After every table, so that a run that is broken off leaves what it has found.
    files.add(keep("pgvector", tables, { setting, ...place }));
  };
  const showPlain = (table: Table): void => {
    printTable(table);
    tables.push(table);
    files.add(keep("pgvector", tables, { setting, ...place }));
  };
  if (only.includes("searches")) await searchCases(server, size, show);
  if (only.includes("stages")) await stageTables(server, size, show, showPlain);
  if (only.includes("writes")) {
    for (const table of await writeTables(server, { records: quick ? 10_000 : 100_000 })) showPlain(table);
  }
  printSummary(tables);
  if (only.includes("growth")) {
    const name = hasGraphs ? "pgvector-growth-graphs" : "pgvector-growth";
    const grown: SearchTable[] = [];
    const growth = { largest, hasGraphs, queries: quick ? 10 : 200 };
    await growthTables(server, growth, (table) => {
      printSearchTable(table);
      grown.push(table);
      files.add(keep(name, grown, { setting: { ...setting, ...growth }, ...place }));
    });
    printSummary(grown);
  }
  if (writesDocs) console.log(`\nwritten: ${writeGrowthPage(folder).join(", ")}`);
  console.log(`\nkept in ${[...files].join(", ")}`);
  return [...files];
}
