// A line of an import by itself: what it has to hold beside a record that is right, what may stand there and nothing else,
// and which lines an error of several is about.

import type { MemoryExport } from "../export.ts";
import type { StoredRecord } from "../model/driver.ts";
import { isMemoryError, MemoryRecordError } from "../model/errors.ts";
import type { MemoryKind } from "../model/record.ts";
import { placeOf } from "../rules/key.ts";

/** What waits to be written with others, and the number of its line. */
export interface Gathered {
  readonly line: number;
  readonly record: StoredRecord;
}

/** By kind: the instants that a record of an export never lacks, and what may stand beside it. */
const LINES: Readonly<
  Record<MemoryKind, { readonly instants: readonly ("validFrom" | "recordedAt")[]; readonly beside: readonly string[] }>
> = {
  working: { instants: [], beside: ["expiresInMs"] },
  profile: { instants: ["validFrom", "recordedAt"], beside: ["lineage", "settles"] },
  episodic: { instants: ["validFrom"], beside: [] },
  semantic: { instants: [], beside: [] },
};

/**
 * Checks the line, but for the record's own parts.
 *
 * @throws {MemoryRecordError} It lacks an instant, so that it would be another one each time, or holds what nobody knows.
 */
export function checkLine(kind: MemoryKind, line: MemoryExport): void {
  const { instants, beside } = LINES[kind];
  const isKnown = ([name, value]: readonly [string, unknown]) =>
    name === "record" || value === undefined || beside.includes(name);
  const unknown = Object.entries(line).find((entry) => !isKnown(entry));
  if (unknown !== undefined) {
    const message = `a line of an import has beside its ${kind} record an unknown property (named in \`error.path\`)`;
    throw new MemoryRecordError(message, { path: unknown[0] });
  }
  const missing = instants.find((name) => line.record[name] === undefined);
  if (missing !== undefined) throw incomplete(`a ${kind} record of an import lacks its ${missing}`);
}

/** Where a version stands in its key. @throws {MemoryRecordError} The line does not say. */
export function placeInKey({ record: { version }, lineage, settles = [] }: MemoryExport): {
  readonly version: number;
  readonly lineage: number;
  readonly settles: readonly number[];
} {
  if (version === undefined || !isCount(lineage))
    throw incomplete("a version of an import lacks its version or lineage");
  if (!Array.isArray(settles) || !settles.every(isCount)) {
    throw incomplete("a version of an import settles what is no lineage");
  }
  return { version, lineage, settles: [...new Set(settles)] };
}

/** How long a working record still has, in milliseconds. @throws {MemoryRecordError} What the line says is no time left. */
export function remaining({ expiresInMs }: MemoryExport): number | undefined {
  if (expiresInMs === undefined) return undefined;
  // What was about to expire is about to expire, and not to stay.
  const leftMs = typeof expiresInMs === "number" ? Math.max(1, Math.ceil(expiresInMs)) : Number.NaN;
  if (Number.isSafeInteger(leftMs) && expiresInMs >= 0) return leftMs;
  throw new MemoryRecordError("a working line of an import has an expiry that is no time left", {
    path: "expiresInMs",
  });
}

/** The first line at fault, and all of them in words: that of the episode in conflict, else every one of the gathered. */
export function linesAtFault(gathered: readonly Gathered[], error: unknown): readonly [first: number, where: string] {
  const named = isMemoryError(error, "MEMORY_CONFLICT") ? lineOfEpisode(gathered, error.id) : undefined;
  const first = named ?? gathered[0]?.line ?? 0;
  const last = named ?? gathered.at(-1)?.line ?? 0;
  return [first, first === last ? `line ${first}` : `lines ${first} to ${last}`];
}

// Where several scopes hold an episode of the id, the conflict does not say which of them it is.
function lineOfEpisode(gathered: readonly Gathered[], id: string | null): number | undefined {
  const alike = gathered.filter(({ record }) => record.id === id);
  const scopes = new Set(alike.map(({ record }) => placeOf(record.scope, "")));
  return scopes.size === 1 ? alike.at(-1)?.line : undefined;
}

function incomplete(message: string): MemoryRecordError {
  return new MemoryRecordError(message, { path: "record" });
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) > 0;
}
