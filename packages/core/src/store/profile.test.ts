// Long lists: a page of beliefs goes on at the instants that it was asked for, a history over as many trips as it takes.

import { expect, test } from "vitest";
import { inMemoryDriver } from "../in-memory/driver.ts";
import { InMemoryMemoryStore } from "../in-memory.ts";
import { createMemoryStore } from "../store.ts";

const scope = { tenantId: "acme" };

test("a cursor of beliefs at one instant is refused for another", async () => {
  const store = new InMemoryMemoryStore();
  for (const key of ["a", "b", "c"]) await store.upsert(scope, { key, value: 1, source: "s", validFrom: 0 });
  for (const instants of [{ asOf: 5 }, { knownAt: 8e15 }, { asOf: 5, knownAt: 8e15 }]) {
    const { cursor } = await store.beliefs(scope, { ...instants, limit: 2 });
    if (cursor === null) throw new Error("there is no second page");
    const rest = await store.beliefs(scope, { ...instants, limit: 2, cursor });
    expect(rest.beliefs.map(({ key }) => key)).toEqual(["c"]);
    for (const other of [{}, { asOf: 6 }, { knownAt: 7e15 }, { asOf: 8e15, knownAt: 5 }]) {
      await expect(store.beliefs(scope, { ...other, cursor })).rejects.toMatchObject({ code: "MEMORY_CURSOR" });
    }
  }
});

test("a history longer than one trip comes back whole and in order", async () => {
  const inner = inMemoryDriver();
  const { profile } = inner;
  if (profile === undefined) throw new Error("the section is missing");
  let trips = 0;
  const history: typeof profile.history = (request, call) => {
    trips += 1;
    return profile.history(request, call);
  };
  const store = createMemoryStore({ ...inner, profile: { ...profile, history } });
  for (let value = 1; value <= 1_001; value += 1) await store.upsert(scope, { key: "k", value, source: "s" });
  expect((await store.history(scope)).map(({ version }) => version)).toEqual(
    Array.from({ length: 1_001 }, (_, at) => at + 1),
  );
  expect(trips).toBe(2);
});
