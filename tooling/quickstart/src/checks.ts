// What a replayed memory has to answer, asked of it and counted. A mismatch is kept and told, and the rest is still
// checked.

import { isDeepStrictEqual } from "node:util";
import {
  type JsonValue,
  type MemoryHit,
  type MemoryRecord,
  type MemoryScope,
  type MemoryStore,
  redact,
} from "@memory/core";
import { type Replayed, type Stage, TRANSCRIPT_KEY, turnName, turnValue } from "./replay.ts";
import { beliefsAt, changesOf, truthAt, versionsOf } from "./truth.ts";

/** An answer that differs from what it had to be. */
export interface Mismatch {
  readonly what: string;
  readonly actual: unknown;
  readonly expected: unknown;
}

/** Counts comparisons and keeps the first hundred that fail. */
export class Checks {
  made = 0;
  failed = 0;
  readonly mismatches: Mismatch[] = [];

  /** Compares deeply, whatever the order of members. */
  same(what: string, actual: unknown, expected: unknown): boolean {
    this.made += 1;
    if (isDeepStrictEqual(actual, expected)) return true;
    this.failed += 1;
    if (this.mismatches.length < 100) this.mismatches.push({ what, actual, expected });
    return false;
  }
}

// Small on purpose: a conversation takes several pages.
const PAGE = 7;
const TAIL = 3;

/** Asks for everything that one conversation left in memory. */
export async function checkDialogue(stage: Stage, replayed: Replayed): Promise<void> {
  await checkWorking(stage, replayed);
  await checkBeliefs(stage, replayed);
  await checkHistory(stage, replayed);
  await checkEpisodes(stage, replayed);
}

/** Asks for the turns that were embedded, each by its own key and by its own vector. */
export async function checkResemblance(
  { store, checks }: Stage,
  { dialogue, session, embedded }: Replayed,
): Promise<void> {
  for (const index of embedded) {
    const name = turnName(index);
    const turn = dialogue.turns[index];
    const record = await store.recall(session, name);
    checks.same(`${dialogue.id} ${name}: recalled by key`, record?.value, turn && redact(turnValue(turn)));
    if (record?.embedding === undefined) continue;
    const hits = await store.search(session, { embedding: record.embedding, limit: 5 });
    checks.same(`${dialogue.id} ${name}: as many as there are`, hits.length, Math.min(5, embedded.length));
    const [first] = hits;
    checks.same(`${dialogue.id} ${name}: resembles itself most`, Number(first?.score.toFixed(3)), 1);
  }
}

/** Asks for everything under the tenant at once: every conversation's episodes, in pages. */
export async function checkTenant({ store, checks, tenantId }: Stage, all: readonly Replayed[]): Promise<void> {
  const hits = await pageThrough(store, { tenantId }, { limit: 500, reach: "under" });
  const expected = all.flatMap(({ session, dialogue }) =>
    dialogue.turns.map((turn, index) => [session.sessionId, turnName(index), redact(turnValue(turn))]),
  );
  const actual = hits.map(({ record }) => [record.scope.sessionId, record.id, record.value]).reverse();
  checks.same("every episode of the tenant, in pages", actual, expected);
}

/** Every episode of a scope, newest first, a page at a time. */
export async function pageThrough(
  store: MemoryStore,
  scope: MemoryScope,
  query: { readonly limit: number; readonly reach?: "exact" | "under" },
): Promise<readonly MemoryHit[]> {
  const hits: MemoryHit[] = [];
  let cursor: string | null | undefined;
  do {
    const page = await store.page(scope, query, { cursor });
    hits.push(...page.hits);
    cursor = page.cursor;
  } while (cursor !== null);
  return hits;
}

async function checkWorking({ store, checks }: Stage, { dialogue, session }: Replayed): Promise<void> {
  const turns: readonly JsonValue[] = dialogue.turns.map((turn) => redact(turnValue(turn)));
  const whole = await store.read(session, TRANSCRIPT_KEY);
  checks.same(`${dialogue.id}: the transcript in working memory`, whole?.value, turns);
  const tail = await store.read(session, TRANSCRIPT_KEY, { last: TAIL });
  checks.same(`${dialogue.id}: its last ${TAIL} turns`, tail?.value, turns.slice(-TAIL));
  const { keys, cursor } = await store.keys(session);
  checks.same(`${dialogue.id}: its working keys`, [keys.map(({ key }) => key), cursor], [[TRANSCRIPT_KEY], null]);
}

async function checkBeliefs({ store, checks }: Stage, { dialogue, person, instants }: Replayed): Promise<void> {
  for (const [index, at] of instants.entries()) {
    const truth = truthAt(dialogue, index);
    const here = `${dialogue.id} turn ${index + 1}`;
    checks.same(`${here}: beliefs as of it`, await beliefsAt(store, person, { asOf: at }), truth);
    const known = await beliefsAt(store, person, { asOf: at, knownAt: at });
    checks.same(`${here}: beliefs as of it, as known then`, known, truth);
  }
  const paged = await beliefsAt(store, person, { limit: PAGE });
  checks.same(`${dialogue.id}: beliefs in pages`, paged, truthAt(dialogue, dialogue.turns.length));
}

async function checkHistory(
  { store, checks }: Stage,
  { dialogue, person, instants, versions }: Replayed,
): Promise<void> {
  for (const [key, changes] of changesOf(dialogue, instants)) {
    const history = await store.history(person, key);
    const expected = versionsOf(changes);
    const periods = history.filter(({ validFrom, validTo }) => validFrom !== validTo);
    checks.same(
      `${dialogue.id}: the history of ${key} is the list of its changes`,
      periods.map(({ value, validFrom, validTo }) => ({ value, from: validFrom, to: validTo })),
      changes,
    );
    checks.same(
      `${dialogue.id}: every version of ${key}`,
      history.map(versionParts),
      expected.map((version, index) => ({
        ...version,
        version: index + 1,
        supersededBy: history[index + 1]?.id,
      })),
    );
  }
  const all = await store.history(person);
  checks.same(`${dialogue.id}: how many versions there are`, all.length, versions);
}

function versionParts({ value, validFrom, validTo, version, supersededBy }: MemoryRecord): unknown {
  return { value, validFrom, validTo, version, supersededBy };
}

async function checkEpisodes({ store, checks }: Stage, { dialogue, session, instants }: Replayed): Promise<void> {
  const hits = await pageThrough(store, session, { limit: PAGE });
  checks.same(
    `${dialogue.id}: the episodes page back as the transcript`,
    hits.map(({ record }) => [record.id, record.validFrom, record.source, record.value]).reverse(),
    dialogue.turns.map((turn, index) => [turnName(index), instants[index], turn.speaker, redact(turnValue(turn))]),
  );
}
