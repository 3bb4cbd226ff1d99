// Pages of beliefs: a page goes on with the list that it began, at the instants that it was asked for.

import { expect, test } from "vitest";
import { InMemoryMemoryStore } from "../in-memory.ts";

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
