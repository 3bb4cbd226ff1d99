// The schema as text, for the platform's own migration tool; nothing in this package runs it. Comments go with every table
// and column, for the person who opens psql.

import {
  checkSchemaVersion,
  type IndexPlan,
  indexSql,
  quoteIdentifier,
  type SchemaLayout,
  schemaText,
  statisticsSql,
} from "@memory/core/sql";
import { type Collection, type CollectionOptions, checkCollection } from "./collection.ts";
import { checkGraphs, type GraphOption, graphPlan } from "./graph.ts";
import { SCHEMA_VERSION, storageParameters, tableNames, tablesOf } from "./tables.ts";

export type { GraphOption } from "./graph.ts";
export { SCHEMA_VERSION } from "./tables.ts";

/** What the schema is of, and how it is laid out. With `embedder`, the table takes the vectors of that model alone. */
export interface SchemaOptions extends CollectionOptions, SchemaLayout {
  /**
   * Graphs for large scopes, up to 4,000 dimensions: `"hnsw"` for one over everything, which serves scopes of some thousand records and
   * more that are no less than a fiftieth of the table, or `{ hnsw: [scope, ...] }` for one of each of these scopes alone, which
   * is quicker, costs the writes of no other, and goes with partitions. Default: none.
   */
  readonly index?: GraphOption | undefined;
}

// Types and functions of pgvector are then found wherever it was made, and those of nobody else. In a block, as a statement
// that gives a row would have psql print it.
const SEARCH_PATH = `DO $$ BEGIN
  PERFORM pg_catalog.set_config('search_path', pg_catalog.quote_ident(n.nspname) || ', pg_temp', true)
     FROM pg_catalog.pg_extension e JOIN pg_catalog.pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'vector';
END $$;`;
const EXTENSION: string = `CREATE EXTENSION IF NOT EXISTS vector;\n\n${SEARCH_PATH}`;

/**
 * The statements that make a collection, from nothing, as one text that ends in a line feed. Same options, same text. Run it
 * in one transaction, as the owner, who must be one that may make the extension unless it is there; then grant a role of
 * the stores SELECT, INSERT, UPDATE and DELETE and no more.
 *
 * @throws {MemorySettingsError} An option is unknown or out of its range.
 *
 * @example `psql -1 -c "$(memory-pgvector-schema --dimensions 1024)"`
 */
export function schemaSql(options: SchemaOptions): string {
  const [collection, graphs] = checkOptions(options);
  const [records, ...others] = tablesOf(collection);
  const tables = records === undefined ? [] : [{ ...records, indexes: [...records.indexes, ...graphs] }, ...others];
  const plan = {
    packageName: "@memory/pgvector",
    version: SCHEMA_VERSION,
    tables,
    partitioned: [tableNames(collection.collection).records],
  };
  const [title = "", ...rest] = schemaText(plan, collection).split("\n\n");
  const owner = quoteIdentifier(collection.schema, "schema");
  return `${[title, EXTENSION, rest.join("\n\n"), storageSql(owner, collection)].map((part) => part.trimEnd()).join("\n\n")}\n`;
}

// Of a table in partitions each has its own.
function storageSql(owner: string, collection: Collection): string {
  const { records } = tableNames(collection.collection);
  const { partitions } = collection;
  const names = partitions === undefined ? [records] : [...Array(partitions).keys()].map((n) => `${records}_${n}`);
  const parameters = storageParameters(collection).join(", ");
  return names.map((name) => `ALTER TABLE ${owner}.${quoteIdentifier(name)} SET (${parameters});`).join("\n");
}

/**
 * The statements that make the graphs of `index` alone, for a collection that was loaded without: building one on what is there
 * takes a tenth of what it takes record by record. Give them `maintenance_work_mem` for the vectors to fit in.
 *
 * @throws {MemorySettingsError} An option is unknown or out of its range.
 */
export function graphSql(options: SchemaOptions): string {
  const [collection, graphs] = checkOptions(options);
  const owner = quoteIdentifier(collection.schema, "schema");
  const [records] = tablesOf(collection);
  const statements = records === undefined ? [] : graphs.map((graph) => indexSql(owner, records, graph));
  return [SEARCH_PATH, ...statements, ...statisticsSql(owner, tablesOf(collection)).slice(-1), ""].join("\n\n");
}

function checkOptions(options: SchemaOptions): readonly [Collection, readonly IndexPlan[]] {
  const { index, ...rest } = options ?? {};
  const checked = checkCollection(rest);
  const { collection, dimensions, metric, partitions } = checked;
  const graphs = checkGraphs(index, dimensions, partitions !== undefined).map((scope) =>
    graphPlan(collection, dimensions, metric, scope),
  );
  return [checked, graphs];
}

/**
 * The steps that lead from an older version of the schema to this one, as one text; empty where nothing has changed.
 * There is one version yet.
 *
 * @param from The version that is there; `verify()` names it where it is not this one.
 * @throws {MemorySettingsError} There is no such version.
 */
export function migrationSql(from: number, options: SchemaOptions): string {
  checkOptions(options);
  checkSchemaVersion(from, SCHEMA_VERSION);
  return "";
}
