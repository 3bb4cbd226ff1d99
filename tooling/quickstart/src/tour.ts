// A walk through what memory does, on the conversations that were just replayed: everything shown is read back from the
// store, and everything that is claimed is checked.

import {
  exportScope,
  isMemoryError,
  type MemoryRecord,
  type MemoryRecordInput,
  type MemoryScope,
  redact,
} from "@memory/core";
import { pageThrough } from "./checks.ts";
import { type Forgotten, forget } from "./forget.ts";
import { type Replayed, type Stage, TRANSCRIPT_KEY } from "./replay.ts";
import { type Screen, shown, shownInstant } from "./show.ts";
import { factKey } from "./transcript.ts";

const DAY_MS = 86_400_000;

/** How fast facts fade in the demo: half of their weight in thirty days, and below a fifth they are not recalled. */
export const DECAY = { halfLifeMs: 30 * DAY_MS, floor: 0.2 };

/** With this model what has nothing to do with a question still scores up to 0.40. */
const MIN_SCORE = 0.43;

/** Shows everything on the first conversation, and the others where they belong. */
export async function tour(stage: Stage, screen: Screen, all: readonly Replayed[]): Promise<void> {
  const [first] = all;
  if (first === undefined) return;
  await showTurns(stage, screen, first);
  await showFacts(stage, screen, first);
  await showContradiction(stage, screen, first.person);
  await showDecay(stage, screen, first.person);
  await showEpisodes(stage, screen, first);
  await showResemblance(stage, screen);
  await showRedaction(stage, screen, first);
  await showForgottenScope(stage, screen);
  await showErasure(stage, screen, all);
}

async function showTurns({ store, checks }: Stage, screen: Screen, { session, dialogue }: Replayed): Promise<void> {
  screen.section(
    "Working memory",
    "The task at hand: turns go in at the end, and only the newest few are read back, at a cost that does not grow.",
  );
  screen.call(`append(scope, "${TRANSCRIPT_KEY}", turn)   answered 1, 2, ... ${dialogue.turns.length}`);
  screen.call(`read(scope, "${TRANSCRIPT_KEY}", { last: 3 })`);
  const tail = await store.read(session, TRANSCRIPT_KEY, { last: 3 });
  const turns = Array.isArray(tail?.value) ? tail.value : [];
  checks.same("tour: three turns are read back", turns.length, 3);
  for (const turn of turns) screen.row(...said(turn));
}

async function showFacts({ store, checks }: Stage, screen: Screen, { person, instants }: Replayed): Promise<void> {
  screen.section(
    "Profile: facts that change",
    "What was agreed, as versions. Nothing is overwritten, so any moment of the past can be asked about.",
  );
  const key = factKey("Tables_1", "time");
  screen.call(`history(scope, "${key}")`);
  for (const { version, value, validFrom, validTo } of await store.history(person, key)) {
    screen.row(
      `version ${version}`,
      `${shown(value)}   from ${shownInstant(validFrom)}   ${validTo === undefined ? "on" : `to ${shownInstant(validTo)}`}`,
    );
  }
  screen.gap();
  screen.call(`profile(scope, "${key}", { asOf })`);
  for (const turn of [1, 3, 5]) {
    const record = await store.profile(person, key, { asOf: instants[turn - 1] ?? 0 });
    checks.same(
      `tour: the time as of turn ${turn}`,
      record?.value,
      [undefined, "seven o'clock", "half past seven"][(turn - 1) / 2],
    );
    screen.row(`as of turn ${turn}`, record === null ? "nothing yet" : shown(record.value));
  }
  screen.gap();
  const ended = factKey("Tables_1", "kitchen");
  screen.call(`profile(scope, "${ended}")`);
  const kitchen = await store.profile(person, ended);
  const [, kept] = await store.history(person, ended);
  checks.same("tour: what was taken back is not believed", [kitchen, kept?.value], [null, "vegetarian"]);
  screen.row("now", "nothing: it was taken back");
  screen.row(
    "on the trail",
    `${shown(kept?.value)}   from ${shownInstant(kept?.validFrom)}   to ${shownInstant(kept?.validTo)}`,
  );
}

async function showContradiction({ store, checks }: Stage, screen: Screen, person: MemoryScope): Promise<void> {
  screen.section(
    "Profile: a contradiction, and its settlement",
    "Two sources speak about different aspects of one thing. Both stay until somebody decides; no answer is made up.",
  );
  const key = "seat";
  const first = await store.supersede(person, fact(key, "by the window", "her booking form", ["seat"]));
  const second = await store.supersede(person, fact(key, "on the aisle", "her doctor's note", ["seat", "health"]));
  screen.row("booking form", "by the window");
  screen.row("doctor's note", `on the aisle   (resolution: ${second.resolution})`);
  screen.call(`profile(scope, "${key}")`);
  const refused = await caught(() => store.profile(person, key));
  checks.same("tour: the key is contradicted", isMemoryError(refused, "MEMORY_CONTRADICTION"), true);
  if (isMemoryError(refused, "MEMORY_CONTRADICTION")) showRefusal(screen, refused);
  const belief = await store.belief(person, key);
  const holds = belief.contradiction?.holds.map((record) => record.value);
  checks.same("tour: both are held", holds, ["by the window", "on the aisle"]);
  screen.call(`belief(scope, "${key}")`);
  screen.row("holds", (holds ?? []).map(shown).join(" / "));
  screen.call(`supersede(scope, fact, { resolves: [both ids] })`);
  await store.supersede(person, fact(key, "on the aisle, near the door", "her own word", ["seat"]), {
    resolves: [first.record.id, second.record.id],
  });
  const settled = await store.profile(person, key);
  checks.same("tour: the contradiction is settled", settled?.value, "on the aisle, near the door");
  screen.row("now", shown(settled?.value));
}

async function showDecay({ store, clock, checks }: Stage, screen: Screen, person: MemoryScope): Promise<void> {
  screen.section(
    "Profile: a fact that fades",
    "HalfLife of 30 days, floor 0.2: what nobody confirmed for long is no longer recalled. It is kept all the same.",
  );
  const key = "training";
  const saidAt = clock.now() - 90 * DAY_MS;
  await store.supersede(person, { ...fact(key, "runs every morning", "chat", ["sport"]), validFrom: saidAt });
  screen.call(`belief(scope, "${key}", { asOf })`);
  for (const days of [0, 30, 60, 90]) {
    const { record, weight, decayed } = await store.belief(person, key, { asOf: saidAt + days * DAY_MS });
    checks.same(
      `tour: what is recalled after ${days} days`,
      [record?.value, decayed.length],
      days < 90 ? ["runs every morning", 0] : [undefined, 1],
    );
    screen.row(
      `after ${days} days`,
      record === null
        ? `decayed, not recalled (${decayed.length} kept)`
        : `weight ${weight.toFixed(2)}   ${shown(record.value)}`,
    );
  }
  checks.same("tour: the history keeps it", (await store.history(person, key)).length, 1);
}

async function showEpisodes({ store, checks }: Stage, screen: Screen, { session, dialogue }: Replayed): Promise<void> {
  screen.section("Episodes", "What happened, newest first, a page at a time; every episode exactly once.");
  let cursor: string | null | undefined;
  let pages = 0;
  let seen = 0;
  do {
    const page = await store.page(session, { limit: 4 }, { cursor });
    pages += 1;
    screen.call(`page(scope, { limit: 4 }${pages === 1 ? "" : ", { cursor }"})`);
    for (const { record } of page.hits) {
      seen += 1;
      const [speaker, text] = said(record.value);
      screen.row(`${shownInstant(record.validFrom).slice(11)} ${speaker}`, text);
    }
    cursor = page.cursor;
  } while (cursor !== null);
  checks.same("tour: the pages hold every turn", seen, dialogue.turns.length);
}

async function showResemblance({ store, embedder, tenantId, checks }: Stage, screen: Screen): Promise<void> {
  screen.section(
    "Recall by resemblance",
    "Sentences as vectors of a real model. A question finds what means the same, also without a word in common; what resembles it less than minScore is no answer.",
  );
  const questions = [
    ["a hotel for the night", "weekend"],
    ["is my delivery late?", "raincoat"],
    ["dinner reservation", "dinner"],
  ] as const;
  const vectors = await embedder.embed(questions.map(([question]) => question));
  for (const [place, [question, expected]] of questions.entries()) {
    const query = { embedding: vectors[place] ?? [], reach: "under", minScore: MIN_SCORE } as const;
    const hits = await store.search({ tenantId }, query);
    screen.call(`search(tenant, "${question}", { reach: "under", minScore: ${MIN_SCORE} })`);
    for (const { record, score } of hits) screen.row(`score ${score.toFixed(2)}`, said(record.value)[1]);
    checks.same(`tour: "${question}" finds its conversation`, hits[0]?.record.scope.sessionId, expected);
  }
}

async function showRedaction(stage: Stage, screen: Screen, { session, dialogue, person }: Replayed): Promise<void> {
  const { store, checks } = stage;
  screen.section(
    "Redaction",
    "An e-mail address that somebody typed is masked before anything is stored, compared or embedded.",
  );
  const typed = dialogue.turns.find((turn) => turn.text.includes("@"))?.text ?? "";
  const episodes = await pageThrough(store, session, { limit: 100 });
  const kept = episodes.map(({ record }) => record).findLast((record) => record.redacted !== undefined);
  checks.same("tour: what is stored is what redact gives", said(kept?.value)[1], redact(typed));
  screen.row("typed", typed);
  screen.row("stored", said(kept?.value)[1]);
  screen.row("masked at", (kept?.redacted ?? []).join(", "));
  screen.row("embedded", "redact(text): the vector is that of what is stored");
  const contact = await store.profile(person, factKey("Tables_1", "contact"));
  screen.row("the fact", shown(contact?.value));
  let records = 0;
  let leaks = 0;
  for await (const exported of exportScope(store, { tenantId: stage.tenantId })) {
    records += 1;
    if (JSON.stringify(exported).includes("mina.okabe@")) leaks += 1;
  }
  checks.same("tour: the address is nowhere", [leaks, records > 0], [0, true]);
  screen.row("looked for it", `in all ${records} exported records: found in ${leaks}`);
}

async function showForgottenScope({ store, checks }: Stage, screen: Screen): Promise<void> {
  screen.section(
    "A forgotten scope",
    "There is no default tenant: a call that names none, or misspells a part, is refused before anything is read.",
  );
  // The compiler refuses both; this is what code without types would do.
  const attempts: readonly (readonly [string, readonly unknown[]])[] = [
    ["episodes()", []],
    ['episodes({ userId: "mina" })', [{ userId: "mina" }]],
    ['episodes({ tenantId: "demo", userid: "mina" })', [{ tenantId: "demo", userid: "mina" }]],
  ];
  for (const [text, args] of attempts) {
    screen.call(text);
    const refused = await caught(() => Reflect.apply(store.episodes, store, args));
    checks.same(`tour: ${text} is refused`, isMemoryError(refused, "MEMORY_SCOPE"), true);
    if (isMemoryError(refused)) showRefusal(screen, refused);
  }
}

async function showErasure(stage: Stage, screen: Screen, all: readonly Replayed[]): Promise<void> {
  const { checks, store, summaries } = stage;
  const [first, ...others] = all;
  if (first === undefined) return;
  screen.section(
    "Erasure",
    "A person asks to be forgotten: all four kinds, every version, and what was derived from them elsewhere.",
  );
  const artefactId = `summary of ${first.dialogue.id}`;
  screen.row("summary cache", shown(summaries.get(first.session, artefactId)));
  screen.call("erase(person, { dryRun: true })");
  const refused = await caught(() => store.erase(first.person, { dryRun: true }));
  checks.same("tour: several stores promise no forecast", isMemoryError(refused, "MEMORY_CAPABILITY"), true);
  if (isMemoryError(refused)) showRefusal(screen, refused);
  const { foretold, receipt, again } = await forget(stage, first.person, 1);
  screen.call("member.erase(person, { dryRun: true })   of each member");
  screen.row("would erase", counted(foretold));
  screen.call("erase(person)");
  screen.row("erased", `${counted(receipt)}   complete: ${receipt.complete}`);
  screen.row("purged in", receipt.adapters.join(", "));
  checks.same("tour: the derived summary is gone", summaries.get(first.session, artefactId), null);
  screen.row("summary cache", shown(summaries.get(first.session, artefactId) ?? "nothing"));
  screen.call("erase(person) again");
  screen.row("erased", counted(again));
  screen.call(`read(scope, "${TRANSCRIPT_KEY}")`);
  screen.row("now", shown(await store.read(first.session, TRANSCRIPT_KEY)));
  for (const { session, dialogue } of others) {
    const record = await store.read(session, TRANSCRIPT_KEY);
    checks.same(`tour: ${dialogue.id} is untouched`, Array.isArray(record?.value), true);
  }
  screen.row("other people", `${others.length} conversations, untouched`);
}

/** What a receipt counts, in words. */
export function counted({ counts, records, artefacts }: Forgotten["foretold"]): string {
  const kinds = Object.entries(counts).map(([kind, count]) => `${count} ${kind}`);
  const of = kinds.length === 0 ? "" : ` (${kinds.join(", ")})`;
  return `${records} records${of}, ${artefacts} derived`;
}

/** Who said what, of a remembered turn. */
export function said(value: MemoryRecord["value"] | undefined): readonly [speaker: string, text: string] {
  if (typeof value !== "object" || value === null || !("speaker" in value)) return ["", shown(value)];
  return [shown(value["speaker"]), shown(value["text"])];
}

function fact(key: string, value: string, source: string, predicate: readonly string[]): MemoryRecordInput {
  return { key, value, source, subject: "the guest", predicate };
}

function showRefusal(
  screen: Screen,
  error: { readonly name: string; readonly code: string; readonly message: string },
): void {
  screen.row("refused", `${error.name}, code ${error.code}`);
  screen.row("", error.message);
}

async function caught(attempt: () => Promise<unknown>): Promise<unknown> {
  try {
    return await attempt();
  } catch (error) {
    return error;
  }
}
