// Semantic memory: a row a record, its vector as float32 beside it. A search is exact: it looks at every vector of its scope.

import type { Metric } from "@memory/core";
import {
  compareScopes,
  compareText,
  matchesFilter,
  type NearestRow,
  resemblance,
  type SemanticSection,
  type StoredRecord,
  vectorOf,
} from "@memory/core/driver";
import type { Connection } from "./connection.ts";
import {
  afterValues,
  beyond,
  EXACT,
  insertInto,
  order,
  PARTS,
  PREFIXED,
  RECORD_COLUMNS,
  type Row,
  readJson,
  readRecord,
  readScope,
  recordValues,
  scopeValues,
  text,
  within,
} from "./row.ts";

const COLUMNS = `${RECORD_COLUMNS},embedding`;
const SET = COLUMNS.split(",").map((name) => `${name}=excluded.${name}`);
const PUT = `${insertInto("memory_semantic", COLUMNS)} ON CONFLICT (${PARTS.join(",")},key) DO UPDATE SET ${SET.join(",")}`;
const FIND = `SELECT ${COLUMNS} FROM memory_semantic WHERE ${EXACT} AND key=:key`;
const TAKE = `SELECT ${RECORD_COLUMNS} FROM memory_semantic WHERE entry=:entry`;
const VALID = "(valid_from IS NULL OR valid_from<=:as_of) AND (valid_to IS NULL OR :as_of<valid_to)";

interface Candidate {
  readonly row: Row;
  readonly score: number;
}

/** The section over this connection. */
export function semanticSection(connection: Connection, dimensions: number, metric: Metric): SemanticSection {
  const scoreOf = resemblance(metric);

  return {
    dimensions,
    metric,
    under: true,
    filter: true,

    index(records, call): Promise<void> {
      return connection.write(call, () => {
        for (const record of records) {
          connection.run(PUT, { ...recordValues(record), embedding: bytesOf(record.embedding ?? []) });
        }
      });
    },

    async get({ scope, key }): Promise<StoredRecord | null> {
      const row = connection.get(FIND, { ...scopeValues(scope), key });
      return row === undefined ? null : whole(row);
    },

    async nearest({ scope, reach, embedding, limit, asOf, filter, minScore }): Promise<readonly NearestRow[]> {
      const query = vectorOf(embedding);
      const conditions = `${within(scope, reach)} AND ${VALID}`;
      const named = `SELECT entry,${PARTS.join(",")},key,metadata,embedding FROM memory_semantic WHERE ${conditions}`;
      return connection.read(() => {
        let best: Candidate[] = [];
        let least = minScore ?? Number.NEGATIVE_INFINITY;
        for (const row of connection.each(named, { ...scopeValues(scope), as_of: asOf })) {
          if (filter !== undefined && !matchesFilter({ metadata: readJson(row, "metadata") }, filter)) continue;
          const score = scoreOf(query, vectorOf(floatsOf(row)));
          if (score < least) continue;
          best.push({ row: { ...row, embedding: null }, score });
          // Sorted now and then, so that no more than twice the limit is kept, and little that is far off.
          if (best.length < 2 * limit) continue;
          best = best.sort(compareCandidates).slice(0, limit);
          least = best.at(-1)?.score ?? least;
        }
        return best
          .sort(compareCandidates)
          .slice(0, limit)
          .flatMap(({ row: { entry = null }, score }) => {
            const row = connection.get(TAKE, { entry });
            return row === undefined ? [] : [{ record: readRecord(row), score }];
          });
      });
    },

    async scan({ scope, reach, keyPrefix, after, limit }): Promise<readonly StoredRecord[]> {
      const columns = order(scope, reach, "key");
      const conditions = [within(scope, reach)];
      if (keyPrefix !== undefined) conditions.push(PREFIXED);
      if (after !== undefined) conditions.push(beyond(columns));
      const place = after === undefined ? {} : afterValues({ ...scopeValues(after.scope), key: after.key });
      return connection
        .all(
          `SELECT ${COLUMNS} FROM memory_semantic WHERE ${conditions.join(" AND ")} ORDER BY ${columns} LIMIT :limit`,
          { ...scopeValues(scope), ...place, prefix: keyPrefix ?? null, limit },
        )
        .map(whole);
    },
  };
}

// The closest first, then by key and scope.
function compareCandidates(a: Candidate, b: Candidate): number {
  return (
    b.score - a.score ||
    compareText(text(a.row, "key"), text(b.row, "key")) ||
    compareScopes(readScope(a.row), readScope(b.row))
  );
}

function whole(row: Row): StoredRecord {
  return { ...readRecord(row), embedding: Array.from(floatsOf(row)) };
}

function bytesOf(embedding: readonly number[]): Uint8Array {
  return new Uint8Array(Float32Array.from(embedding).buffer);
}

// A blob of another length than whole floats is damage: what is left of it is of another width, which core refuses.
function floatsOf({ embedding }: Row): Float32Array {
  if (!(embedding instanceof Uint8Array)) return new Float32Array();
  const { buffer, byteOffset, byteLength } = embedding;
  return new Float32Array(buffer.slice(byteOffset, byteOffset + byteLength - (byteLength % 4)));
}
