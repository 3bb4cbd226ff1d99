// Taking memory along: iterators over what a scope holds, an export of everything under it, and the import that writes it
// elsewhere as it was. An export is also the answer to an access request.

import type { DriverCall, KeyPosition, LogEntry, MemoryDriver, StoredRecord, WritePlan } from "./model/driver.ts";
import { MemoryConflictError, MemoryRecordError } from "./model/errors.ts";
import { uuidV7 } from "./model/id.ts";
import type { CallOptions, MemoryStore } from "./model/protocol.ts";
import { type MemoryHit, type MemoryQuery, parseKey, parseOptions } from "./model/query.ts";
import { MEMORY_KINDS, type MemoryKind, type MemoryRecord } from "./model/record.ts";
import { type MemoryReach, type MemoryScope, memoryScope } from "./model/scope.ts";
import { sameContent, showVersion } from "./rules/beliefs.ts";
import { OperationCall } from "./rules/guard.ts";
import { type Asked, parseEntry, parseRow, rowScope } from "./rules/row.ts";
import { type Prepared, prepareRecord } from "./rules/write.ts";
import type { StoreContext } from "./store/context.ts";
import { logEntries } from "./store/episodic.ts";
import { eachVersionRow } from "./store/profile.ts";
import { DEFAULT_MAX_ELEMENTS, splitEntry } from "./store/working.ts";
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

/** How many records an import wrote and how many were there already, by kind. */
export interface ImportReceipt {
  readonly imported: Readonly<Partial<Record<MemoryKind, number>>>;
  readonly present: Readonly<Partial<Record<MemoryKind, number>>>;
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
  for await (const row of eachVersionRow(section, place, beginCall(context, options.signal))) {
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
  const call = () => beginCall(context, signal);
  const { driver } = context;
  for (const section of [driver.working, driver.profile, driver.episodic, driver.semantic]) {
    if (section !== undefined) context.need("reach", section.under);
  }
  if (driver.profile !== undefined) yield* exportVersions(driver.profile, under, call);
  if (driver.episodic !== undefined) yield* exportEpisodes(driver.episodic, under, call);
  if (driver.semantic !== undefined) yield* exportVectors(context, driver.semantic, under, call);
  if (driver.working !== undefined) yield* exportWorking(driver.working, under, call);
}

/**
 * Writes exported records with id, version, instants and redaction marks as they were; checked, masked and measured as
 * every write is. What is there already with the same content is passed over, so that an import that was cut is finished
 * by running it again. A version is one write; episodes and vectors go in batches.
 *
 * @throws {CapabilityError} The store does not hold a record's kind.
 * @throws {MemoryRecordError} A line is malformed.
 * @throws {MemoryConflictError} Other content is there under an id or a version number; what came before it is imported.
 */
export async function importRecords(
  store: MemoryStore,
  records: AsyncIterable<MemoryExport> | Iterable<MemoryExport>,
  options: CallOptions = {},
): Promise<ImportReceipt> {
  const context = contextOf(store);
  const { signal } = parseOptions("call", options);
  const run = new Import(context, signal);
  for await (const line of records) {
    signal?.throwIfAborted();
    await run.take(line);
  }
  await run.flush();
  return { imported: run.imported, present: run.present };
}

interface Under {
  readonly scope: MemoryScope;
  readonly reach: MemoryReach;
}

function beginCall(context: StoreContext, signal: AbortSignal | undefined): OperationCall {
  return new OperationCall({ now: context.now(), budgetMs: context.budgetMs, signal });
}

async function* exportVersions(
  section: NonNullable<MemoryDriver["profile"]>,
  under: Under,
  call: () => DriverCall,
): AsyncGenerator<MemoryExport> {
  for await (const row of eachVersionRow(section, { ...under, key: undefined }, call())) {
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
    yield { record: parseRow({ kind: "semantic", ...under }, row) };
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

class Import {
  readonly imported: Partial<Record<MemoryKind, number>> = {};
  readonly present: Partial<Record<MemoryKind, number>> = {};
  readonly #store: StoreContext;
  readonly #signal: AbortSignal | undefined;
  #episodes: LogEntry[] = [];
  #vectors: Map<string, StoredRecord> = new Map();

  constructor(store: StoreContext, signal: AbortSignal | undefined) {
    this.#store = store;
    this.#signal = signal;
  }

  async take(line: MemoryExport): Promise<void> {
    const record: unknown = typeof line === "object" && line !== null ? line.record : undefined;
    const kind = MEMORY_KINDS.find((one) => one === Reflect.get(Object(record), "kind"));
    if (kind === undefined) {
      throw new MemoryRecordError("a line of an import holds no record of a known kind", { path: "record.kind" });
    }
    const scope = memoryScope(line.record.scope);
    const prepared = this.#prepare(kind, scope, line.record);
    if (kind === "profile") await this.#takeVersion(prepared.stored, line);
    else if (kind === "working") await this.#takeWorking(prepared, line);
    else if (kind === "episodic") {
      this.#episodes.push({ record: prepared.stored, anyFrom: false });
      if (this.#episodes.length >= CHUNK) await this.flush();
    } else {
      this.#vectors.set(JSON.stringify([scope, prepared.stored.key]), prepared.stored);
      if (this.#vectors.size >= CHUNK) await this.flush();
    }
  }

  /** Writes what is gathered. */
  async flush(): Promise<void> {
    const episodes = this.#episodes;
    const vectors = [...this.#vectors.values()];
    this.#episodes = [];
    this.#vectors = new Map();
    if (episodes.length > 0) {
      await logEntries(this.#store.section("episodic"), episodes, this.#call());
      this.#count(this.imported, "episodic", episodes.length);
    }
    if (vectors.length > 0) {
      await this.#store.section("semantic").index(vectors, this.#call());
      this.#count(this.imported, "semantic", vectors.length);
    }
  }

  #prepare(kind: MemoryKind, scope: MemoryScope, record: MemoryRecord): Prepared {
    const store = this.#store;
    const vectors = kind === "semantic" ? store.section("semantic") : undefined;
    const prepared = prepareRecord(kind, scope, record, store.rules, store.now(), vectors);
    const marks = new Set([...(record.redacted ?? []), ...(prepared.stored.redacted ?? [])]);
    const stored: StoredRecord = {
      ...prepared.stored,
      recordedAt: record.recordedAt ?? prepared.stored.recordedAt,
      version: record.version,
      redacted: marks.size === 0 ? undefined : [...marks],
    };
    return { stored, value: prepared.value };
  }

  async #takeWorking(prepared: Prepared, line: MemoryExport): Promise<void> {
    const section = this.#store.section("working");
    const { scope, key } = prepared.stored;
    await section.put(splitEntry(prepared, section.maxElements ?? DEFAULT_MAX_ELEMENTS), this.#call());
    const { expiresInMs } = line;
    if (expiresInMs !== undefined) {
      const { ttlMs } = parseOptions("expire", { ttlMs: Math.max(1, Math.ceil(expiresInMs)) });
      await section.expire({ scope, key, ttlMs }, this.#call());
    }
    this.#count(this.imported, "working", 1);
  }

  async #takeVersion(stored: StoredRecord, { lineage, settles = [] }: MemoryExport): Promise<void> {
    const section = this.#store.section("profile");
    const { scope, key, version, validFrom } = stored;
    if (version === undefined || validFrom === undefined || !isCount(lineage) || !settles.every(isCount)) {
      throw new MemoryRecordError("a version of an import lacks its version, validFrom or lineage", { path: "record" });
    }
    const call = this.#call();
    const heads = await section.heads({ scope, key, id: stored.id, at: validFrom, before: undefined }, call);
    if (heads.version >= version) {
      const after = { scope, key, version: version - 1 };
      const [held] = await section.history({ scope, reach: "exact", key, after, limit: 1 }, call);
      const same =
        held !== undefined &&
        held.lineage === lineage &&
        held.record.id === stored.id &&
        held.record.recordedAt === stored.recordedAt &&
        sameContent(held.record, stored, false);
      if (!same) throw conflict(stored, heads.version);
      this.#count(this.present, "profile", 1);
      return;
    }
    const head = heads.open.find((one) => one.lineage === lineage)?.newest.record.version;
    const begins = lineage === heads.lineages + 1;
    const inOrder = heads.version === version - 1 && (heads.recordedAt ?? stored.recordedAt) <= stored.recordedAt;
    if (!inOrder || (head === undefined) !== begins || heads.idKey !== undefined) throw conflict(stored, heads.version);
    const plan: WritePlan = {
      scope,
      key,
      base: version - 1,
      record: stored,
      lineage,
      head,
      settles,
      token: uuidV7(call.now),
    };
    if (!(await section.commit(plan, call))) throw conflict(stored, heads.version);
    this.#count(this.imported, "profile", 1);
  }

  #call(): OperationCall {
    return beginCall(this.#store, this.#signal);
  }

  #count(into: Partial<Record<MemoryKind, number>>, kind: MemoryKind, by: number): void {
    into[kind] = (into[kind] ?? 0) + by;
  }
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) > 0;
}

function conflict(stored: StoredRecord, actualVersion: number): MemoryConflictError {
  return new MemoryConflictError("an imported version does not follow what the key holds", {
    key: stored.key,
    id: stored.id,
    expectedVersion: (stored.version ?? 1) - 1,
    actualVersion,
  });
}
