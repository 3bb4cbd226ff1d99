// Bringing memory along: writes exported records elsewhere as they were, checked, masked and measured as every write is.

import type { MemoryExport } from "./export.ts";
import type { StoredRecord, WritePlan } from "./model/driver.ts";
import { isMemoryError, locate, MemoryConflictError, MemoryRecordError } from "./model/errors.ts";
import { uuidV7 } from "./model/id.ts";
import type { CallOptions, MemoryStore } from "./model/protocol.ts";
import { parseOptions } from "./model/query.ts";
import { isPlainObject, MEMORY_KINDS, type MemoryKind, type MemoryRecord } from "./model/record.ts";
import { memoryScope } from "./model/scope.ts";
import { sameContent } from "./rules/content.ts";
import type { OperationCall } from "./rules/guard.ts";
import { placeOf } from "./rules/key.ts";
import { outcomeOf } from "./rules/outcome.ts";
import { admitValue, type Prepared, prepareRecord } from "./rules/write.ts";
import type { StoreContext } from "./store/context.ts";
import { logEntries } from "./store/episodic.ts";
import { checkLine, type Gathered, linesAtFault, placeInKey, remaining } from "./store/import-line.ts";
import { put } from "./store/working.ts";
import { contextOf } from "./store.ts";

const CHUNK = 500;

/** What an import took: each line whose record the store holds now, also where it was there already. */
export interface ImportReceipt {
  /** Lines by kind; of the profile kind each is a version. A kind that did not occur is absent. */
  readonly counts: Readonly<Partial<Record<MemoryKind, number>>>;
  readonly records: number;
}

/**
 * Writes exported records with id, version, instants and redaction marks as they were; checked, masked and measured as
 * every write is. What is there already with the same content is passed over, so that an import that was cut is finished
 * by running it again. A version is two round trips, a working record one; episodes and vectors go 500 at a time. Where
 * it fails, the lines before the one that it failed on are imported. An error of this project begins its message with
 * the line (`line 17: ...`, counted from 1; `lines 1 to 500: ...` where many go at once), and its `path`, where it has
 * one, does so too (`17.record.kind`).
 *
 * @throws {CapabilityError} The store does not hold a record's kind.
 * @throws {MemoryRecordError} A line is malformed.
 * @throws {MemoryConflictError} Other content is there under an id or a version number, or two lines disagree about one.
 * @throws {MemoryUnavailableError} Out of reach; `outcome` is `"unknown"` once a line may have been written.
 * @throws {PoolExhaustedError} There was no room for the first of them: nothing was written.
 */
export async function importRecords(
  store: MemoryStore,
  records: AsyncIterable<MemoryExport> | Iterable<MemoryExport>,
  options: CallOptions = {},
): Promise<ImportReceipt> {
  const context = contextOf(store);
  const { signal } = parseOptions("call", options);
  if (!isIterable(records)) throw new MemoryRecordError("records is not iterable", { path: "records" });
  const run = new Import(context, signal);
  let number = 0;
  try {
    for await (const line of records) {
      signal?.throwIfAborted();
      number += 1;
      await run.take(line, number);
    }
  } finally {
    await run.flush();
  }
  return run.receipt();
}

class Import {
  readonly #counts: Partial<Record<MemoryKind, number>> = {};
  readonly #store: StoreContext;
  readonly #signal: AbortSignal | undefined;
  #episodes: Gathered[] = [];
  #vectors: Gathered[] = [];
  #last: OperationCall | undefined;

  constructor(store: StoreContext, signal: AbortSignal | undefined) {
    this.#store = store;
    this.#signal = signal;
  }

  /** Takes the line of this number, counted from 1. */
  async take(line: MemoryExport, number: number): Promise<void> {
    try {
      await this.#take(line, number);
    } catch (error) {
      throw this.#at(error, String(number), `line ${number}`);
    }
    if (this.#episodes.length >= CHUNK || this.#vectors.length >= CHUNK) await this.flush();
  }

  async #take(line: MemoryExport, number: number): Promise<void> {
    const record: unknown = typeof line === "object" && line !== null ? line.record : undefined;
    const kind = MEMORY_KINDS.find((one) => one === Reflect.get(Object(record), "kind"));
    if (kind === undefined) {
      throw new MemoryRecordError("a line of an import holds no record of a known kind", { path: "record.kind" });
    }
    this.#store.section(kind);
    checkLine(kind, line);
    const prepared = this.#prepare(kind, line.record);
    if (kind === "profile") await this.#takeVersion(prepared.stored, line);
    else if (kind === "working") await this.#takeWorking(prepared, line);
    else if (kind === "episodic") this.#episodes.push({ line: number, record: prepared.stored });
    else this.#vectors.push({ line: number, record: prepared.stored });
  }

  receipt(): ImportReceipt {
    const records = MEMORY_KINDS.reduce((sum, kind) => sum + (this.#counts[kind] ?? 0), 0);
    return { counts: { ...this.#counts }, records };
  }

  /** Writes what is gathered. */
  async flush(): Promise<void> {
    const episodes = this.#episodes;
    const vectors = this.#vectors;
    this.#episodes = [];
    this.#vectors = [];
    await this.#write(episodes, vectors);
  }

  async #write(episodes: readonly Gathered[], vectors: readonly Gathered[]): Promise<void> {
    try {
      await this.#log(episodes);
    } catch (reason) {
      // All or nothing went: nothing. Those before the line at fault are brought all the same.
      const [first, where] = linesAtFault(episodes, reason);
      const before = (all: readonly Gathered[]) => all.filter(({ line }) => line < first);
      await this.#write(before(episodes), before(vectors));
      throw this.#at(reason, String(first), where);
    }
    try {
      await this.#index(vectors);
    } catch (reason) {
      const [first, where] = linesAtFault(vectors, reason);
      throw this.#at(reason, String(first), where);
    }
  }

  async #log(episodes: readonly Gathered[]): Promise<void> {
    if (episodes.length === 0) return;
    const entries = episodes.map(({ record }) => ({ record, anyFrom: false }));
    await logEntries(this.#store.section("episodic"), entries, this.#call());
    this.#count("episodic", episodes.length);
  }

  async #index(vectors: readonly Gathered[]): Promise<void> {
    if (vectors.length === 0) return;
    const last = new Map(vectors.map(({ record }) => [placeOf(record.scope, record.key), record]));
    await this.#store.section("semantic").index([...last.values()], this.#call());
    this.#count("semantic", vectors.length);
  }

  /** The error with its place, where it is one of ours; what a caller aborts with is the caller's, and stays as it is. */
  #at(reason: unknown, path: string, where?: string): unknown {
    const error = this.#last === undefined ? reason : outcomeOf(reason, this.#last);
    if (isMemoryError(error) && error !== this.#signal?.reason) locate(error, path, where);
    return error;
  }

  #within<T>(path: string, prepare: () => T): T {
    try {
      return prepare();
    } catch (error) {
      throw this.#at(error, path);
    }
  }

  #prepare(kind: MemoryKind, record: MemoryRecord): Prepared {
    const store = this.#store;
    // Of what is no scope at all the path is `scope`; of its parts it is their name alone.
    const scopePath = isPlainObject(record.scope) ? "record.scope" : "record";
    const scope = this.#within(scopePath, () => memoryScope(record.scope));
    const vectors = kind === "semantic" ? store.section("semantic") : undefined;
    const items: readonly unknown[] | undefined =
      kind === "working" && Array.isArray(record.value) ? record.value : undefined;
    const whole = items !== undefined ? { ...record, value: [] } : record;
    const prepared = this.#within("record", () => prepareRecord(kind, scope, whole, store.rules, store.now(), vectors));
    // A sequence was appended element by element: together they may be larger, and nest deeper, than one value may.
    const elements = this.#within("record", () =>
      Array.from(items ?? [], (one, index) => admitValue(one, store.rules, `value.${index}`)),
    );
    const own = [...(prepared.stored.redacted ?? []), ...elements.flatMap((one) => one.redacted)];
    const marks = new Set([...(record.redacted ?? []), ...own]);
    const stored: StoredRecord = {
      ...prepared.stored,
      recordedAt: record.recordedAt === undefined ? prepared.stored.recordedAt : Number(record.recordedAt),
      version: kind === "profile" ? record.version : undefined,
      redacted: marks.size === 0 ? undefined : Object.freeze([...marks]),
    };
    return { ...prepared, stored, value: items !== undefined ? elements.map((one) => one.value) : prepared.value };
  }

  async #takeWorking(prepared: Prepared, line: MemoryExport): Promise<void> {
    await put(this.#store.section("working"), prepared, remaining(line), this.#call());
    this.#count("working", 1);
  }

  async #takeVersion(stored: StoredRecord, line: MemoryExport): Promise<void> {
    const section = this.#store.section("profile");
    const { scope, key, validFrom } = stored;
    const { version, lineage, settles } = placeInKey(line);
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
        held.settles.length === settles.length &&
        settles.every((one) => held.settles.includes(one)) &&
        sameContent(held.record, stored, false);
      if (!same) throw conflict(stored, heads.version);
      this.#count("profile", 1);
      return;
    }
    const head = heads.open.find((one) => one.lineage === lineage)?.newest.record.version;
    const begins = lineage === heads.lineages + 1;
    const inOrder = heads.version === version - 1 && (heads.recordedAt ?? stored.recordedAt) <= stored.recordedAt;
    const ends = settles.every((one) => one !== lineage && heads.open.some((open) => open.lineage === one));
    if (!inOrder || (head === undefined) !== begins || !ends || heads.idKey !== undefined) {
      throw conflict(stored, heads.version);
    }
    const plan: WritePlan = {
      scope,
      key,
      base: version - 1,
      baseToken: heads.token,
      record: stored,
      lineage,
      head,
      settles,
      token: uuidV7(call.now),
    };
    if (!(await section.commit(plan, call))) throw conflict(stored, heads.version);
    this.#count("profile", 1);
  }

  #call(): OperationCall {
    this.#last = this.#store.beginCall(this.#signal, this.#last);
    return this.#last;
  }

  #count(kind: MemoryKind, by: number): void {
    this.#counts[kind] = (this.#counts[kind] ?? 0) + by;
  }
}

function isIterable(records: unknown): boolean {
  const methods = [Symbol.asyncIterator, Symbol.iterator].map((name): unknown => Reflect.get(Object(records), name));
  return methods.some((method) => typeof method === "function");
}

function conflict(stored: StoredRecord, actualVersion: number): MemoryConflictError {
  return new MemoryConflictError("an imported version does not follow what the key holds", {
    key: stored.key,
    id: stored.id,
    expectedVersion: (stored.version ?? 1) - 1,
    actualVersion,
  });
}
