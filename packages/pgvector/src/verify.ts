// What `verify()` does beside comparing the tables: the extension, the width and metric of what is there, and whose vectors
// they are.

import { EmbeddingDimensionError } from "@memory/core";
import type { DriverCall, MemoryWarning } from "@memory/core/driver";
import {
  type Catalog,
  type Executor,
  inspectSchema,
  quoteIdentifier,
  type SchemaRequest,
  schemaError,
} from "@memory/core/sql";
import type { Collection } from "./collection.ts";
import { METRICS } from "./metric.ts";
import { qualifiedNames } from "./statements.ts";
import { embedderCheck, tableNames, tablesOf } from "./tables.ts";

/** What to do where the widths of a store and of its collection differ. */
export const OTHER_WIDTH = "open it with the collection's dimensions, or make a collection of its own for this width";

/** The least pgvector that the statements are written for. */
const LEAST_VERSION = [0, 8] as const;
/** From how many pages of 8 kB on it matters that no vacuum has seen them, and how many of them it may have missed. */
const LEAST_PAGES = 1_000;
const MOST_UNSEEN = 0.5;

/**
 * Compares the database with what a collection's statements need, and gives what is only unwise. One round trip, two where
 * the store names its embedder.
 *
 * @throws {EmbeddingDimensionError} The vectors are of another width; `schema` holds what else is wrong.
 * @throws {MemorySchemaError} Something is missing or wrong; `findings` names all of it.
 */
export async function verifyCollection(
  executor: Executor,
  collection: Collection,
  call: DriverCall,
): Promise<readonly MemoryWarning[]> {
  const report = await inspectSchema(executor, requestOf(collection), call);
  const stamps = await stampsIn(executor, collection, report.seen, call);
  const { dimensions, embedder = "" } = collection;
  const width = widthIn(report.seen, collection) ?? dimensions;
  // What else is wrong is found by looking with that width.
  const { findings } =
    width === dimensions
      ? report
      : await inspectSchema(executor, requestOf({ ...collection, dimensions: width }), call);
  const all = [...new Set([...findings, ...stamps.others.map((other) => foreignVectors(other, embedder))])];
  const schema = all.length === 0 ? undefined : schemaError("pgvector", all);
  if (width !== dimensions) {
    throw new EmbeddingDimensionError(
      `pgvector: the collection holds vectors of width ${width}, the store was opened for ${dimensions}: ${OTHER_WIDTH}`,
      { expected: dimensions, received: width, ...(schema === undefined ? {} : { schema }) },
    );
  }
  if (schema !== undefined) throw schema;
  return [...report.warnings, ...stamps.warnings];
}

function requestOf(collection: Collection): SchemaRequest {
  const { schema, rowSecurity } = collection;
  const check = embedderCheck(collection.collection).replaceAll("'", "''");
  return {
    adapter: "pgvector",
    bin: "memory-pgvector-schema",
    schema,
    // The check on the embedder is looked at below: the schema may have been made without.
    tables: tablesOf({ ...collection, embedder: undefined }),
    rowSecurity,
    extensions: ["vector"],
    looks: [
      `SELECT 'embedder', t.relname::text, '', pg_catalog.pg_get_constraintdef(k.oid), '', '' FROM t JOIN pg_catalog.pg_constraint k ON k.conrelid = t.oid AND k.contype = 'c' AND k.conname = '${check}'`,
      VACUUMED_LOOK,
    ],
    warnings: (seen) => vacuumWarnings(seen, collection),
    findings: (seen) => [
      ...extensionFindings(seen),
      ...vectorIndexFindings(seen, collection),
      ...embedderFindings(seen, collection),
    ],
  };
}

// An index-only scan looks at the rows of every page that no vacuum has marked as visible to all, and costs what a scan of the
// table does. What was marked is known as of the last vacuum, how large the table is as of now.
const VACUUMED_LOOK = `SELECT 'vacuumed', t.relname::text, '', sum(pg_catalog.pg_relation_size(c.oid) / pg_catalog.current_setting('block_size')::bigint)::text, sum(c.relallvisible)::text, ''
 FROM t CROSS JOIN LATERAL (SELECT coalesce(p.relid, t.oid) AS relid FROM (SELECT) o LEFT JOIN pg_catalog.pg_partition_tree(t.oid) p ON true) r
 JOIN pg_catalog.pg_class c ON c.oid = r.relid AND c.relkind = 'r' GROUP BY t.relname`;

function vacuumWarnings(seen: Catalog, { schema, collection }: Collection): readonly MemoryWarning[] {
  const { records } = tableNames(collection);
  const [, , , pages, visible] = seen.one("vacuumed", records, "") ?? [];
  const unseen = Number(pages ?? 0) - Number(visible ?? 0);
  if (!(Number(pages) >= LEAST_PAGES && unseen > MOST_UNSEEN * Number(pages))) return [];
  const table = `${quoteIdentifier(schema)}.${quoteIdentifier(records)}`;
  const message = `no vacuum has seen ${unseen} of the ${pages} pages of ${table}: until then a search looks at every row of its scope; VACUUM ${table};`;
  return [{ code: "pgvector-unvacuumed", message }];
}

function extensionFindings(seen: Catalog): readonly string[] {
  const version = seen.one("extension", "", "vector")?.[3];
  if (version === undefined) return ["the extension vector is missing: CREATE EXTENSION vector;"];
  const [major = 0, minor = 0] = (version ?? "").split(".").map(Number);
  const isNew = major > LEAST_VERSION[0] || (major === LEAST_VERSION[0] && minor >= LEAST_VERSION[1]);
  return isNew ? [] : [`pgvector is ${version}; ${LEAST_VERSION.join(".")} is needed: ALTER EXTENSION vector UPDATE;`];
}

// An index on the vectors that is broken or made for another metric serves nothing, and every write pays for it.
function vectorIndexFindings(seen: Catalog, { schema, collection, metric }: Collection): readonly string[] {
  return seen.of("index", tableNames(collection).records).flatMap((row) => {
    const definition = seen.bare(row[3]);
    if (!/^(?:hnsw|ivfflat) /.test(definition)) return [];
    const name = `${quoteIdentifier(schema)}.${quoteIdentifier(row[2] ?? "")}`;
    if (row[5] !== "true") return [`the index ${name} is invalid, and serves nothing: REINDEX INDEX ${name};`];
    // The one class that is not printed, being the default, is that of ivfflat.
    const served = /\b(?:half)?vec(?:tor)?_(\w+?)_ops\b/.exec(definition)?.[1] ?? "l2";
    if (served === METRICS[metric].operatorClass || definition.includes("bit_")) return [];
    return [`the index ${name} serves another metric (${served}) than the store's, ${metric}: DROP INDEX ${name};`];
  });
}

function embedderFindings(seen: Catalog, { collection, embedder }: Collection): readonly string[] {
  const check = seen.one("embedder", tableNames(collection).records, "")?.[3] ?? undefined;
  const held = check === undefined ? undefined : /= '([^']*)'/.exec(check)?.[1];
  if (held === undefined || held === embedder) return [];
  if (embedder !== undefined) return [foreignVectors(held, embedder)];
  return [`the collection holds the vectors of ${held} alone: open the store with embedder: "${held}"`];
}

function foreignVectors(held: string, embedder: string): string {
  return `the collection holds vectors of ${held}, the store's are of ${embedder}: use a collection of its own, or embed the records again`;
}

function widthIn(seen: Catalog, { collection }: Collection): number | undefined {
  const type = seen.bare(seen.one("column", tableNames(collection).records, "embedding")?.[3]);
  const width = /^vector\((\d+)\)$/.exec(type)?.[1];
  return width === undefined ? undefined : Number(width);
}

interface Stamps {
  readonly others: readonly string[];
  readonly warnings: readonly MemoryWarning[];
}

// Whose vectors are there. The table is looked at by its index, so that this costs the same in a large one.
async function stampsIn(executor: Executor, collection: Collection, seen: Catalog, call: DriverCall): Promise<Stamps> {
  const { embedder, rowSecurity } = collection;
  const { records } = tableNames(collection.collection);
  const mayLook =
    seen.one("column", records, "embedder") !== undefined &&
    seen.one("grant", records, "SELECT")?.[3] === "true" &&
    seen.one("schema", "", collection.schema)?.[3] === "true";
  if (embedder === undefined || !mayLook) return { others: [], warnings: [] };
  if (rowSecurity && !seen.isBypassing()) {
    const isChecked = seen.one("embedder", records, "") !== undefined;
    const message =
      "with row security verify() cannot see whose vectors are there: make the schema with the embedder's name";
    return { others: [], warnings: isChecked ? [] : [{ code: "pgvector-embedder-unseen", message }] };
  }
  const table = qualifiedNames(collection).records;
  const next = (condition: string): string =>
    `(SELECT a.embedder FROM ${table} a WHERE a.embedder${condition} ORDER BY a.embedder LIMIT 1)`;
  const text = [next("<$1::text"), next(">$1::text"), next(" IS NULL")].join(" UNION ALL ");
  const rows = await executor.run({ text, params: [embedder] }, call);
  const others = rows.flatMap(([stamp]) => stamp ?? []);
  const isBare = rows.length > others.length;
  const message = "some vectors were written by a store that named no embedder: whose they are is not known";
  return { others, warnings: isBare ? [{ code: "pgvector-embedder-unknown", message }] : [] };
}
