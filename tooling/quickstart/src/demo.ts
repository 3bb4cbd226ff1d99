// The demo from its arguments to its exit code: replay, check, show, forget. Everything that a test wants to put in the
// place of the real thing comes in from outside.

import { setImmediate as breathe } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { HalfLife, isMemoryError, redact, requireMemory } from "@memory/core";
import { ArgumentError, type Arguments, HELP, parseArguments } from "./arguments.ts";
import { Checks, checkDialogue, checkResemblance, checkTenant } from "./checks.ts";
import { StoryClock } from "./clock.ts";
import { EngineError } from "./database.ts";
import type { Embedder } from "./embed.ts";
import type { Engine, EngineOptions } from "./engine.ts";
import { forget } from "./forget.ts";
import { note, sign } from "./guestbook.ts";
import { type Replayed, replay, type Stage, turnName } from "./replay.ts";
import { type Output, Screen, shown } from "./show.ts";
import { SummaryCache } from "./summaries.ts";
import { counted, DECAY, said, tour } from "./tour.ts";
import { type Dialogue, readTranscript, TranscriptError } from "./transcript.ts";

/** What the demo runs in. */
export interface Surroundings {
  readonly output: Output;
  /** Where it says what is wrong. */
  readonly complaints: Output;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly startEngine: (options: EngineOptions) => Promise<Engine>;
  readonly embedder: Embedder;
  /** A clock for the time taken, in milliseconds from anywhere. */
  readonly elapsedMs: () => number;
}

const OWN_TRANSCRIPT = fileURLToPath(new URL("../data/conversations.jsonl", import.meta.url));
const TENANT = "demo";
const START = Date.UTC(2026, 4, 4, 9);
const SHOWN_MISMATCHES = 10;

/** Runs the demo and gives its exit code: 0, or 1 for any mismatch and for whatever cannot be used. */
export async function runDemo(args: readonly string[], surroundings: Surroundings): Promise<number> {
  const { output, complaints, environment } = surroundings;
  try {
    const { help, ...wanted } = parseArguments(args);
    if (help) {
      output.write(HELP);
      return 0;
    }
    const dialogues = await readTranscript(wanted.input ?? OWN_TRANSCRIPT);
    const screen = new Screen(output, environment);
    return await perform(surroundings, screen, dialogues, wanted);
  } catch (error) {
    if (error instanceof ArgumentError) complaints.write(`${error.message}\n\n${HELP}`);
    else if (error instanceof TranscriptError || error instanceof EngineError) complaints.write(`${error.message}\n`);
    else if (isMemoryError(error))
      complaints.write(`The store refused: ${error.name} (${error.code}): ${error.message}\n`);
    else throw error;
    return 1;
  }
}

async function perform(
  surroundings: Surroundings,
  screen: Screen,
  dialogues: readonly Dialogue[],
  wanted: Omit<Arguments, "help">,
): Promise<number> {
  const { startEngine, embedder, elapsedMs } = surroundings;
  const started = elapsedMs();
  const { input, embed, ...places } = wanted;
  const engine = await startEngine({ ...places, embedder });
  try {
    const clock = new StoryClock(START);
    const summaries = new SummaryCache();
    const bound = engine.open({ clock, decay: new HalfLife(DECAY), derivedIndices: [summaries] });
    const stage: Stage = { ...bound, clock, tenantId: TENANT, summaries, embedder, checks: new Checks() };
    try {
      introduce(screen, engine, embedder, input);
      await verify(stage, engine);
      const run = await sign(stage, screen);
      const figures = await play(stage, screen, dialogues, { input, embed });
      const { dialogues: replayed, turns } = figures;
      await note(stage, run, `replayed ${replayed} conversations of ${turns} turns, ${stage.checks.failed} mismatches`);
      return conclude(stage, screen, figures, (elapsedMs() - started) / 1_000);
    } finally {
      await bound.store.close();
    }
  } finally {
    await engine.close();
  }
}

function introduce(screen: Screen, { places, startOver }: Engine, embedder: Embedder, input: string | undefined): void {
  screen.title(`Memory, shown on ${input ?? "a few conversations"}`);
  screen.row("store", "RoutedMemoryStore, which binds three as one");
  for (const [slot, place] of Object.entries(places)) screen.row(`  ${slot}`, place);
  if (startOver !== undefined) screen.row("to begin anew", startOver);
  screen.row("embeddings", embedder.label);
}

async function verify({ store, embedder }: Stage, { startOver }: Engine): Promise<void> {
  requireMemory(store, {
    working: true,
    profile: true,
    episodic: true,
    semantic: true,
    asOf: true,
    knownAt: true,
    supersession: true,
    erasure: true,
    reach: true,
    embeddingDimensions: embedder.dimensions,
  });
  try {
    await store.verify();
  } catch (error) {
    const isOfTables = isMemoryError(error, "MEMORY_SCHEMA") || isMemoryError(error, "EMBEDDING_DIMENSION");
    if (!isOfTables || startOver === undefined) throw error;
    const findings = error.code === "MEMORY_SCHEMA" ? error.findings : [];
    throw new EngineError(
      [error.message, ...findings, `If these are tables of an earlier version, begin anew: ${startOver}`].join("\n"),
    );
  }
}

async function play(
  stage: Stage,
  screen: Screen,
  dialogues: readonly Dialogue[],
  { input, embed }: Pick<Arguments, "input" | "embed">,
): Promise<Figures> {
  const { store } = stage;
  const before = await store.erase({ tenantId: TENANT });
  if (before.records > 0) screen.row("cleared", `${counted(before)} of an earlier run`);
  const all = await replayAll(stage, screen, dialogues, input === undefined ? Number.POSITIVE_INFINITY : embed);
  const figures = tally(all);
  if (input === undefined) {
    await tour(stage, screen, all);
    await forget(stage, { tenantId: TENANT }, all.length - 1);
    return figures;
  }
  await showInput(stage, screen, all);
  const { receipt } = await forget(stage, { tenantId: TENANT }, all.length);
  checkCounts(stage, receipt.counts, figures);
  screen.call(`erase({ tenantId: "${TENANT}" })`);
  screen.row("erased", `${counted(receipt)}   complete: ${receipt.complete}`);
  return figures;
}

async function replayAll(
  stage: Stage,
  screen: Screen,
  dialogues: readonly Dialogue[],
  embedAtMost: number,
): Promise<readonly Replayed[]> {
  const isLong = dialogues.length >= 20;
  const all: Replayed[] = [];
  let left = embedAtMost;
  if (isLong) screen.gap();
  for (const dialogue of dialogues) {
    const replayed = await replay(stage, dialogue, left);
    left -= replayed.embedded.length;
    all.push(replayed);
    if (isLong) screen.progress("replayed", all.length, dialogues.length);
    await breathe();
  }
  // Asked when all of it is in memory, so that a conversation that leaks into another shows.
  for (const [index, replayed] of all.entries()) {
    await checkDialogue(stage, replayed);
    await checkResemblance(stage, replayed);
    if (isLong) screen.progress("checked ", index + 1, all.length);
    await breathe();
  }
  await checkTenant(stage, all);
  return all;
}

// Real conversations are not told again; what is shown is what resembles what across them.
async function showInput({ store, tenantId }: Stage, screen: Screen, all: readonly Replayed[]): Promise<void> {
  const embedded = all.filter((replayed) => replayed.embedded.length > 0);
  const chosen = new Set([embedded[0], embedded[embedded.length >> 1], embedded.at(-1)]);
  if (embedded.length > 1) {
    screen.section(
      "Recall by resemblance",
      "For the longest embedded turn of a conversation, the closest turn of another one.",
    );
    for (const replayed of chosen) {
      if (replayed === undefined) continue;
      const { session, dialogue } = replayed;
      const lengthOf = (turn: number): number => dialogue.turns[turn]?.text.length ?? 0;
      const index = replayed.embedded.reduce((longest, one) => (lengthOf(one) > lengthOf(longest) ? one : longest));
      const record = await store.recall(session, turnName(index));
      const hits = await store.search({ tenantId }, { embedding: record?.embedding ?? [], reach: "under", limit: 50 });
      const other = hits.find((hit) => hit.record.scope.sessionId !== session.sessionId);
      screen.row(dialogue.id, redact(dialogue.turns[index]?.text ?? ""));
      if (other === undefined) continue;
      screen.row(`  ${other.score.toFixed(2)}`, `${said(other.record.value)[1]}  (${other.record.scope.sessionId})`);
    }
  }
  screen.section("Erasure", "Everything that was replayed is forgotten, with the summary of each conversation.");
}

interface Figures {
  readonly dialogues: number;
  readonly turns: number;
  readonly facts: number;
  readonly versions: number;
  readonly episodes: number;
  readonly userTurns: number;
  readonly embedded: number;
}

function tally(all: readonly Replayed[]): Figures {
  const sum = (of: (one: Replayed) => number): number => all.reduce((total, one) => total + of(one), 0);
  const turns = sum(({ dialogue }) => dialogue.turns.length);
  return {
    dialogues: all.length,
    turns,
    facts: sum(({ dialogue }) => new Set(dialogue.turns.flatMap(({ facts }) => [...(facts?.keys() ?? [])])).size),
    versions: sum(({ versions }) => versions),
    episodes: turns,
    userTurns: sum(({ dialogue }) => dialogue.turns.filter(({ speaker }) => speaker === "user").length),
    embedded: sum(({ embedded }) => embedded.length),
  };
}

// What was written, counted on the way in, is what the receipt counted on the way out.
function checkCounts({ checks }: Stage, counts: Readonly<Partial<Record<string, number>>>, figures: Figures): void {
  const { dialogues, versions, episodes, embedded } = figures;
  const said = [counts["working"], counts["profile"] ?? 0, counts["episodic"], counts["semantic"] ?? 0];
  checks.same("the receipt counts what was written", said, [dialogues, versions, episodes, embedded]);
}

function conclude({ checks }: Stage, screen: Screen, figures: Figures, seconds: number): number {
  screen.section("Figures", "What was replayed, and how many answers were compared with what they had to be.");
  screen.row("dialogues", String(figures.dialogues));
  screen.row("turns", `${figures.turns}, each appended and logged as an episode`);
  screen.row("facts", `${figures.facts} (slots, and services in use) in ${figures.versions} versions`);
  screen.row("episodes", String(figures.episodes));
  screen.row("embedded", `${figures.embedded} of ${figures.userTurns} user turns, from the first on`);
  screen.row("checks", String(checks.made));
  screen.row("mismatches", String(checks.failed));
  screen.row("seconds", seconds.toFixed(1));
  screen.gap();
  for (const { what, actual, expected } of checks.mismatches.slice(0, SHOWN_MISMATCHES)) {
    screen.verdict(false, `Mismatch: ${what}`);
    screen.row("answered", shown(actual));
    screen.row("expected", shown(expected));
  }
  screen.verdict(
    checks.failed === 0,
    checks.failed === 0 ? "Every answer was what it had to be." : `${checks.failed} answers were wrong.`,
  );
  return checks.failed === 0 ? 0 : 1;
}
