// The profile operations: durable facts, in lineages of versions that nobody overwrites.

import type { Belief, BeliefPage, Supersession } from "../model/belief.ts";
import type { DriverCall, ProfileSection, VersionRow } from "../model/driver.ts";
import { MemoryContradictionError } from "../model/errors.ts";
import { type Parsed, parseKey } from "../model/query.ts";
import type { EpochMs, MemoryRecord, MemoryRecordInput } from "../model/record.ts";
import { type MemoryReach, type MemoryScope, memoryScope } from "../model/scope.ts";
import { believe, type KeyAsked, noBelief, showVersion } from "../rules/beliefs.ts";
import type { OperationCall } from "../rules/guard.ts";
import type { Asked } from "../rules/row.ts";
import type { StoreContext } from "./context.ts";
import { keyPage } from "./pages.ts";
import { settle } from "./settle.ts";

/** How many versions `history` and `eachVersion` fetch in one round trip. */
const HISTORY_CHUNK = 1_000;

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
  const asked: KeyAsked = { kind: "profile", scope: memoryScope(of), reach: "exact", key: parseKey(named) };
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
