// What the demo remembers from run to run, in a tenant of its own: how many there were, and what the last one replayed. It
// is not forgotten with the conversations, and is there still where the engine keeps anything.

import type { MemoryRecord } from "@memory/core";
import type { Stage } from "./replay.ts";
import type { Screen } from "./show.ts";

const GUESTBOOK = { tenantId: "demo-guestbook" };

/** Counts this run, shows what the runs before it left, and checks that none of them is lost. */
export async function sign({ store, checks }: Stage, screen: Screen): Promise<void> {
  const last = await store.profile(GUESTBOOK, "runs");
  const run = typeof last?.value === "number" ? last.value + 1 : 1;
  await store.upsert(GUESTBOOK, { key: "runs", value: run, source: "the demo" });
  const counts = (await store.history(GUESTBOOK, "runs")).map(({ value }) => value);
  checks.same(
    "the guest book has every run",
    counts,
    [...Array(run).keys()].map((before) => before + 1),
  );
  screen.row("run", run === 1 ? "the first here" : `number ${run} here, as it remembers`);
  const done = await store.profile(GUESTBOOK, "done");
  if (done !== null) screen.row("the last one", wordsOf(done));
}

/** Notes what this run did, for the next one to show. */
export async function note({ store }: Stage, words: string): Promise<void> {
  await store.upsert(GUESTBOOK, { key: "done", value: words, source: "the demo" });
}

function wordsOf({ value }: MemoryRecord): string {
  return typeof value === "string" ? value : "left something else than words";
}
