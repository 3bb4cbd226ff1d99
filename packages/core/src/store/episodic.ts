// The episodic operations: things that happened, at a time.

import type { DriverCall, EpisodicSection, LogEntry, StoredRecord } from "../model/driver.ts";
import { MemoryConflictError, MemoryRecordError } from "../model/errors.ts";
import type { JsonValue } from "../model/json.ts";
import {
  canMatch,
  type MemoryHit,
  type MemoryPage,
  type MemoryQuery,
  type Parsed,
  parseQuery,
} from "../model/query.ts";
import type { EpochMs, MemoryRecord, MemoryRecordInput } from "../model/record.ts";
import { type MemoryScope, memoryScope } from "../model/scope.ts";
import { sameContent } from "../rules/content.ts";
import { type CursorBinding, readCursor, writeCursor } from "../rules/cursor.ts";
import { placeOf } from "../rules/key.ts";
import { type Asked, buildRecord, parseRow } from "../rules/row.ts";
import { checkFilledWindow, prepareRecord } from "../rules/write.ts";
import type { StoreContext } from "./context.ts";
import { DEFAULT_HITS } from "./pages.ts";

export async function log(
  store: StoreContext,
  to: MemoryScope,
  record: MemoryRecordInput,
  call: DriverCall,
): Promise<MemoryRecord> {
  const scope = memoryScope(to);
  const section = store.section("episodic");
  const episode = prepareEpisode(store, scope, record, call.now);
  await logEntries(section, [episode.entry], call);
  return recordOf(episode);
}

export async function logAll(
  store: StoreContext,
  to: MemoryScope,
  records: readonly MemoryRecordInput[],
  call: DriverCall,
): Promise<readonly MemoryRecord[]> {
  const scope = memoryScope(to);
  const section = store.section("episodic");
  if (!Array.isArray(records)) throw new MemoryRecordError("records is not an array", { path: "records" });
  // Not `map`, which passes over the holes of an array.
  const prepared = Array.from(records, (one) => prepareEpisode(store, scope, one, call.now));
  await logEntries(
    section,
    prepared.map(({ entry }) => entry),
    call,
  );
  return prepared.map(recordOf);
}

/**
 * Logs entries, the same one twice counting once, and judges as JSON what a driver found to differ as text.
 *
 * @throws {MemoryConflictError} An id is taken by other content of its scope, there or among the entries; nothing was
 * stored.
 */
export async function logEntries(
  section: EpisodicSection,
  entries: readonly LogEntry[],
  call: DriverCall,
): Promise<void> {
  const open = distinct(entries);
  while (open.size > 0) {
    const differing = await section.log([...open.values()], call);
    if (differing.length === 0) return;
    for (const held of differing) {
      const place = placeOf(held.scope, held.id);
      const entry = open.get(place);
      if (entry === undefined || !sameContent(held, entry.record, entry.anyFrom)) throw conflict(entry?.record ?? held);
      open.delete(place);
    }
  }
}

export async function episodes(
  store: StoreContext,
  of: MemoryScope,
  query: MemoryQuery | undefined,
  call: DriverCall,
): Promise<readonly MemoryHit[]> {
  const { hits } = await pageOf(store, of, parseQuery("episodic", query), undefined, call);
  return hits;
}

export async function page(
  store: StoreContext,
  of: MemoryScope,
  query: MemoryQuery | undefined,
  { cursor }: Parsed<"page">,
  call: DriverCall,
): Promise<MemoryPage> {
  return await pageOf(store, of, parseQuery("episodic", query), cursor ?? undefined, call);
}

async function pageOf(
  store: StoreContext,
  of: MemoryScope,
  query: Parsed<"episodic">,
  cursor: string | undefined,
  call: DriverCall,
): Promise<MemoryPage> {
  const scope = memoryScope(of);
  const section = store.section("episodic");
  const { key, since, until, asOf, filter, limit = DEFAULT_HITS } = query;
  const reach = store.needReach(query.reach ?? "exact", section.under);
  if (filter !== undefined) store.need("filter", section.filter);
  const conditions = filter === undefined ? null : Object.entries(filter).sort(([a], [b]) => (a < b ? -1 : 1));
  const binding: CursorBinding = {
    store: store.driver.name,
    operation: "page",
    scope,
    query: [reach, key ?? null, since ?? null, until ?? null, asOf ?? null, conditions],
  };
  const place = cursor === undefined ? undefined : readCursor(binding, reach, cursor, ["number", "string"]);
  if (!canMatch(filter)) return { hits: [], cursor: null };
  const after = place && { scope: place.scope, validFrom: Number(place.parts[0]), id: String(place.parts[1]) };
  const rows = await section.page({ scope, reach, key, since, until, asOf, filter, after, limit }, call);
  const asked: Asked = { kind: "episodic", scope, reach, key };
  const hits = rows.map((row): MemoryHit => ({ record: parseRow(asked, row), score: 1 }));
  const last = hits.length < limit ? undefined : hits.at(-1)?.record;
  return { hits, cursor: last ? writeCursor(binding, last.scope, [last.validFrom ?? 0, last.id]) : null };
}

interface Episode {
  readonly entry: LogEntry;
  readonly value: JsonValue;
}

function prepareEpisode(store: StoreContext, scope: MemoryScope, input: MemoryRecordInput, now: EpochMs): Episode {
  const { stored, value } = prepareRecord("episodic", scope, input, store.rules, now);
  const record = checkFilledWindow({ ...stored, validFrom: stored.validFrom ?? now });
  return { entry: { record, anyFrom: stored.validFrom === undefined }, value };
}

function recordOf({ entry: { record }, value }: Episode): MemoryRecord {
  return buildRecord("episodic", record.scope, record, value);
}

function distinct(entries: readonly LogEntry[]): Map<string, LogEntry> {
  const byPlace = new Map<string, LogEntry>();
  for (const entry of entries) {
    const place = placeOf(entry.record.scope, entry.record.id);
    const earlier = byPlace.get(place);
    if (earlier === undefined) byPlace.set(place, entry);
    else if (!sameContent(earlier.record, entry.record, entry.anyFrom)) throw conflict(entry.record);
  }
  return byPlace;
}

function conflict(record: StoredRecord): MemoryConflictError {
  return new MemoryConflictError("the scope holds another episode with this id; nothing was stored", {
    key: record.key,
    id: record.id,
  });
}
