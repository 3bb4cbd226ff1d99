// Taking memory along: iterators over what a scope holds, and an export of everything under it. An export is also the
// answer to an access request.

import type { DriverCall, KeyPosition, MemoryDriver } from "./model/driver.ts";
import type { CallOptions, MemoryStore } from "./model/protocol.ts";
import { type MemoryHit, type MemoryQuery, parseKey, parseOptions } from "./model/query.ts";
import type { MemoryRecord } from "./model/record.ts";
import { type MemoryReach, type MemoryScope, memoryScope } from "./model/scope.ts";
import { showVersion } from "./rules/beliefs.ts";
import { type Asked, parseEntry, parseRow, rowScope } from "./rules/row.ts";
import type { StoreContext } from "./store/context.ts";
import { eachVersionRow } from "./store/profile.ts";
import { wholeRecord } from "./store/semantic.ts";
import { contextOf } from "./store.ts";

const CHUNK = 500;

/**
 * One record of an export, as a JSON line can hold it. A profile version carries its own `validTo` (not the one it shows
 * because of a successor) and no `supersededBy`: both come about again where it is imported.
 */
export interface MemoryExport {
  readonly record: MemoryRecord;
  /** Profile: the number of the version's lineage in its key. */
  readonly lineage?: number;
  /** Profile: the lineages that this version ended. */
  readonly settles?: readonly number[];
  /** Working: how long the key still had when it was exported, in milliseconds. */
  readonly expiresInMs?: number;
}

/**
 * Every episode that the query matches, newest first, a page of `query.limit` (default 200) a round trip. Each is given
 * exactly once, also while others write; those logged meanwhile may or may not be among them.
 *
 * @throws As `page` does.
 */
export async function* eachEpisode(
  store: MemoryStore,
  scope: MemoryScope,
  query: MemoryQuery = {},
  options: CallOptions = {},
): AsyncGenerator<MemoryHit, void, undefined> {
  const paged = { ...query, limit: query.limit ?? 200 };
  let cursor: string | null = null;
  do {
    const page = await store.page(scope, paged, { ...options, cursor });
    yield* page.hits;
    cursor = page.cursor;
  } while (cursor !== null);
}

/**
 * Every version of a scope (of one key, when given), by scope, key and version, 1,000 a round trip.
 *
 * @throws {MemoryScopeError} The scope is invalid.
 * @throws {CapabilityError} The store holds no profiles, or does not reach under.
 * @throws {MemoryCorruptionError} A stored version does not validate.
 */
export async function* eachVersion(
  store: MemoryStore,
  scope: MemoryScope,
  options: CallOptions & { readonly key?: string | undefined; readonly reach?: MemoryReach | undefined } = {},
): AsyncGenerator<MemoryRecord, void, undefined> {
  const context = contextOf(store);
  const { key: named, ...rest } = options;
  const { reach: wanted = "exact" } = parseOptions("history", rest);
  const key = named === undefined ? undefined : parseKey(named);
  const section = context.section("profile");
  const asked: Asked = {
    kind: "profile",
    scope: memoryScope(scope),
    reach: context.needReach(wanted, section.under),
    key,
  };
  const place = { scope: asked.scope, reach: asked.reach, key };
  for await (const row of eachVersionRow(section, place, () => context.beginCall(options.signal))) {
    yield showVersion(asked, row);
  }
}

/**
 * Everything under a scope: profile versions by scope, key and version, then episodes, semantic records with their
 * embeddings, and working records. Streams in chunks; not a snapshot: what is written meanwhile may or may not be in it.
 * What derived artefacts are registered is bookkeeping of this deployment and not part of it.
 *
 * @throws {MemoryScopeError} The scope is invalid.
 * @throws {CapabilityError} A kind of the store cannot be listed under a scope.
 * @throws {MemoryCorruptionError} A stored record does not validate.
 */
export async function* exportScope(
  store: MemoryStore,
  scope: MemoryScope,
  options: CallOptions = {},
): AsyncGenerator<MemoryExport, void, undefined> {
  const context = contextOf(store);
  const { signal } = parseOptions("call", options);
  const under: Under = { scope: memoryScope(scope), reach: "under" };
  const call = () => context.beginCall(signal);
  const { driver } = context;
  for (const section of [driver.working, driver.profile, driver.episodic, driver.semantic]) {
    if (section !== undefined) context.need("reach", section.under);
  }
  if (driver.profile !== undefined) yield* exportVersions(driver.profile, under, call);
  if (driver.episodic !== undefined) yield* exportEpisodes(driver.episodic, under, call);
  if (driver.semantic !== undefined) yield* exportVectors(context, driver.semantic, under, call);
  if (driver.working !== undefined) yield* exportWorking(driver.working, under, call);
}

interface Under {
  readonly scope: MemoryScope;
  readonly reach: MemoryReach;
}

async function* exportVersions(
  section: NonNullable<MemoryDriver["profile"]>,
  under: Under,
  call: () => DriverCall,
): AsyncGenerator<MemoryExport> {
  for await (const row of eachVersionRow(section, { ...under, key: undefined }, call)) {
    const record = parseRow({ kind: "profile", ...under }, row.record);
    yield { record, lineage: row.lineage, ...(row.settles.length === 0 ? {} : { settles: row.settles }) };
  }
}

async function* exportEpisodes(
  section: NonNullable<MemoryDriver["episodic"]>,
  under: Under,
  call: () => DriverCall,
): AsyncGenerator<MemoryExport> {
  const rest = { key: undefined, since: undefined, until: undefined, asOf: undefined, filter: undefined, limit: CHUNK };
  let after: MemoryRecord | undefined;
  do {
    const place = after && { scope: after.scope, validFrom: after.validFrom ?? 0, id: after.id };
    const rows = await section.page({ ...under, ...rest, after: place }, call());
    const page = rows.map((row) => parseRow({ kind: "episodic", ...under }, row));
    for (const record of page) yield { record };
    after = page.length < CHUNK ? undefined : page.at(-1);
  } while (after !== undefined);
}

async function* exportVectors(
  context: StoreContext,
  section: NonNullable<MemoryDriver["semantic"]>,
  under: Under,
  call: () => DriverCall,
): AsyncGenerator<MemoryExport> {
  const { scan } = section;
  if (scan === undefined) throw context.refusal(["scan"]);
  for await (const row of eachPlace((after) => scan({ ...under, keyPrefix: undefined, after, limit: CHUNK }, call()))) {
    yield { record: wholeRecord(section, { kind: "semantic", ...under }, row) };
  }
}

async function* exportWorking(
  section: NonNullable<MemoryDriver["working"]>,
  under: Under,
  call: () => DriverCall,
): AsyncGenerator<MemoryExport> {
  const rows = eachPlace((after) => section.keys({ ...under, keyPrefix: undefined, after, limit: CHUNK }, call()));
  for await (const { scope, key, expiresInMs } of rows) {
    const place = rowScope(under, { scope });
    const entry = await section.get({ scope: place, key, last: undefined }, call());
    // It may have expired since it was listed.
    if (entry === null) continue;
    const record = parseEntry({ kind: "working", scope: place, reach: "exact", key }, entry);
    yield { record, ...(expiresInMs === undefined ? {} : { expiresInMs }) };
  }
}

async function* eachPlace<Row extends KeyPosition>(
  fetch: (after: KeyPosition | undefined) => Promise<readonly Row[]>,
): AsyncGenerator<Row> {
  let after: KeyPosition | undefined;
  do {
    const rows = await fetch(after);
    yield* rows;
    after = rows.length < CHUNK ? undefined : rows.at(-1);
  } while (after !== undefined);
}
