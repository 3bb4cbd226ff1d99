// The profile operations: durable facts, in lineages of versions that nobody overwrites.

import type { Belief, BeliefPage, Supersession } from "../model/belief.ts";
import type {
  DriverCall,
  KeyHeads,
  ProfileSection,
  StoredRecord,
  Successor,
  VersionRow,
  WritePlan,
} from "../model/driver.ts";
import { MemoryConflictError, MemoryContradictionError, MemoryUnavailableError } from "../model/errors.ts";
import { uuidV7 } from "../model/id.ts";
import { type Parsed, parseKey } from "../model/query.ts";
import { type EpochMs, type MemoryRecord, type MemoryRecordInput, renamed } from "../model/record.ts";
import { type MemoryReach, type MemoryScope, memoryScope } from "../model/scope.ts";
import {
  type BeliefWrite,
  believe,
  type Decision,
  decide,
  findRepeat,
  noBelief,
  retell,
  showVersion,
} from "../rules/beliefs.ts";
import type { OperationCall } from "../rules/guard.ts";
import type { Asked } from "../rules/row.ts";
import { prepareRecord } from "../rules/write.ts";
import type { StoreContext } from "./context.ts";
import { keyPage } from "./pages.ts";

/** How many versions `history` and `eachVersion` fetch in one round trip. */
export const HISTORY_CHUNK = 1_000;

// The longest step aside after a lost race, in milliseconds: about as long as a few writes take.
const LOST_RACE_DELAY_MS = 16;

type ProfileAsked = Asked & { readonly key: string };
type Write = Pick<BeliefWrite, "mode" | "expectedVersion" | "resolves">;

export async function upsert(
  store: StoreContext,
  to: MemoryScope,
  record: MemoryRecordInput,
  call: OperationCall,
): Promise<MemoryRecord> {
  const written = await settle(store, to, record, call, { mode: "upsert", expectedVersion: undefined, resolves: [] });
  return written.record;
}

export async function supersede(
  store: StoreContext,
  to: MemoryScope,
  record: MemoryRecordInput,
  { expectedVersion, resolves = [] }: Parsed<"supersede">,
  call: OperationCall,
): Promise<Supersession> {
  store.need("supersession", store.section("profile").supersession);
  return await settle(store, to, record, call, { mode: "supersede", expectedVersion, resolves });
}

export async function belief(
  store: StoreContext,
  of: MemoryScope,
  named: string,
  { asOf, knownAt }: Parsed<"profile">,
  call: DriverCall,
): Promise<Belief> {
  const asked: ProfileAsked = { kind: "profile", scope: memoryScope(of), reach: "exact", key: parseKey(named) };
  const section = timed(store, asOf, knownAt);
  const state = await section.versions({ scope: asked.scope, key: asked.key, asOf, knownAt }, call);
  return state === null ? noBelief(asked) : believe(asked, state, asOf, call.now, store.decay);
}

export async function profile(
  store: StoreContext,
  of: MemoryScope,
  named: string,
  options: Parsed<"profile">,
  call: DriverCall,
): Promise<MemoryRecord | null> {
  const { record, contradiction, key } = await belief(store, of, named, options, call);
  if (contradiction === null) return record;
  throw new MemoryContradictionError(
    "the key holds facts that disagree: read belief(), and settle them with supersede(..., { resolves })",
    { key, records: contradiction.holds },
  );
}

export async function beliefs(
  store: StoreContext,
  of: MemoryScope,
  options: Parsed<"beliefs">,
  call: DriverCall,
): Promise<BeliefPage> {
  const { asOf, knownAt, keyPrefix, reach, limit, cursor } = options;
  const section = timed(store, asOf, knownAt);
  const instants = [asOf ?? null, knownAt ?? null];
  const page = keyPage(store, of, "beliefs", { keyPrefix, reach, limit, cursor }, section.under, instants);
  const states = await section.beliefs({ ...page.request, asOf, knownAt }, call);
  const asked: Asked = { kind: "profile", scope: page.request.scope, reach: page.request.reach };
  const found = states.map((state) => believe(asked, state, asOf, call.now, store.decay));
  return { beliefs: found, cursor: page.cursorAfter(found) };
}

export async function history(
  store: StoreContext,
  of: MemoryScope,
  named: string | undefined,
  { reach: wanted = "exact" }: Parsed<"history">,
  call: DriverCall,
): Promise<readonly MemoryRecord[]> {
  const scope = memoryScope(of);
  const key = named === undefined ? undefined : parseKey(named);
  const section = store.section("profile");
  const reach = store.needReach(wanted, section.under);
  const records: MemoryRecord[] = [];
  for await (const row of eachVersionRow(section, { scope, reach, key }, () => call)) {
    records.push(showVersion({ kind: "profile", scope, reach, key }, row));
  }
  return records;
}

/** Every version row of a scope, a chunk a round trip. */
export async function* eachVersionRow(
  section: ProfileSection,
  of: { readonly scope: MemoryScope; readonly reach: MemoryReach; readonly key: string | undefined },
  call: () => DriverCall,
): AsyncGenerator<VersionRow> {
  let after: { readonly scope: MemoryScope; readonly key: string; readonly version: number } | undefined;
  for (;;) {
    const rows = await section.history({ ...of, after, limit: HISTORY_CHUNK }, call());
    yield* rows;
    const last = rows.at(-1)?.record;
    if (last === undefined || rows.length < HISTORY_CHUNK) return;
    after = { scope: last.scope, key: last.key, version: last.version ?? 0 };
  }
}

function timed(store: StoreContext, asOf: EpochMs | undefined, knownAt: EpochMs | undefined): ProfileSection {
  const section = store.section("profile");
  if (asOf !== undefined) store.need("asOf", section.asOf);
  if (knownAt !== undefined) store.need("knownAt", section.knownAt);
  return section;
}

// Reads the heads, decides, commits; a lost race is planned again on what is there now, until the call's deadline.
async function settle(
  store: StoreContext,
  to: MemoryScope,
  input: MemoryRecordInput,
  call: OperationCall,
  write: Write,
): Promise<Supersession> {
  const scope = memoryScope(to);
  const section = store.section("profile");
  const { stored } = prepareRecord("profile", scope, input, store.rules, call.now);
  const asked: ProfileAsked = { kind: "profile", scope, reach: "exact", key: stored.key };
  const token = uuidV7(call.now);
  const deadline = call.now + call.budgetMs;
  let lost = 0;
  let waitedMs = 0;
  for (;;) {
    const heads = await section.heads(headsOf(stored, stored.id, stored.validFrom), call);
    const repeat = findRepeat(heads, stored);
    if (repeat !== undefined) return await answerRepeat(store, section, asked, repeat, call);
    const id = await freeId(section, stored, heads, call);
    if (id !== undefined) {
      const live = await liveIds(section, asked, heads, write.resolves, call);
      const terms = { ...write, asked, incoming: stored, id, policy: store.policy, token, now: call.now, live };
      const decision = decide(heads, terms);
      if (await section.commit(decision.plan, call)) return await answer(store, section, asked, decision, call);
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

function headsOf(stored: StoredRecord, id: string, at: EpochMs | undefined, before?: number) {
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
  asked: ProfileAsked,
  heads: KeyHeads,
  resolves: readonly string[],
  call: DriverCall,
): Promise<BeliefWrite["live"]> {
  const shown = heads.open.flatMap(({ newest, held }) => [newest.record.id, held?.record.id]);
  if (resolves.every((id) => shown.includes(id))) return [];
  const state = await section.versions(
    { scope: asked.scope, key: asked.key, asOf: undefined, knownAt: undefined },
    call,
  );
  return (state?.versions ?? []).map((row) => ({ id: row.record.id, lineage: row.lineage }));
}

async function answer(
  store: StoreContext,
  section: ProfileSection,
  asked: ProfileAsked,
  decision: Decision,
  call: DriverCall,
): Promise<Supersession> {
  const { plan, resolution, superseded, lineages } = decision;
  const next = decision.next === "unknown" ? await nextInLineage(section, asked, plan, call) : decision.next;
  const row: VersionRow = { record: plan.record, lineage: plan.lineage, settles: plan.settles, next, end: undefined };
  const contradiction = lineages === 1 ? null : await contradictionNow(store, section, asked, call);
  return { record: showVersion(asked, row), superseded, resolution, contradiction };
}

// What follows a record that came in before its whole lineage: asked of the driver, as the heads do not show it.
async function nextInLineage(
  section: ProfileSection,
  asked: ProfileAsked,
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
  asked: ProfileAsked,
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
  asked: ProfileAsked,
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
  asked: ProfileAsked,
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
