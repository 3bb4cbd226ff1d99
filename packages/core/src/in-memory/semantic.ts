// Semantic memory: records by key with their vectors as float32, ranked by looking at every one of the scope. An exact scan
// is the reference that an index is measured against.

import type { KeyPosition, Metric, NearestRow, SemanticSection, StoredRecord } from "../model/driver.ts";
import { compareText } from "../model/json.ts";
import { compareScopes } from "../model/scope.ts";
import { isValidAt, matchesFilter } from "../rules/matching.ts";
import { resemblance, type Vector, vectorOf } from "../rules/resemblance.ts";
import type { Kept } from "./erasure.ts";
import { Keyed } from "./keyed.ts";
import { countBelow, take } from "./ordered.ts";

interface Item extends KeyPosition {
  /** Without its embedding, which is `vector`. */
  record: StoredRecord;
  vector: Vector;
}

interface Hit {
  readonly item: Item;
  readonly score: number;
}

/** The semantic section. A search costs one look at each record under the scope. */
export function semanticMemory(dimensions: number, metric: Metric): Kept<SemanticSection> {
  const items = new Keyed<Item>();
  const scoreOf = resemblance(metric);

  return {
    kind: "semantic",
    meant: (target) => items.meant(target).map(whole),
    erase: (target) => {
      for (const item of items.meant(target)) items.delete(item);
    },
    section: {
      dimensions,
      metric,
      under: true,
      filter: true,

      async index(records): Promise<void> {
        const fresh = records.map(itemOf);
        for (const item of fresh) {
          const there = items.get(item.scope, item.key);
          if (there === undefined) items.add(item);
          else {
            there.record = item.record;
            there.vector = item.vector;
          }
        }
      },

      async get({ scope, key }): Promise<StoredRecord | null> {
        const item = items.get(scope, key);
        return item === undefined ? null : whole(item);
      },

      async nearest({ scope, reach, embedding, limit, asOf, filter, minScore }): Promise<readonly NearestRow[]> {
        const query = vectorOf(embedding);
        const hits: Hit[] = [];
        for (const item of items.page({ scope, reach, keyPrefix: undefined, after: undefined })) {
          if (!isValidAt(item.record, asOf) || !matchesFilter(item.record, filter)) continue;
          const score = scoreOf(query, item.vector);
          if (minScore !== undefined && score < minScore) continue;
          const hit = { item, score };
          const worst = hits[limit - 1];
          if (worst !== undefined && compareHits(worst, hit) <= 0) continue;
          hits.splice(
            countBelow(hits, (other) => compareHits(other, hit) < 0),
            0,
            hit,
          );
          if (hits.length > limit) hits.pop();
        }
        return hits.map(({ item, score }) => ({ record: item.record, score }));
      },

      async scan(request): Promise<readonly StoredRecord[]> {
        return take(items.page(request), request.limit).map(whole);
      },
    },
  };
}

function itemOf(record: StoredRecord): Item {
  const { scope, key, embedding } = record;
  const vector = vectorOf(embedding ?? []);
  return { scope, key, record: { ...record, embedding: undefined }, vector };
}

function whole({ record, vector }: Item): StoredRecord {
  return { ...record, embedding: Array.from(vector.floats) };
}

// The closest first, then by key and scope.
function compareHits(a: Hit, b: Hit): number {
  return b.score - a.score || compareText(a.item.key, b.item.key) || compareScopes(a.item.scope, b.item.scope);
}
