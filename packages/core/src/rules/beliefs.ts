// What a profile holds and what a write does to it: pure decisions over the rows of a key. A key has lineages of versions;
// in a lineage the version with the greatest (validFrom, version) not after an instant holds there, so that facts may
// arrive in any order. Nothing here reads or writes; what happens is a plan that a driver carries out.

import type { Belief, Contradiction } from "../model/belief.ts";
import type {
  KeyHeads,
  KeyVersions,
  LineageHead,
  StoredRecord,
  Successor,
  VersionRow,
  WritePlan,
} from "../model/driver.ts";
import { MemoryConflictError, MemoryContradictionError, MemorySettingsError } from "../model/errors.ts";
import { compareText } from "../model/json.ts";
import { type EpochMs, type MemoryRecord, renamed } from "../model/record.ts";
import { sameContent } from "./content.ts";
import type { ContradictionPolicy } from "./contradictions.ts";
import { type DecayPolicy, weigh } from "./decay.ts";
import { type Asked, corrupt, parseRow, type RowView, rowScope } from "./row.ts";
import { checkFilledWindow } from "./write.ts";

const NO_VERDICT = 'the contradiction policy gave none of "supersede", "branch" and "reject"; nothing was written';

/** One key that was asked for. */
export type KeyAsked = Asked & { readonly key: string };

/** What is held about a key: what lives at `asOf`, weighed there, and then judged for contradiction. */
export function believe(
  asked: Asked,
  state: KeyVersions,
  asOf: EpochMs | undefined,
  now: EpochMs,
  decay: DecayPolicy | undefined,
): Belief {
  const at = asOf ?? Math.max(now, state.recordedAt);
  // Whatever was asked for: the versions of a key are of that key and its scope.
  const own: Asked = { kind: "profile", scope: rowScope(asked, state), reach: "exact", key: state.key };
  if (asked.key !== undefined && asked.key !== state.key) throw corrupt(state, "it is another key than was asked for");
  const holds: MemoryRecord[] = [];
  const decayed: MemoryRecord[] = [];
  let weight = 0;
  for (const row of state.versions) {
    const record = showVersion(own, row);
    if (!isLive(row, at)) continue;
    const counts = weigh(decay, record, at);
    if (counts === 0) {
      decayed.push(record);
    } else {
      holds.push(record);
      weight = counts;
    }
  }
  const only = holds.length === 1 ? holds[0] : undefined;
  return {
    scope: own.scope,
    key: state.key,
    record: only ?? null,
    weight: only === undefined ? 0 : weight,
    contradiction: holds.length > 1 ? contradict(holds) : null,
    decayed,
  };
}

/** The belief about a key that nothing is known of. */
export function noBelief(asked: KeyAsked): Belief {
  return { scope: asked.scope, key: asked.key, record: null, weight: 0, contradiction: null, decayed: [] };
}

/** A version as it shows: `validTo` the smallest of its own, its successor's start and its lineage's end. */
export function showVersion(asked: Asked, row: VersionRow): MemoryRecord {
  return parseRow(asked, row.record, viewOf(row));
}

/** What a version shows beside its own: see {@link showVersion}. */
export function viewOf({ record, next, end }: VersionRow): RowView {
  const from = record.validFrom ?? 0;
  const closer = end !== undefined && (next === undefined || end.validFrom < next.validFrom) ? end : next;
  const closedAt = closer === undefined ? undefined : Math.max(from, closer.validFrom);
  const own = record.validTo;
  const validTo = closedAt === undefined ? own : Math.min(own ?? closedAt, closedAt);
  return { validTo, supersededBy: closer?.id };
}

/** Whether the version, of all of its lineage the one that counts at the instant, holds there. */
export function isLive(row: VersionRow, at: EpochMs): boolean {
  const { validFrom, validTo } = row.record;
  return (
    (validFrom ?? 0) <= at &&
    (validTo === undefined || at < validTo) &&
    (row.end === undefined || at < row.end.validFrom)
  );
}

/** What a belief write is to be. */
export interface BeliefWrite {
  readonly asked: KeyAsked;
  /** Checked, masked and measured; `validFrom` as the caller gave it. */
  readonly incoming: StoredRecord;
  /** The id that the record is to have if it becomes a new version. */
  readonly id: string;
  readonly mode: "upsert" | "supersede";
  readonly policy: ContradictionPolicy;
  readonly expectedVersion: number | undefined;
  readonly resolves: readonly string[];
  readonly token: string;
  readonly now: EpochMs;
  /** Ids that are live now beside those that the heads show, each with its lineage. */
  readonly live: readonly { readonly id: string; readonly lineage: number }[];
}

/** What the caller hears of a write. */
export interface WriteAnswer {
  readonly resolution: "supersede" | "branch" | "started";
  readonly superseded: MemoryRecord | null;
  /** How many lineages the key has once it is carried out. */
  readonly lineages: number;
}

/** What was decided: a plan to carry out, and what the caller hears once it has been. */
export interface Decision extends WriteAnswer {
  readonly plan: WritePlan;
  /** What follows the record in its lineage; `"unknown"` where it comes before everything that the heads show. */
  readonly next: Successor | "unknown" | undefined;
}

/** The open lineage whose newest version already is this write, if there is one. */
export function findRepeat(heads: KeyHeads, incoming: StoredRecord): VersionRow | undefined {
  return heads.open.find(({ newest: { record } }) => {
    return isRenamed(record, incoming.id) && sameContent(record, incoming, incoming.validFrom === undefined);
  })?.newest;
}

/** What the write that became `repeat` answered, told on the key as it was before it. */
export function retell(asked: Asked, before: KeyHeads, repeat: VersionRow): WriteAnswer {
  const continued = before.open.find((head) => head.lineage === repeat.lineage);
  const ended = before.open.filter((head) => repeat.settles.includes(head.lineage));
  return tell(asked, before, repeat.record, continued, ended);
}

/**
 * Decides a belief write on the heads of its key.
 *
 * @throws {MemoryContradictionError} The policy rejects it; or, for `upsert`, several lineages are open.
 * @throws {MemoryConflictError} `expectedVersion` is not the version there, or `resolves` names a record that is not open.
 * @throws {MemorySettingsError} The policy gives something else than a verdict.
 */
export function decide(heads: KeyHeads, write: BeliefWrite): Decision {
  const { incoming, asked, now } = write;
  const recordedAt = Math.max(now, heads.recordedAt ?? now);
  const record = checkFilledWindow({
    ...incoming,
    id: write.id,
    validFrom: incoming.validFrom ?? recordedAt,
    recordedAt,
    version: heads.version + 1,
  });
  const matching = write.mode === "upsert" ? upsertMatch(heads, asked) : judgeAll(heads, write, record);
  const continued = matching[0];
  checkExpected(write, continued === undefined ? heads.version : versionOf(continued));
  const named = write.resolves.map((id) => lineageOf(heads, write, record, id));
  const ended = heads.open.filter(
    (head) => head !== continued && (matching.includes(head) || named.includes(head.lineage)),
  );
  const lineage = continued?.lineage ?? heads.lineages + 1;
  const plan: WritePlan = {
    scope: asked.scope,
    key: asked.key,
    base: heads.version,
    baseToken: heads.token,
    record,
    lineage,
    head: continued === undefined ? undefined : versionOf(continued),
    settles: ended.map((head) => head.lineage),
    token: write.token,
  };
  return { ...tell(asked, heads, record, continued, ended), plan, next: nextOf(continued) };
}

function tell(
  asked: Asked,
  heads: KeyHeads,
  record: StoredRecord,
  continued: LineageHead | undefined,
  ended: readonly LineageHead[],
): WriteAnswer {
  const held = (continued === undefined ? ended : [continued, ...ended]).find((head) => heldAt(head, record));
  return {
    resolution: continued !== undefined ? "supersede" : heads.version === 0 ? "started" : "branch",
    superseded: held === undefined ? null : endedBy(asked, held, record),
    lineages: heads.lineages + (continued === undefined ? 1 : 0),
  };
}

// A record comes right after what holds at its `validFrom`, so that its successor is that version's.
function nextOf(continued: LineageHead | undefined): Decision["next"] {
  if (continued === undefined) return undefined;
  return continued.held === null ? "unknown" : continued.held.next;
}

// A taken id is renamed, and then told apart by the same suffix until it is free.
function isRenamed(record: StoredRecord, id: string): boolean {
  const version = record.version ?? 0;
  const first = renamed(id, version);
  if (record.id === id || record.id === first) return true;
  const suffix = `@${version}`;
  const rest = record.id.length - first.length;
  return rest > 0 && record.id === first + suffix.repeat(rest / suffix.length);
}

function contradict(holds: readonly MemoryRecord[]): Contradiction {
  const subjects = new Set(holds.map((record) => record.subject));
  const aspects = [...new Set(holds.flatMap((record) => record.predicate ?? []))].sort(compareText);
  return { subject: subjects.size === 1 ? (holds[0]?.subject ?? null) : null, aspects, holds };
}

function upsertMatch(heads: KeyHeads, asked: KeyAsked): readonly LineageHead[] {
  if (heads.open.length > 1) {
    throw new MemoryContradictionError(
      "the key holds facts that disagree: settle them with supersede(..., { resolves })",
      { key: asked.key, records: heads.open.map((head) => showVersion(asked, head.newest)) },
    );
  }
  return heads.open;
}

function judgeAll(heads: KeyHeads, write: BeliefWrite, record: StoredRecord): readonly LineageHead[] {
  if (heads.open.length === 0) return [];
  const incoming = parseRow(write.asked, record);
  const matching: LineageHead[] = [];
  const against: MemoryRecord[] = [];
  for (const head of heads.open) {
    const newest = showVersion(write.asked, head.newest);
    const verdict: unknown = write.policy.judge(incoming, newest);
    if (verdict === "reject") against.push(newest);
    else if (verdict === "supersede") matching.push(head);
    // An asynchronous policy among them: a promise is no verdict.
    else if (verdict !== "branch") throw new MemorySettingsError(NO_VERDICT, { setting: "contradictions" });
  }
  if (against.length > 0) {
    throw new MemoryContradictionError("the contradiction policy rejects the fact", {
      key: write.asked.key,
      records: against,
    });
  }
  return matching;
}

function checkExpected(write: BeliefWrite, actualVersion: number): void {
  const { expectedVersion } = write;
  if (expectedVersion === undefined || expectedVersion === actualVersion) return;
  throw new MemoryConflictError("the key has moved on: another version is the newest", {
    key: write.asked.key,
    expectedVersion,
    actualVersion,
  });
}

// Open is what a caller can have seen as holding: the newest of an open lineage, or the one live then or now.
function lineageOf(heads: KeyHeads, write: BeliefWrite, record: StoredRecord, id: string): number {
  const seen = heads.open.find(
    (head) => head.newest.record.id === id || (head.held?.record.id === id && heldAt(head, record)),
  );
  const lineage = seen?.lineage ?? write.live.find((one) => one.id === id)?.lineage;
  if (lineage !== undefined && heads.open.some((head) => head.lineage === lineage)) return lineage;
  throw new MemoryConflictError("resolves names a record that is not open", {
    key: write.asked.key,
    id,
    actualVersion: heads.version,
  });
}

function heldAt(head: LineageHead, record: StoredRecord): boolean {
  return head.held !== null && isLive(head.held, record.validFrom ?? 0);
}

function endedBy(asked: Asked, head: LineageHead, record: StoredRecord): MemoryRecord | null {
  if (head.held === null) return null;
  const successor = { id: record.id, validFrom: record.validFrom ?? 0 };
  return showVersion(asked, { ...head.held, next: successor });
}

function versionOf(head: LineageHead): number {
  return head.newest.record.version ?? 0;
}
