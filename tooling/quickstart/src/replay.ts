// Conversations put into memory, turn by turn, as an agent would while it talks: each turn appended to working memory and
// logged as an episode, each fact that appears or changes superseding what was held, each fact that is gone ended. While
// it goes, what the store answers is compared with what it has to answer.

import { isDeepStrictEqual } from "node:util";
import { type EpochMs, type MemoryScope, type MemoryStore, redact } from "@memory/core";
import type { RoutedMembers } from "@memory/routed";
import type { Checks } from "./checks.ts";
import type { StoryClock } from "./clock.ts";
import type { Embedder } from "./embed.ts";
import type { SummaryCache } from "./summaries.ts";
import type { Dialogue, Fact, Facts, Turn } from "./transcript.ts";
import { beliefsAt, truthAt } from "./truth.ts";

/** What a replay works with. */
export interface Stage {
  readonly store: MemoryStore;
  /** What the store binds. */
  readonly members: RoutedMembers;
  readonly clock: StoryClock;
  readonly tenantId: string;
  readonly summaries: SummaryCache;
  readonly embedder: Embedder;
  readonly checks: Checks;
}

/** A conversation that was put into memory. */
export interface Replayed {
  readonly dialogue: Dialogue;
  /** Where the person's facts are. */
  readonly person: MemoryScope;
  /** Where the conversation is: its turns and episodes. */
  readonly session: MemoryScope;
  /** When each turn was said. */
  readonly instants: readonly EpochMs[];
  /** Profile versions written. */
  readonly versions: number;
  /** Turns that were embedded, counted from 0. */
  readonly embedded: readonly number[];
}

/** The key under which a conversation's turns are. */
export const TRANSCRIPT_KEY = "transcript";
const TURN_MS = 20_000;
// From the end of a conversation to the beginning of the next.
const PAUSE_MS = 3_600_000;

/** The id of a turn's episode, and the key of its vector: in the order of the turns. */
export function turnName(index: number): string {
  return `turn-${String(index + 1).padStart(6, "0")}`;
}

/** A turn as it is remembered, before masking. */
export function turnValue({ speaker, text }: Turn): { readonly speaker: string; readonly text: string } {
  return { speaker, text };
}

/** Puts a conversation into memory from the clock's instant on, and embeds up to `embedAtMost` of the user's turns. */
export async function replay(stage: Stage, dialogue: Dialogue, embedAtMost: number): Promise<Replayed> {
  const { store, clock, checks, tenantId } = stage;
  const person: MemoryScope = { tenantId, userId: `guest-${dialogue.id}` };
  const session: MemoryScope = { ...person, sessionId: dialogue.id };
  const instants: EpochMs[] = [];
  const facts = new FactWriter(stage, dialogue, person);
  let at = clock.now();
  for (const [index, turn] of dialogue.turns.entries()) {
    const here = `${dialogue.id} turn ${index + 1}`;
    clock.moveTo(at);
    instants.push(at);
    const position = await store.append(session, TRANSCRIPT_KEY, turnValue(turn), { source: "conversation" });
    checks.same(`${here}: position of the append`, position, index + 1);
    await store.log(session, {
      id: turnName(index),
      key: "turn",
      value: turnValue(turn),
      source: turn.speaker,
      validFrom: at,
    });
    if (turn.facts !== undefined) await facts.become(turn.facts, at, here);
    checks.same(`${here}: beliefs now`, await beliefsAt(store, person), truthAt(dialogue, index));
    at += TURN_MS;
  }
  const embedded = await embedTurns(stage, dialogue, session, embedAtMost);
  await summarise(stage, dialogue, session);
  clock.moveTo(at + PAUSE_MS);
  return { dialogue, person, session, instants, versions: facts.versions, embedded };
}

interface Held {
  readonly fact: Fact;
  readonly since: EpochMs;
}

class FactWriter {
  versions = 0;
  readonly #stage: Stage;
  readonly #dialogue: Dialogue;
  readonly #person: MemoryScope;
  readonly #held = new Map<string, Held>();
  readonly #known = new Set<string>();

  constructor(stage: Stage, dialogue: Dialogue, person: MemoryScope) {
    this.#stage = stage;
    this.#dialogue = dialogue;
    this.#person = person;
  }

  async become(facts: Facts, at: EpochMs, here: string): Promise<void> {
    for (const [key, held] of this.#held) {
      // It held from then until now: a correction, which names the `validFrom` of what it corrects. The store is silent
      // about the key from here on, and no value that nobody stated is ever believed.
      if (!facts.has(key)) {
        await this.#write(key, held.fact, { validFrom: held.since, validTo: at }, here);
        this.#held.delete(key);
      }
    }
    for (const [key, fact] of facts) {
      if (isDeepStrictEqual(this.#held.get(key)?.fact.value, fact.value)) continue;
      await this.#write(key, fact, { validFrom: at }, here);
      this.#held.set(key, { fact, since: at });
    }
  }

  async #write(
    key: string,
    fact: Fact,
    window: { readonly validFrom: EpochMs; readonly validTo?: EpochMs },
    here: string,
  ): Promise<void> {
    const { store, checks } = this.#stage;
    const before = this.#held.get(key);
    const answer = await store.supersede(this.#person, {
      key,
      value: fact.value,
      source: `conversation ${this.#dialogue.id}`,
      subject: fact.service,
      predicate: [fact.slot ?? "in use"],
      ...window,
    });
    this.versions += 1;
    checks.same(
      `${here}: what ${key} supersedes`,
      [answer.resolution, answer.superseded?.value, answer.contradiction],
      [
        this.#known.has(key) ? "supersede" : "started",
        before === undefined ? undefined : redact(before.fact.value),
        null,
      ],
    );
    this.#known.add(key);
  }
}

// What `redact` gives is embedded, because that is what is stored: no vector of an address that the text has lost.
async function embedTurns(
  { store, embedder }: Stage,
  dialogue: Dialogue,
  session: MemoryScope,
  atMost: number,
): Promise<readonly number[]> {
  const chosen = [...dialogue.turns.entries()]
    .filter(([, turn]) => turn.speaker === "user" && turn.text.trim() !== "")
    .slice(0, atMost);
  if (chosen.length === 0) return [];
  const vectors = await embedder.embed(chosen.map(([, turn]) => redact(turn.text)));
  await store.indexAll(
    session,
    chosen.map(([index, turn], place) => ({
      key: turnName(index),
      value: turnValue(turn),
      source: "conversation",
      embedding: vectors[place] ?? [],
      metadata: { speaker: turn.speaker },
    })),
  );
  return chosen.map(([index]) => index);
}

async function summarise({ store, summaries }: Stage, dialogue: Dialogue, session: MemoryScope): Promise<void> {
  const artefactId = `summary of ${dialogue.id}`;
  const source = await store.read(session, TRANSCRIPT_KEY, { last: 1 });
  if (source === null) return;
  summaries.put(session, artefactId, `${dialogue.turns.length} turns about ${dialogue.services.join(", ")}`);
  await store.derived(session, {
    artefactId,
    sourceKind: "working",
    sourceId: source.id,
    adapter: summaries.name,
  });
}
