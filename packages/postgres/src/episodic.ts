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
      const chunks = chunksOf(entries);
      const once: Once = (scope, statement) => run(scope, statement, call);
      for (let look = 0; look < LOOKS; look += 1) {
        try {
          const [first, ...others] = chunks;
          if (first === undefined) return [];
          if (others.length === 0) await once(first.scope, logStatement(statements, first));
          else await transaction(first.scope, (step) => logChunks(statements, chunks, step), call);
          return [];
        } catch (error) {
          // Raised by the statement itself, see `log` there.
          if (isFromServer(error) && error.code === "22012") {
            const differing = await findDiffering(statements, chunks, once);
            if (differing.length > 0) return differing;
            // What differed was erased meanwhile.
          } else if (!isLostRace(error)) throw error;
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

function logStatement(statements: EpisodeStatements, { scope, entries }: Chunk): Statement {
  const [entry, ...others] = entries;
  return entry !== undefined && others.length === 0 ? statements.log(entry) : statements.logMany(scope, entries);
}

async function findDiffering(
  statements: EpisodeStatements,
  chunks: readonly Chunk[],
  once: Once,
): Promise<readonly StoredRecord[]> {
  for (const { scope, entries } of chunks) {
    const rows = await once(scope, statements.differing(scope, entries));
    if (rows.length > 0) return rows.map((row) => readRecord(scope.tenantId, row));
  }
  return [];
}

async function logChunks(statements: EpisodeStatements, chunks: readonly Chunk[], step: Step): Promise<void> {
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
    await running;
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
