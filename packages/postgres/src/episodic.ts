// The episodic section: one round trip for an episode, one for a few thousand, and a page that costs the same anywhere.

import type { MemoryScope } from "@memory/core";
import {
  compareScopes,
  compareText,
  type EpisodicSection,
  type LogEntry,
  type StoredRecord,
  sameScope,
} from "@memory/core/driver";
import { isFromServer } from "@memory/core/postgres-js";
import {
  isLostRace,
  LostRaceError,
  type Row,
  readRecord,
  type ScopedExecutor,
  type Statement,
  type Step,
  tenantStatement,
} from "@memory/core/sql";
import type { EpisodeStatements } from "./episode-statements.ts";

/** The most episodes, and about the most characters of values, that one statement carries. */
const MOST_ENTRIES = 4_000;
const MOST_CHARACTERS = 8_000_000;
/** How often one call looks again when other writes of the same ids are under way. */
const LOOKS = 5;

const noop = (): void => {};

/** The section over these statements. */
export function episodicSection(statements: EpisodeStatements, { run, transaction }: ScopedExecutor): EpisodicSection {
  return {
    under: true,
    filter: true,

    async log(entries, call): Promise<readonly StoredRecord[]> {
      const [entry, ...others] = entries;
      if (entry === undefined) return [];
      for (let look = 0; look < LOOKS; look += 1) {
        try {
          const differing =
            others.length === 0
              ? readLogged(entry.record.scope, await run(entry.record.scope, statements.log(entry), call))
              : await logMany(
                  statements,
                  chunksOf(entries),
                  (scope, body) => transaction(scope, body, call),
                  (scope, statement) => run(scope, statement, call),
                );
          if (differing !== undefined) return differing;
        } catch (error) {
          if (!isLostRace(error)) throw error;
        }
      }
      throw new LostRaceError("other writes of the same ids went on and on");
    },

    async page(request, call): Promise<readonly StoredRecord[]> {
      const rows = await run(request.scope, statements.page(request), call);
      return rows.map((row) => readRecord(request.scope.tenantId, row));
    },
  };
}

interface Chunk {
  readonly scope: MemoryScope;
  readonly entries: readonly LogEntry[];
}

type Once = (scope: MemoryScope, statement: Statement) => Promise<readonly Row[]>;
type Together = <R>(scope: MemoryScope, body: (step: Step) => Promise<R>) => Promise<R>;

// `undefined`: another write of one of the ids went on at the same time, and nothing was stored.
async function logMany(
  statements: EpisodeStatements,
  chunks: readonly Chunk[],
  together: Together,
  once: Once,
): Promise<readonly StoredRecord[] | undefined> {
  const [first, ...others] = chunks;
  if (first === undefined) return [];
  try {
    if (others.length === 0) {
      return readDiffering(first.scope, await once(first.scope, statements.logMany(first.scope, first.entries)));
    }
    return await together(first.scope, (step) => logChunks(statements, chunks, step));
  } catch (error) {
    if (error instanceof DifferingError) return error.records;
    // Raised by the statement itself, see `logMany` there.
    if (!isFromServer(error) || error.code !== "22012") throw error;
    return await findDiffering(statements, chunks, once);
  }
}

async function findDiffering(
  statements: EpisodeStatements,
  chunks: readonly Chunk[],
  once: Once,
): Promise<readonly StoredRecord[] | undefined> {
  for (const { scope, entries } of chunks) {
    const rows = await once(scope, statements.differing(scope, entries));
    if (rows.length > 0) return rows.map((row) => readRecord(scope.tenantId, row));
  }
  return undefined;
}

async function logChunks(
  statements: EpisodeStatements,
  chunks: readonly Chunk[],
  step: Step,
): Promise<readonly StoredRecord[]> {
  let tenant = chunks[0]?.scope.tenantId;
  let [chunk] = chunks;
  let statement = chunk && statements.logMany(chunk.scope, chunk.entries);
  for (let index = 1; chunk !== undefined && statement !== undefined; index += 1) {
    const { scope } = chunk;
    if (scope.tenantId !== tenant) {
      tenant = scope.tenantId;
      await step(tenantStatement(tenant));
    }
    const running = step(statement);
    running.catch(noop);
    // The client sends in a later microtask; then the next chunk is written out while the server works on this one.
    for (let turn = 0; turn < 8; turn += 1) await undefined;
    chunk = chunks[index];
    statement = chunk && statements.logMany(chunk.scope, chunk.entries);
    const differing = readDiffering(scope, await running);
    // Takes back what the chunks before it stored.
    if (differing.length > 0) throw new DifferingError(differing);
  }
  return [];
}

class DifferingError extends Error {
  readonly records: readonly StoredRecord[];
  constructor(records: readonly StoredRecord[]) {
    super("an id is there with other content");
    this.records = records;
  }
}

// By scope and id, so that two calls with the same ids meet them in the same order and neither waits for the other.
function chunksOf(entries: readonly LogEntry[]): readonly Chunk[] {
  const sorted = [...entries].sort(
    (a, b) => compareScopes(a.record.scope, b.record.scope) || compareText(a.record.id, b.record.id),
  );
  const chunks: { readonly scope: MemoryScope; readonly entries: LogEntry[] }[] = [];
  let characters = 0;
  for (const entry of sorted) {
    const last = chunks.at(-1);
    const size = entry.record.value.length;
    const isFull = last !== undefined && (last.entries.length >= MOST_ENTRIES || characters + size > MOST_CHARACTERS);
    if (last === undefined || isFull || !sameScope(last.scope, entry.record.scope)) {
      chunks.push({ scope: entry.record.scope, entries: [entry] });
      characters = size;
    } else {
      last.entries.push(entry);
      characters += size;
    }
  }
  return chunks;
}

function readLogged(scope: MemoryScope, rows: readonly Row[]): readonly StoredRecord[] | undefined {
  const [row = []] = rows;
  if (row[0] === "again") return undefined;
  return row[0] === "differs" ? [readRecord(scope.tenantId, row, 1)] : [];
}

// The last row is the statement's own check.
function readDiffering(scope: MemoryScope, rows: readonly Row[]): readonly StoredRecord[] {
  return rows.slice(0, -1).map((row) => readRecord(scope.tenantId, row));
}
