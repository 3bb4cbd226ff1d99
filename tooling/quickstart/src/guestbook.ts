// What the demo remembers from run to run, in a tenant of its own: how many there were, and what the last one did, once in
// every kind. It is not forgotten with the conversations, and is there still where the engine keeps anything.

import type { MemoryRecord } from "@memory/core";
import { pageThrough } from "./checks.ts";
import type { Stage } from "./replay.ts";
import type { Screen } from "./show.ts";

const GUESTBOOK = { tenantId: "demo-guestbook" };
const SOURCE = "the demo";

/** Counts this run, shows what the runs before it left, and checks that none of it is lost; answers with its number. */
export async function sign(stage: Stage, screen: Screen): Promise<number> {
  const { store, checks } = stage;
  const last = await store.profile(GUESTBOOK, "runs");
  const run = typeof last?.value === "number" ? last.value + 1 : 1;
  await store.upsert(GUESTBOOK, { key: "runs", value: run, source: SOURCE });
  const counts = (await store.history(GUESTBOOK, "runs")).map(({ value }) => value);
  checks.same(
    "the guest book has every run",
    counts,
    [...Array(run).keys()].map((before) => before + 1),
  );
  screen.row("run", run === 1 ? "the first here" : `number ${run} here, as it remembers`);
  // What was noted last, whatever the time of its story.
  const done = (await store.history(GUESTBOOK, "done")).at(-1);
  if (done !== undefined) await recall(stage, screen, done);
  return run;
}

/** Notes what this run did, for the next one to show. */
export async function note({ store, embedder }: Stage, run: number, words: string): Promise<void> {
  const key = keyOf(run);
  const [embedding = []] = await embedder.embed([words]);
  await store.append(GUESTBOOK, "runs", words, { source: SOURCE });
  await store.log(GUESTBOOK, { id: key, key: "run", value: words, source: SOURCE });
  await store.index(GUESTBOOK, { key, value: words, source: SOURCE, embedding });
  // The last: it says that the others are there.
  await store.upsert(GUESTBOOK, { key: "done", value: { run, words }, source: SOURCE });
}

async function recall({ store, checks }: Stage, screen: Screen, { value }: MemoryRecord): Promise<void> {
  if (!isNote(value)) return;
  const { run, words } = value;
  screen.row("the last one", words);
  const episodes = await pageThrough(store, GUESTBOOK, { limit: 500 });
  const episode = episodes.find(({ record }) => record.id === keyOf(run));
  checks.same("the guest book has the last run as an episode", episode?.record.value, words);
  const known = await store.recall(GUESTBOOK, keyOf(run));
  checks.same("the guest book has the last run among things known", known?.value, words);
  const turns = await store.read(GUESTBOOK, "runs", { last: 1 });
  const isTurn = Array.isArray(turns?.value) && turns.value[0] === words;
  screen.row("remembered as", `a fact, an episode and a vector${isTurn ? ", and still a turn of working memory" : ""}`);
}

function keyOf(run: number): string {
  return `run-${run}`;
}

function isNote(value: unknown): value is { readonly run: number; readonly words: string } {
  if (typeof value !== "object" || value === null || !("run" in value) || !("words" in value)) return false;
  return typeof value.run === "number" && typeof value.words === "string";
}
