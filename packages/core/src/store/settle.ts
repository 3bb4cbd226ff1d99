// A belief write from its record to its answer: what the key holds is read, a plan is made of it and committed, and a
// lost race is planned again. Here and nowhere else does a profile change.

import type { Belief, Supersession } from "../model/belief.ts";
import type {
  DriverCall,
  KeyHeads,
  ProfileSection,
  StoredRecord,
  Successor,
  VersionRow,
  WritePlan,
} from "../model/driver.ts";
import { MemoryConflictError, MemoryUnavailableError } from "../model/errors.ts";
import { uuidV7 } from "../model/id.ts";
import type { JsonValue } from "../model/json.ts";
import { type EpochMs, type MemoryRecordInput, renamed } from "../model/record.ts";
import { type MemoryScope, memoryScope } from "../model/scope.ts";
import {
  type BeliefWrite,
  believe,
  type Decision,
  decide,
  findRepeat,
  isLive,
  type KeyAsked,
  retell,
  showVersion,
  viewOf,
} from "../rules/beliefs.ts";
import type { OperationCall } from "../rules/guard.ts";
import { buildRecord } from "../rules/row.ts";
import { prepareRecord } from "../rules/write.ts";
import type { StoreContext } from "./context.ts";

// The longest step aside after a lost race, in milliseconds: about as long as a few writes take.
const LOST_RACE_DELAY_MS = 16;

/** What a caller asks of a belief write beside its record. */
export type Wish = Pick<BeliefWrite, "mode" | "expectedVersion" | "resolves">;

/**
 * Reads the heads, decides, commits; a lost race is planned again on what is there now, until the call's deadline.
 *
 * @throws {MemoryContradictionError} The policy rejects the fact; or, for `upsert`, several lineages are open.
 * @throws {MemoryConflictError} The id, the version or what it resolves is not as the caller says.
 * @throws {MemoryUnavailableError} Every race was lost until the deadline.
 */
export async function settle(
  store: StoreContext,
  to: MemoryScope,
  input: MemoryRecordInput,
  call: OperationCall,
  wish: Wish,
): Promise<Supersession> {
  const scope = memoryScope(to);
  const section = store.section("profile");
  const { stored, value, isNamed } = prepareRecord("profile", scope, input, store.rules, call.now);
  const asked: KeyAsked = { kind: "profile", scope, reach: "exact", key: stored.key };
  const token = uuidV7(call.now);
  const deadline = call.now + call.budgetMs;
  let lost = 0;
  let waitedMs = 0;
  for (;;) {
    const heads = await section.heads(headsOf(stored, isNamed ? stored.id : undefined, stored.validFrom), call);
    const repeat = findRepeat(heads, stored);
    if (repeat !== undefined) return await answerRepeat(store, section, asked, repeat, call);
    const id = await freeId(section, stored, heads, call);
    if (id !== undefined) {
      const live = await liveIds(section, asked, heads, wish.resolves, call);
      const terms = { ...wish, asked, incoming: stored, id, policy: store.policy, token, now: call.now, live };
      const decision = decide(heads, terms);
      if (await section.commit(decision.plan, call)) return await answer(store, section, asked, decision, value, call);
    }
    lost += 1;
    // The clock may stand still, or step back; what was waited counts all the same.
    if (store.now() >= deadline || waitedMs >= call.budgetMs) {
      throw new MemoryUnavailableError("the write lost every race for its key until its deadline", {
        store: store.driver.name,
        attempts: call.attempts,
        outcome: "not-applied",
      });
    }
    if (lost > 1) {
      // Somebody else's write landed, so that there is progress; stepping aside at random keeps many writers from
      // reading and planning in lockstep for a race that one of them wins.
      const delayMs = Math.max(1, store.entropy() * Math.min(2 ** lost, LOST_RACE_DELAY_MS));
      waitedMs += delayMs;
      await store.clock.sleep(delayMs, call.callerSignal);
    }
  }
}

function headsOf(stored: StoredRecord, id: string | undefined, at: EpochMs | undefined, before?: number) {
  return { scope: stored.scope, key: stored.key, id, at, before };
}

// The caller's id, unless other content of the key has it; then that id and the new version's number.
async function freeId(
  section: ProfileSection,
  stored: StoredRecord,
  heads: KeyHeads,
  call: DriverCall,
): Promise<string | undefined> {
  let id = stored.id;
  let holder = heads.idKey;
  while (holder !== undefined) {
    if (holder !== stored.key) {
      throw new MemoryConflictError("another key of the scope holds a record with this id", {
        key: stored.key,
        id,
        actualVersion: heads.version,
      });
    }
    const version = heads.version + 1;
    const first = renamed(stored.id, version);
    id = id === stored.id && id !== first ? first : `${id}@${version}`;
    const again = await section.heads(headsOf(stored, id, stored.validFrom), call);
    if (again.version !== heads.version) return undefined;
    holder = again.idKey;
  }
  return id;
}

// What is live now may be neither the newest of its lineage nor what holds at a back-dated `validFrom`.
async function liveIds(
  section: ProfileSection,
  asked: KeyAsked,
  heads: KeyHeads,
  resolves: readonly string[],
  call: DriverCall,
): Promise<BeliefWrite["live"]> {
  const newest = heads.open.map((head) => head.newest.record.id);
  if (resolves.every((id) => newest.includes(id))) return [];
  const state = await section.versions(
    { scope: asked.scope, key: asked.key, asOf: undefined, knownAt: undefined },
    call,
  );
  if (state === null) return [];
  const at = Math.max(call.now, state.recordedAt);
  return state.versions.filter((row) => isLive(row, at)).map((row) => ({ id: row.record.id, lineage: row.lineage }));
}

async function answer(
  store: StoreContext,
  section: ProfileSection,
  asked: KeyAsked,
  decision: Decision,
  value: JsonValue,
  call: DriverCall,
): Promise<Supersession> {
  const { plan, resolution, superseded, lineages } = decision;
  const next = decision.next === "unknown" ? await nextInLineage(section, asked, plan, call) : decision.next;
  const row: VersionRow = { record: plan.record, lineage: plan.lineage, settles: plan.settles, next, end: undefined };
  const contradiction = lineages === 1 ? null : await contradictionNow(store, section, asked, call);
  return {
    record: buildRecord("profile", asked.scope, plan.record, value, viewOf(row)),
    superseded,
    resolution,
    contradiction,
  };
}

// What follows a record that came in before its whole lineage: asked of the driver, as the heads do not show it.
async function nextInLineage(
  section: ProfileSection,
  asked: KeyAsked,
  plan: WritePlan,
  call: DriverCall,
): Promise<Successor | undefined> {
  if (section.asOf !== true) return undefined;
  const at = plan.record.validFrom;
  const state = await section.versions({ scope: asked.scope, key: asked.key, asOf: at, knownAt: undefined }, call);
  return state?.versions.find((row) => row.lineage === plan.lineage)?.next;
}

// A repeat answers as the first did, told from what that one did: the lineage that it is in and those that it settled.
async function answerRepeat(
  store: StoreContext,
  section: ProfileSection,
  asked: KeyAsked,
  repeat: VersionRow,
  call: DriverCall,
): Promise<Supersession> {
  const { record } = repeat;
  const before = await section.heads(headsOf(record, record.id, record.validFrom, record.version), call);
  const { resolution, superseded, lineages } = retell(asked, before, repeat);
  const contradiction = lineages === 1 ? null : await contradictionThen(store, section, asked, record, call);
  return { record: showVersion(asked, repeat), superseded, resolution, contradiction };
}

async function contradictionNow(
  store: StoreContext,
  section: ProfileSection,
  asked: KeyAsked,
  call: DriverCall,
): Promise<Belief["contradiction"]> {
  const state = await section.versions(
    { scope: asked.scope, key: asked.key, asOf: undefined, knownAt: undefined },
    call,
  );
  return state === null ? null : believe(asked, state, undefined, call.now, store.decay).contradiction;
}

// What disagreed when that version was the newest. Lineages that were open then stand in the heads of that time; one that
// was settled by then, but to end later, has not changed since.
async function contradictionThen(
  store: StoreContext,
  section: ProfileSection,
  asked: KeyAsked,
  record: StoredRecord,
  call: DriverCall,
): Promise<Belief["contradiction"]> {
  if (section.asOf !== true || section.knownAt !== true) return await contradictionNow(store, section, asked, call);
  const { scope, key } = asked;
  const { recordedAt: at, version = 0 } = record;
  const { open } = await section.heads(headsOf(record, record.id, at, version + 1), call);
  const state = await section.versions({ scope, key, asOf: at, knownAt: at }, call);
  const settled = (state?.versions ?? []).filter(
    (row) => (row.record.version ?? 0) <= version && !open.some((head) => head.lineage === row.lineage),
  );
  const versions = [...open.flatMap((head) => head.held ?? []), ...settled].sort((a, b) => a.lineage - b.lineage);
  return believe(asked, { scope, key, recordedAt: at, versions }, at, at, store.decay).contradiction;
}
