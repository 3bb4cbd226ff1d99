// The end of a write that loses every race: it is bounded by its budget, whatever the clock says.

import { expect, test } from "vitest";
import type { Clock } from "../clock.ts";
import { inMemoryDriver } from "../in-memory/driver.ts";
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
