// The ends of a belief write: when every race is lost, and when it had been written before.

import { expect, test } from "vitest";
import type { Clock } from "../clock.ts";
import { inMemoryDriver } from "../in-memory/driver.ts";
import { InMemoryMemoryStore } from "../in-memory.ts";
import { createMemoryStore } from "../store.ts";

test("a write that loses every race ends after its budget of waiting, also under a clock that stands still", async () => {
  const { profile, ...inner } = inMemoryDriver();
  if (profile === undefined) throw new Error("the section is missing");
  let commits = 0;
  const lost = async () => {
    commits += 1;
    return false;
  };
  const sleeps: number[] = [];
  const frozen: Clock = {
    now: () => 1_000,
    // What is longer than a step aside is an attempt's deadline, which is not to pass here.
    sleep: (ms) => (ms > 16 ? new Promise<never>(() => undefined) : Promise.resolve(void sleeps.push(ms))),
  };
  const store = createMemoryStore(
    { ...inner, profile: { ...profile, commit: lost } },
    { clock: frozen, entropy: () => 1, settings: { maxAttempts: 1, attemptTimeoutMs: 60, queueTimeoutMs: 40 } },
  );
  const write = store.upsert({ tenantId: "acme" }, { key: "k", value: 1, source: "s" });
  await expect(write).rejects.toMatchObject({ code: "MEMORY_UNAVAILABLE", outcome: "not-applied" });
  const waitedMs = sleeps.reduce((sum, ms) => sum + ms, 0);
  expect(waitedMs).toBeGreaterThanOrEqual(100);
  expect(waitedMs).toBeLessThan(100 + 16);
  expect(commits).toBeLessThan(15);
  expect(await store.history({ tenantId: "acme" })).toEqual([]);
});

test("a repeat answers what disagreed when it was written, not what disagrees now", async () => {
  const scope = { tenantId: "acme" };
  const store = new InMemoryMemoryStore();
  const fact = (subject: string) => ({ id: subject, key: "k", value: subject, source: "s", subject });
  await store.supersede(scope, fact("a"));
  const first = await store.supersede(scope, fact("b"));
  await store.supersede(scope, fact("c"));
  expect(first.contradiction?.holds.map(({ id }) => id)).toEqual(["a", "b"]);
  expect(await store.supersede(scope, fact("b"))).toEqual(first);
  expect(await store.supersede(scope, fact("a"))).toMatchObject({ resolution: "started", contradiction: null });
  expect(await store.history(scope)).toHaveLength(3);
});
