// The semantic section: a record and its vector in one statement, and what resembles a vector in one.

import { setImmediate as nextTurn } from "node:timers/promises";
import type { DriverCall, NearestRow, SemanticSection, StoredRecord } from "@memory/core/driver";
import { compareScopes, compareText, sameScope } from "@memory/core/driver";
import { RECORD_COLUMNS, type Row, readRecord, type ScopedExecutor, tenantStatement } from "@memory/core/sql";
import type { Collection } from "./collection.ts";
import type { Located } from "./extension.ts";
import { search } from "./search.ts";
import { Sizes } from "./sizes.ts";
import type { VectorStatements } from "./statements.ts";
import { readVector } from "./vector.ts";

/**
 * About the most characters that one statement carries; and how many each carries where one is not enough, so that the server
 * works on one while the next is made. Then those that a vector's number takes at the most.
 */
const MOST_CHARACTERS = 8_000_000;
const CHUNK_CHARACTERS = 2_000_000;
const NUMBER_CHARACTERS = 16;

/** The section over these statements. */
export function semanticSection(
  collection: Collection,
  located: Located<VectorStatements>,
  { run, transaction }: ScopedExecutor,
): SemanticSection {
  const { dimensions, metric } = collection;
  const sizes = new Sizes();
  return {
    dimensions,
    metric,
    under: true,
    filter: true,

    index(entries, call): Promise<void> {
      return located.use(call, async ({ records }) => {
        const chunks = chunksOf(entries, dimensions * NUMBER_CHARACTERS);
        const [first, ...others] = chunks;
        if (first === undefined) return;
        const [record] = first;
        const { scope } = record;
        if (others.length === 0) {
          await run(scope, first.length === 1 ? records.index(record) : records.indexMany(scope, first), call);
          return;
        }
        await transaction(
          scope,
          async (step) => {
            let { tenantId } = scope;
            let statement = records.indexMany(scope, first);
            for (const [index, chunk] of chunks.entries()) {
              const own = chunk[0].scope;
              if (own.tenantId !== tenantId) await step(tenantStatement(own.tenantId));
              ({ tenantId } = own);
              const next = chunks[index + 1];
              // Made while the server is busy with this one, once that has left.
              [, statement] = await Promise.all([
                step(statement),
                next === undefined ? statement : nextTurn().then(() => records.indexMany(next[0].scope, next)),
              ]);
            }
          },
          call,
        );
      });
    },

    get({ scope, key }, call): Promise<StoredRecord | null> {
      return located.use(call, async ({ records }) => {
        const [row] = await run(scope, records.get(scope, key), call);
        return row === undefined ? null : readWhole(scope.tenantId, row);
      });
    },

    nearest(request, call): Promise<readonly NearestRow[]> {
      return located.use(call, (statements) =>
        search(collection, statements, sizes, request, (statement) => run(request.scope, statement, call)),
      );
    },

    scan(request, call: DriverCall): Promise<readonly StoredRecord[]> {
      return located.use(call, async ({ records }) => {
        const rows = await run(request.scope, records.scan(request), call);
        return rows.map((row) => readWhole(request.scope.tenantId, row));
      });
    },
  };
}

function readWhole(tenantId: string, row: Row): StoredRecord {
  return { ...readRecord(tenantId, row), embedding: readVector(row[RECORD_COLUMNS.length]) };
}

type Chunk = [StoredRecord, ...StoredRecord[]];

// By scope and key, so that two calls with the same keys meet them in the same order and neither waits for the other.
function chunksOf(records: readonly StoredRecord[], vectorSize: number): readonly Chunk[] {
  const sorted =
    records.length < 2
      ? records
      : [...records].sort((a, b) => compareScopes(a.scope, b.scope) || compareText(a.key, b.key));
  const sizes = sorted.map(({ value }) => value.length + vectorSize);
  const total = sizes.reduce((sum, size) => sum + size, 0);
  const most = total <= MOST_CHARACTERS ? MOST_CHARACTERS : CHUNK_CHARACTERS;
  const chunks: Chunk[] = [];
  let characters = 0;
  for (const [index, record] of sorted.entries()) {
    const last = chunks.at(-1);
    const size = sizes[index] ?? 0;
    if (last !== undefined && characters + size <= most && sameScope(last[0].scope, record.scope)) {
      last.push(record);
      characters += size;
    } else {
      chunks.push([record]);
      characters = size;
    }
  }
  return chunks;
}
