// The semantic operations: things known, found by resemblance.

import type { DriverCall, SemanticSection, StoredRecord } from "../model/driver.ts";
import { MemoryRecordError } from "../model/errors.ts";
import { canMatch, type MemoryHit, type MemoryQuery, parseKey, parseQuery } from "../model/query.ts";
import type { MemoryRecord, MemoryRecordInput } from "../model/record.ts";
import { type MemoryScope, memoryScope } from "../model/scope.ts";
import { type Asked, buildRecord, corrupt, parseRow } from "../rules/row.ts";
import { admitVector, prepareRecord } from "../rules/write.ts";
import type { StoreContext } from "./context.ts";
import { DEFAULT_HITS } from "./pages.ts";

export async function index(
  store: StoreContext,
  to: MemoryScope,
  record: MemoryRecordInput,
  call: DriverCall,
): Promise<MemoryRecord> {
  const scope = memoryScope(to);
  const section = store.section("semantic");
  const { stored, value } = prepareRecord("semantic", scope, record, store.rules, call.now, section);
  await section.index([stored], call);
  return buildRecord("semantic", scope, stored, value);
}

export async function indexAll(
  store: StoreContext,
  to: MemoryScope,
  records: readonly MemoryRecordInput[],
  call: DriverCall,
): Promise<readonly MemoryRecord[]> {
  const scope = memoryScope(to);
  const section = store.section("semantic");
  if (!Array.isArray(records)) throw new MemoryRecordError("records is not an array", { path: "records" });
  // Not `map`, which passes over the holes of an array.
  const prepared = Array.from(records, (one) => prepareRecord("semantic", scope, one, store.rules, call.now, section));
  const last = new Map(prepared.map(({ stored }) => [stored.key, stored]));
  if (last.size > 0) await section.index([...last.values()], call);
  return prepared.map(({ stored, value }) => buildRecord("semantic", scope, stored, value));
}

export async function recall(
  store: StoreContext,
  of: MemoryScope,
  named: string,
  call: DriverCall,
): Promise<MemoryRecord | null> {
  const scope = memoryScope(of);
  const key = parseKey(named);
  const section = store.section("semantic");
  const row = await section.get({ scope, key }, call);
  return row === null ? null : wholeRecord(section, { kind: "semantic", scope, reach: "exact", key }, row);
}

/** A record with its vector. @throws {MemoryCorruptionError} As `parseRow`; or the vector is missing or of another width. */
export function wholeRecord(section: SemanticSection, asked: Asked, row: StoredRecord): MemoryRecord {
  const record = parseRow(asked, row);
  if (record.embedding?.length !== section.dimensions) throw corrupt(row, "its embedding has another width");
  return record;
}

export async function search(
  store: StoreContext,
  of: MemoryScope,
  query: MemoryQuery,
  call: DriverCall,
): Promise<readonly MemoryHit[]> {
  const scope = memoryScope(of);
  const section = store.section("semantic");
  const {
    embedding: given,
    filter,
    minScore,
    asOf = call.now,
    limit = DEFAULT_HITS,
    ...rest
  } = parseQuery("semantic", query);
  const embedding = admitVector(given, section);
  const reach = store.needReach(rest.reach ?? "exact", section.under);
  if (filter !== undefined) store.need("filter", section.filter);
  if (!canMatch(filter)) return [];
  const rows = await section.nearest({ scope, reach, embedding, limit, asOf, filter, minScore }, call);
  const asked: Asked = { kind: "semantic", scope, reach };
  return rows.map(({ record, score }): MemoryHit => {
    if (typeof score !== "number" || Number.isNaN(score)) throw corrupt(record, "its score is not a number");
    return {
      record: parseRow(asked, record.embedding === undefined ? record : { ...record, embedding: undefined }),
      score,
    };
  });
}
