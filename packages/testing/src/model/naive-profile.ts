// Lineages, read straight off the protocol's section 4: every question is a scan over all versions of a key. `known` is
// always the versions of one key as known at some instant, in the order of their numbers.

import {
  type Belief,
  type Contradiction,
  type EpochMs,
  MemoryConflictError,
  MemoryContradictionError,
  type MemoryRecord,
  type Supersession,
} from "@memory/core";
import { byBytes, type Row, recordOf, sameContent } from "./naive-row.ts";

/** What a belief write asks for beside its record. */
export interface Wish {
  /** Continue the single open lineage, whatever it speaks about. */
  readonly upsert: boolean;
  readonly expectedVersion: number | undefined;
  readonly resolves: readonly string[];
}

/** What a belief write comes to: a row to add (`undefined`: it is there already) and the answer. */
export interface Outcome {
  readonly added: Row | undefined;
  readonly answer: Supersession;
}

/** The version as it shows: its time ends with its own `validTo`, its successor's `validFrom`, or its lineage's end. */
export function shown(known: readonly Row[], row: Row): MemoryRecord {
  const line = lineage(known, row.lineage);
  const next = line[line.indexOf(row) + 1];
  const end = endOf(known, row.lineage);
  const from = row.validFrom ?? 0;
  const ends = [row.validTo, next?.validFrom, end === undefined ? undefined : Math.max(from, end.validFrom ?? 0)];
  const named = ends.filter((at) => at !== undefined);
  const follows = next !== undefined && (end === undefined || (next.validFrom ?? 0) <= (end.validFrom ?? 0));
  return recordOf(row, {
    validTo: named.length === 0 ? undefined : Math.min(...named),
    supersededBy: follows ? next.id : end?.id,
  });
}

/** What is held about a key at an instant: one live version a lineage, at most. */
export function beliefOf(known: readonly Row[], at: EpochMs, where: Pick<Belief, "scope" | "key">): Belief {
  const live = liveAt(known, at).map((row) => shown(known, row));
  const [only] = live;
  const single = live.length === 1 ? only : undefined;
  return {
    scope: where.scope,
    key: where.key,
    record: single ?? null,
    weight: single === undefined ? 0 : 1,
    contradiction: disagreement(live),
    decayed: [],
  };
}

/**
 * Decides a write on a key whose versions are `all`; `keyOfId` says which key of the scope holds an id.
 *
 * @throws {MemoryContradictionError} An `upsert` on a key with several open lineages.
 * @throws {MemoryConflictError} Another key holds the id, `expectedVersion` is not there, or `resolves` names what
 * is not open.
 */
export function decide(
  all: readonly Row[],
  asked: Row,
  wish: Wish,
  keyOfId: (id: string) => string | undefined,
): Outcome {
  const open = openLineages(all);
  for (const one of open) {
    const newest = newestOf(all, one);
    if (isNamed(newest, asked.id) && sameContent(newest, asked)) {
      return { added: undefined, answer: answerOf(all, newest) };
    }
  }
  const id = freeId(all, asked, keyOfId);
  if (wish.upsert && open.length > 1) {
    throw new MemoryContradictionError("contradicted", {
      key: asked.key,
      records: open.map((one) => shown(all, newestOf(all, one))),
    });
  }
  const continued = open.filter((one) => wish.upsert || sameSubject(newestOf(all, one), asked));
  const [target] = continued;
  const version = all.length + 1;
  const base = target === undefined ? all.length : newestOf(all, target).version;
  if (wish.expectedVersion !== undefined && wish.expectedVersion !== base) {
    throw new MemoryConflictError("moved", {
      key: asked.key,
      expectedVersion: wish.expectedVersion,
      actualVersion: base,
    });
  }
  const settled = wish.resolves.map((id) => openLineageOf(all, open, id, asked));
  const line = target ?? Math.max(0, ...all.map((row) => row.lineage)) + 1;
  const settles = [...new Set([...settled, ...continued])].filter((one) => one !== line).sort((a, b) => a - b);
  const added: Row = {
    ...asked,
    id,
    version,
    lineage: line,
    settles,
  };
  return { added, answer: answerOf([...all, added], added) };
}

// The answer that the write of `row` got when it was the newest: everything later is left out.
function answerOf(all: readonly Row[], row: Row): Supersession {
  const then = all.filter((one) => one.version <= row.version);
  const before = then.filter((one) => one.version < row.version);
  const live = liveAt(before, row.validFrom ?? 0);
  const held = [row.lineage, ...row.settles].flatMap((line) => live.filter((one) => one.lineage === line))[0];
  const hadLine = before.some((one) => one.lineage === row.lineage);
  return {
    record: shown(then, row),
    superseded: held === undefined ? null : shown(then, held),
    resolution: before.length === 0 ? "started" : hadLine ? "supersede" : "branch",
    contradiction: beliefOf(then, row.recordedAt, row).contradiction,
  };
}

function freeId(all: readonly Row[], asked: Row, keyOfId: (id: string) => string | undefined): string {
  let id = asked.id;
  for (let holder = keyOfId(id); holder !== undefined; holder = keyOfId(id)) {
    if (holder !== asked.key) {
      throw new MemoryConflictError("id taken", { key: asked.key, id, actualVersion: all.length });
    }
    const suffix = `@${all.length + 1}`;
    // What was renamed before gets the new number in place of the old one.
    const anew = asked.id.replace(/(?<=.)@[1-9]\d{0,15}$/s, "") + suffix;
    id = id === asked.id && id !== anew ? anew : id + suffix;
  }
  return id;
}

// Whether the version has this id, or one that was made of it because it was taken.
function isNamed(row: Row, id: string): boolean {
  const suffix = `@${row.version}`;
  let made = id.replace(/(?<=.)@[1-9]\d{0,15}$/s, "") + suffix;
  while (made.length < row.id.length) made += suffix;
  return row.id === id || row.id === made;
}

// Open is what a caller can have seen as holding: the newest of an open lineage, or what lives in it then or now.
function openLineageOf(all: readonly Row[], open: readonly number[], id: string, asked: Row): number {
  const seen = [asked.validFrom ?? 0, asked.recordedAt].flatMap((at) => liveAt(all, at));
  const named = [...open.map((one) => newestOf(all, one)), ...seen].find((row) => row.id === id);
  if (named === undefined || !open.includes(named.lineage)) {
    throw new MemoryConflictError("not open", { key: asked.key, id, actualVersion: all.length });
  }
  return named.lineage;
}

function lineage(known: readonly Row[], number: number): readonly Row[] {
  return known
    .filter((row) => row.lineage === number)
    .sort((a, b) => (a.validFrom ?? 0) - (b.validFrom ?? 0) || a.version - b.version);
}

function endOf(known: readonly Row[], number: number): Row | undefined {
  return known.find((row) => row.settles.includes(number));
}

function liveAt(known: readonly Row[], at: EpochMs): readonly Row[] {
  const numbers = [...new Set(known.map((row) => row.lineage))].sort((a, b) => a - b);
  return numbers.flatMap((number) => {
    const held = lineage(known, number)
      .filter((row) => (row.validFrom ?? 0) <= at)
      .at(-1);
    const end = endOf(known, number);
    if (held === undefined || (held.validTo !== undefined && at >= held.validTo)) return [];
    return end !== undefined && at >= (end.validFrom ?? 0) ? [] : [held];
  });
}

function openLineages(all: readonly Row[]): readonly number[] {
  const numbers = [...new Set(all.map((row) => row.lineage))].sort((a, b) => a - b);
  return numbers.filter((number) => endOf(all, number) === undefined);
}

function newestOf(all: readonly Row[], number: number): Row {
  const newest = all.filter((row) => row.lineage === number).at(-1);
  if (newest === undefined) throw new RangeError("a lineage without a version");
  return newest;
}

function sameSubject(a: Row, b: Row): boolean {
  const aspects = (row: Row) => JSON.stringify([...new Set(row.predicate ?? [])].sort(byBytes));
  return a.subject === b.subject && aspects(a) === aspects(b);
}

function disagreement(live: readonly MemoryRecord[]): Contradiction | null {
  if (live.length < 2) return null;
  const subjects = new Set(live.map((record) => record.subject));
  const [subject] = subjects;
  return {
    subject: subjects.size === 1 ? (subject ?? null) : null,
    aspects: [...new Set(live.flatMap((record) => record.predicate ?? []))].sort(byBytes),
    holds: live,
  };
}
