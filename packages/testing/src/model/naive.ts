// A second model of the protocol, deliberately naive: one array of everything that was ever written, linear scans, no
// index, and no rule shared with core. It is written from the protocol's text, so that a mistake in the reference store
// has to be made twice to go unseen. Not for use: every operation reads everything.

import {
  type Belief,
  type BeliefPage,
  type CallOptions,
  type Clock,
  type Derivation,
  type DerivationPage,
  type DerivedIndex,
  type DerivedInput,
  type EpochMs,
  type EraseOptions,
  type ErasureReceipt,
  type JsonValue,
  type KeyPageOptions,
  type MemoryCapabilities,
  MemoryConflictError,
  MemoryContradictionError,
  MemoryCursorError,
  type MemoryHit,
  type MemoryKeyPage,
  type MemoryKind,
  MemoryLimitError,
  type MemoryPage,
  type MemoryQuery,
  type MemoryRecord,
  type MemoryRecordInput,
  type MemoryScope,
  type MemoryStore,
  type ProfileOptions,
  type Supersession,
} from "@memory/core";
import { untyped } from "../untyped.ts";
import { byArtefact, eraseNaively, type Registration, sameRegistration } from "./naive-erasure.ts";
import { beliefOf, decide, shown, type Wish } from "./naive-profile.ts";
import {
  byBytes,
  byScope,
  checkJson,
  checkKey,
  checkLimit,
  checkScope,
  checkVector,
  copy,
  instant,
  type Row,
  recordOf,
  rowFrom,
  sameContent,
  within,
} from "./naive-row.ts";

/** What a naive store takes; a subset of what every store does. */
export interface NaiveOptions {
  /** Default: the machine's time. */
  readonly clock?: Clock | undefined;
  readonly ttlMs?: number | undefined;
  readonly sliding?: boolean | undefined;
  readonly maxElements?: number | undefined;
  readonly derivedIndices?: readonly DerivedIndex[] | undefined;
  /** Default 4. */
  readonly embeddingDimensions?: number | undefined;
  /** Default cosine. */
  readonly metric?: "cosine" | "l2" | "inner" | undefined;
}

interface Place {
  readonly scope: MemoryScope;
  readonly key: string;
}

/** The protocol over one array: no masking, no decay, the default contradiction policy. */
export class NaiveMemoryStore implements MemoryStore {
  readonly name = "naive";
  readonly capabilities: MemoryCapabilities;
  readonly #options: NaiveOptions;
  readonly #rows: Row[] = [];
  readonly #registrations: Registration[] = [];
  readonly #cursors: { readonly list: string; readonly last: unknown }[] = [];

  constructor(options: NaiveOptions) {
    this.#options = options;
    this.capabilities = {
      working: true,
      profile: true,
      episodic: true,
      semantic: true,
      asOf: true,
      knownAt: true,
      supersession: true,
      erasure: true,
      erasureNarrowing: true,
      reach: true,
      filter: true,
      embeddingDimensions: options.embeddingDimensions ?? 4,
      maxValueBytes: 16 * 1_024 * 1_024,
    };
  }

  async write(scope: MemoryScope, record: MemoryRecordInput): Promise<MemoryRecord> {
    checkScope(scope);
    const row = rowFrom("working", scope, record, this.#now());
    this.#checkElements(row.value);
    const there = this.#find("working", scope, row.key);
    if (there !== undefined) there.gone = true;
    this.#arm(row, there);
    this.#rows.push(row);
    return recordOf(row);
  }

  async read(
    scope: MemoryScope,
    key: string,
    options: { readonly last?: number | undefined } = {},
  ): Promise<MemoryRecord | null> {
    checkScope(scope);
    checkKey(key);
    const row = this.#find("working", scope, key);
    if (row === undefined) return null;
    if (this.#options.sliding === true && !row.explicit) this.#arm(row, row);
    const { value } = row;
    const isCut = options.last !== undefined && Array.isArray(value);
    return recordOf(isCut ? { ...row, value: value.slice(-(options.last ?? 0)) } : row);
  }

  async append(
    scope: MemoryScope,
    key: string,
    value: JsonValue,
    options: CallOptions & { readonly source?: string | undefined; readonly after?: number | undefined } = {},
  ): Promise<number> {
    checkScope(scope);
    checkKey(key);
    checkJson(value, "value");
    const there = this.#find("working", scope, key);
    const before: readonly JsonValue[] =
      there === undefined ? [] : Array.isArray(there.value) ? there.value : [there.value];
    const { after } = options;
    if (after !== undefined && after !== before.length) {
      throw new MemoryConflictError("moved", { key, expectedVersion: after, actualVersion: before.length });
    }
    const elements = [...before, copy(value)];
    this.#checkElements(elements);
    const source = options.source ?? "append";
    const head = there ?? rowFrom("working", scope, { key, value: null, source }, this.#now());
    const row = { ...head, value: elements };
    if (there !== undefined) there.gone = true;
    this.#arm(row, there);
    this.#rows.push(row);
    return elements.length;
  }

  async expire(scope: MemoryScope, key: string, options: { readonly ttlMs: number }): Promise<boolean> {
    checkScope(scope);
    checkKey(key);
    const row = this.#find("working", scope, key);
    if (row === undefined) return false;
    row.expiresAt = this.#now() + options.ttlMs;
    row.explicit = true;
    return true;
  }

  async keys(scope: MemoryScope, options: KeyPageOptions = {}): Promise<MemoryKeyPage> {
    checkScope(scope);
    const limit = checkLimit(options.limit, 100, "options.limit");
    const rows = this.#list("working", scope, options.reach).filter((row) => startsWith(row.key, options.keyPrefix));
    rows.sort(byPlace);
    const list = JSON.stringify(["keys", scope, options.reach ?? "exact", options.keyPrefix]);
    const { items, cursor } = this.#page(rows, limit, list, options.cursor, byPlace);
    const keys = items.map(({ scope: its, key, expiresAt }) => ({
      scope: its,
      key,
      ...(expiresAt === undefined ? {} : { expiresInMs: expiresAt - this.#now() }),
    }));
    return { keys, cursor };
  }

  async upsert(scope: MemoryScope, record: MemoryRecordInput): Promise<MemoryRecord> {
    return this.#believe(scope, record, { upsert: true, expectedVersion: undefined, resolves: [] }).record;
  }

  async supersede(
    scope: MemoryScope,
    record: MemoryRecordInput,
    options: { readonly expectedVersion?: number | undefined; readonly resolves?: readonly string[] | undefined } = {},
  ): Promise<Supersession> {
    const { expectedVersion, resolves = [] } = options;
    return this.#believe(scope, record, { upsert: false, expectedVersion, resolves });
  }

  async profile(scope: MemoryScope, key: string, options: ProfileOptions = {}): Promise<MemoryRecord | null> {
    const { record, contradiction } = await this.belief(scope, key, options);
    if (contradiction !== null)
      throw new MemoryContradictionError("contradicted", { key, records: contradiction.holds });
    return record;
  }

  async belief(scope: MemoryScope, key: string, options: ProfileOptions = {}): Promise<Belief> {
    checkScope(scope);
    checkKey(key);
    return this.#belief({ scope, key }, options);
  }

  async beliefs(scope: MemoryScope, options: ProfileOptions & KeyPageOptions = {}): Promise<BeliefPage> {
    checkScope(scope);
    const limit = checkLimit(options.limit, 100, "options.limit");
    const known = instant(options.knownAt) ?? Number.POSITIVE_INFINITY;
    const rows = this.#list("profile", scope, options.reach).filter(
      (row) => row.recordedAt <= known && startsWith(row.key, options.keyPrefix),
    );
    const places = rows.filter((row, at) => rows.findIndex((other) => byPlace(row, other) === 0) === at).sort(byPlace);
    const { reach = "exact", keyPrefix } = options;
    const list = JSON.stringify(["beliefs", scope, reach, keyPrefix, options.asOf, options.knownAt]);
    const { items, cursor } = this.#page(places, limit, list, options.cursor, byPlace);
    return { beliefs: items.map((place) => this.#belief(place, options)), cursor };
  }

  async history(
    scope: MemoryScope,
    key?: string,
    options: { readonly reach?: "exact" | "under" | undefined } = {},
  ): Promise<readonly MemoryRecord[]> {
    checkScope(scope);
    if (key !== undefined) checkKey(key);
    const rows = this.#list("profile", scope, options.reach).filter((row) => key === undefined || row.key === key);
    rows.sort((a, b) => byPlace(a, b) || a.version - b.version);
    return rows.map((row) => shown(this.#versions(row), row));
  }

  async log(scope: MemoryScope, record: MemoryRecordInput): Promise<MemoryRecord> {
    return this.#log(scope, [record])[0] ?? unreachable();
  }

  async logAll(scope: MemoryScope, records: readonly MemoryRecordInput[]): Promise<readonly MemoryRecord[]> {
    return this.#log(scope, records);
  }

  async episodes(scope: MemoryScope, query: MemoryQuery = {}): Promise<readonly MemoryHit[]> {
    return (await this.page(scope, query)).hits;
  }

  async page(
    scope: MemoryScope,
    query: MemoryQuery = {},
    options: { readonly cursor?: string | null | undefined } = {},
  ): Promise<MemoryPage> {
    checkScope(scope);
    const limit = checkLimit(query.limit, 10, "query.limit");
    const since = instant(query.since) ?? Number.NEGATIVE_INFINITY;
    const until = instant(query.until) ?? Number.POSITIVE_INFINITY;
    const asOf = instant(query.asOf);
    const rows = this.#list("episodic", scope, query.reach).filter(
      (row) =>
        (query.key === undefined || row.key === query.key) &&
        fromOf(row) >= since &&
        fromOf(row) <= until &&
        (asOf === undefined || isWithin(row, asOf)) &&
        matches(row, query.filter),
    );
    rows.sort(byNewest);
    const list = JSON.stringify(["page", scope, query.reach ?? "exact", query]);
    const { items, cursor } = this.#page(rows, limit, list, options.cursor, byNewest);
    return { hits: items.map((row) => ({ record: recordOf(row), score: 1 })), cursor };
  }

  async index(scope: MemoryScope, record: MemoryRecordInput): Promise<MemoryRecord> {
    return (await this.indexAll(scope, [record]))[0] ?? unreachable();
  }

  async indexAll(scope: MemoryScope, records: readonly MemoryRecordInput[]): Promise<readonly MemoryRecord[]> {
    checkScope(scope);
    const added = records.map((record): Row => {
      const row = rowFrom("semantic", scope, record, this.#now());
      return { ...row, embedding: this.#vector(record.embedding, "embedding") };
    });
    for (const row of added) {
      const there = this.#find("semantic", scope, row.key);
      if (there !== undefined) there.gone = true;
      this.#rows.push(row);
    }
    return added.map((row) => recordOf(row));
  }

  async recall(scope: MemoryScope, key: string): Promise<MemoryRecord | null> {
    checkScope(scope);
    checkKey(key);
    const row = this.#find("semantic", scope, key);
    return row === undefined ? null : recordOf(row);
  }

  async search(
    scope: MemoryScope,
    query: MemoryQuery & { readonly embedding: readonly number[] },
  ): Promise<readonly MemoryHit[]> {
    checkScope(scope);
    const limit = checkLimit(query.limit, 10, "query.limit");
    const vector = this.#vector(query.embedding, "query.embedding");
    const asOf = instant(query.asOf) ?? this.#now();
    const ranked = this.#list("semantic", scope, query.reach)
      .filter((row) => isWithin(row, asOf) && matches(row, query.filter))
      .map((row) => ({ row, score: score(this.#options.metric ?? "cosine", vector, row.embedding ?? []) }))
      .filter((one) => query.minScore === undefined || one.score >= query.minScore);
    ranked.sort((a, b) => b.score - a.score || byBytes(a.row.key, b.row.key) || byScope(a.row.scope, b.row.scope));
    return ranked
      .slice(0, limit)
      .map((one) => ({ record: recordOf({ ...one.row, embedding: undefined }), score: one.score }));
  }

  async erase(scope: MemoryScope, options: EraseOptions = {}): Promise<ErasureReceipt> {
    checkScope(scope);
    this.#lapse();
    const indices = this.#options.derivedIndices ?? [];
    return eraseNaively(scope, options, this.#rows, this.#registrations, indices, this.#now());
  }

  async derived(scope: MemoryScope, artefact: DerivedInput): Promise<void> {
    checkScope(scope);
    const derivation: Derivation = { scope, ...artefact, mixes: artefact.mixes ?? false };
    for (const one of this.#registrations) if (sameRegistration(one.derivation, derivation)) one.gone = true;
    this.#registrations.push({ derivation, condemned: false, gone: false });
  }

  async derivations(scope: MemoryScope, options: Omit<KeyPageOptions, "keyPrefix"> = {}): Promise<DerivationPage> {
    checkScope(scope);
    const limit = checkLimit(options.limit, 100, "options.limit");
    const { reach = "exact" } = options;
    const there = this.#registrations.filter(
      (one) => !one.gone && !one.condemned && within(scope, one.derivation.scope, reach),
    );
    there.sort(byArtefact);
    const list = JSON.stringify(["derivations", scope, reach]);
    const { items, cursor } = this.#page(there, limit, list, options.cursor, byArtefact);
    return { derivations: items.map((one) => one.derivation), cursor };
  }

  async verify(): Promise<void> {}

  async close(): Promise<void> {}

  async [Symbol.asyncDispose](): Promise<void> {}

  #now(): EpochMs {
    return this.#options.clock?.now() ?? Date.now();
  }

  // What has expired is gone for good, whatever the clock does next.
  #lapse(): void {
    for (const row of this.#rows) if (row.expiresAt !== undefined && row.expiresAt <= this.#now()) row.gone = true;
  }

  #list(kind: MemoryKind, scope: MemoryScope, reach: "exact" | "under" = "exact"): Row[] {
    this.#lapse();
    return this.#rows.filter((row) => !row.gone && row.kind === kind && within(scope, row.scope, reach));
  }

  #find(kind: MemoryKind, scope: MemoryScope, key: string): Row | undefined {
    return this.#list(kind, scope).find((row) => row.key === key);
  }

  #versions({ scope, key }: Place): readonly Row[] {
    return this.#list("profile", scope).filter((row) => row.key === key);
  }

  // A store TTL starts again; without one, what an `expire` said stays.
  #arm(row: Row, there: Row | undefined): void {
    const { ttlMs } = this.#options;
    row.expiresAt = ttlMs === undefined ? there?.expiresAt : this.#now() + ttlMs;
    row.explicit = ttlMs === undefined && (there?.explicit ?? false);
  }

  #checkElements(value: JsonValue): void {
    const limit = this.#options.maxElements ?? 1_000_000;
    if (Array.isArray(value) && value.length > limit) {
      throw new MemoryLimitError("elements", { what: "elements", limit, size: value.length });
    }
  }

  #belief(place: Place, options: ProfileOptions): Belief {
    const all = this.#versions(place);
    const knownAt = instant(options.knownAt) ?? Number.POSITIVE_INFINITY;
    const asOf = instant(options.asOf) ?? Math.max(this.#now(), ...all.map((row) => row.recordedAt));
    const known = all.filter((row) => row.recordedAt <= knownAt);
    return beliefOf(known, asOf, { scope: place.scope, key: place.key });
  }

  #believe(scope: MemoryScope, record: MemoryRecordInput, wish: Wish): Supersession {
    checkScope(scope);
    const all = this.#versions({ scope, key: record.key });
    const recordedAt = Math.max(this.#now(), ...all.map((row) => row.recordedAt));
    const asked = rowFrom("profile", scope, record, recordedAt);
    const held = this.#list("profile", scope);
    const { added, answer } = decide(all, asked, wish, (id) => held.find((row) => row.id === id)?.key);
    if (added !== undefined) this.#rows.push(added);
    return answer;
  }

  #log(scope: MemoryScope, records: readonly MemoryRecordInput[]): readonly MemoryRecord[] {
    checkScope(scope);
    const asked = records.map((record) => rowFrom("episodic", scope, record, this.#now()));
    const added: Row[] = [];
    for (const row of asked) {
      const there = [...this.#list("episodic", scope), ...added].find((one) => one.id === row.id);
      if (there === undefined) added.push(row);
      else if (!sameContent(there, row)) throw new MemoryConflictError("other content", { key: row.key, id: row.id });
    }
    this.#rows.push(...added);
    return asked.map((row) => recordOf(row));
  }

  #vector(given: readonly number[] | undefined, path: string): readonly number[] {
    return checkVector(given, this.capabilities.embeddingDimensions ?? 0, this.#options.metric ?? "cosine", path);
  }

  #page<T>(
    all: readonly T[],
    limit: number,
    list: string,
    cursor: string | null | undefined,
    compare: (a: T, b: T) => number,
  ): { readonly items: readonly T[]; readonly cursor: string | null } {
    const given = cursor == null ? undefined : this.#cursors[Number(cursor)];
    if (cursor != null && given?.list !== list) throw new MemoryCursorError("not of this list");
    const after = given === undefined ? all : all.filter((item) => compare(item, untyped<T>(given.last)) > 0);
    const items = after.slice(0, limit);
    if (after.length <= limit) return { items, cursor: null };
    return { items, cursor: String(this.#cursors.push({ list, last: items.at(-1) }) - 1) };
  }
}

function byPlace(a: Place, b: Place): number {
  return byScope(a.scope, b.scope) || byBytes(a.key, b.key);
}

function byNewest(a: Row, b: Row): number {
  return fromOf(b) - fromOf(a) || byBytes(b.id, a.id) || byScope(a.scope, b.scope);
}

function fromOf(row: Row): EpochMs {
  return row.validFrom ?? 0;
}

function isWithin(row: Row, at: EpochMs): boolean {
  return (row.validFrom === undefined || row.validFrom <= at) && (row.validTo === undefined || at < row.validTo);
}

function startsWith(key: string, prefix: string | undefined): boolean {
  return prefix === undefined || key.slice(0, prefix.length) === prefix;
}

function matches(row: Row, filter: MemoryQuery["filter"]): boolean {
  return Object.entries(filter ?? {}).every(([name, wanted]) => {
    if (row.metadata === undefined || !Object.hasOwn(row.metadata, name)) return false;
    const has = row.metadata[name];
    return Array.isArray(wanted) ? wanted.some((one) => one === has) : wanted === has;
  });
}

function score(metric: "cosine" | "l2" | "inner", a: readonly number[], b: readonly number[]): number {
  const sum = (each: (x: number, y: number) => number) => a.reduce((total, x, at) => total + each(x, b[at] ?? 0), 0);
  const dot = sum((x, y) => x * y);
  if (metric === "inner") return 1 + dot;
  if (metric === "l2") return 1 - Math.sqrt(sum((x, y) => (x - y) ** 2));
  return dot / Math.sqrt(sum((x) => x * x) * b.reduce((total, y) => total + y * y, 0));
}

function unreachable(): never {
  throw new RangeError("one record in, one record out");
}
