// What a store is beside its operations: its driver within reach, its warnings told, its closing.

import { describe, expect, test } from "vitest";
import { faultOf, faultyDriver } from "../test/faulty-driver.ts";
import { untyped } from "../test/untyped.ts";
import { eachVersion, exportScope } from "./export.ts";
import { inMemoryDriver } from "./in-memory/driver.ts";
import { InMemoryMemoryStore } from "./in-memory.ts";
import type { MemoryEvent } from "./model/event.ts";
import type { MemoryStore } from "./model/protocol.ts";
import { createMemoryStore, driverOf } from "./store.ts";

const scope = { tenantId: "acme" };

describe("driverOf", () => {
  test("gives the driver guarded: what goes down passes the store's own retries, and says of errors what it said", async () => {
    const inner = faultyDriver(["clean"]);
    const driver = driverOf(createMemoryStore(inner, { settings: { backoffMs: 0 } }));
    const call = { now: 0, attempt: 1, budgetMs: 1, signal: new AbortController().signal };
    expect(driver.guarded).toBe(true);
    expect(await driver.working?.get({ scope, key: "k", last: undefined }, call)).toBeNull();
    expect(inner.calls.map(({ attempt }) => attempt)).toEqual([1, 2]);
    const said = (error: Error) => [
      driver.isTransient(error),
      driver.isExhausted(error),
      driver.hadNoEffect?.(error),
      driver.toMemoryError?.(error)?.code,
    ];
    expect(said(faultOf("clean"))).toEqual([true, false, true, undefined]);
    expect(said(faultOf("exhausted"))).toEqual([false, true, false, undefined]);
    expect(said(faultOf("narrow"))).toEqual([false, false, false, "MEMORY_SCHEMA"]);
    expect(said(new Error("unknown"))).toEqual([false, false, false, undefined]);
  });

  test.each([{}, null, undefined, "store"])(
    "refuses %j, which is no store of ours, and so does an export",
    async (other) => {
      expect(() => driverOf(untyped(other))).toThrow(
        expect.objectContaining({ code: "MEMORY_SETTINGS", setting: "store" }),
      );
      await expect(exportScope(untyped(other), scope).next()).rejects.toMatchObject({ code: "MEMORY_SETTINGS" });
    },
  );
});

test("what `verify` finds unwise is told to the observer, before the operation itself", async () => {
  const events: MemoryEvent[] = [];
  const warning = { code: "redis-eviction", message: "keys may be evicted" };
  const store = createMemoryStore(
    { ...inMemoryDriver(), verify: async () => [warning] },
    { onEvent: (event) => events.push(event) },
  );
  await store.verify();
  expect(events).toMatchObject([
    { name: "adk.memory.warning", store: "in-memory", ...warning },
    { name: "adk.memory.operation", operation: "verify", outcome: "ok" },
  ]);
});

test("`await using` closes the store", async () => {
  const store = new InMemoryMemoryStore();
  {
    await using used = store;
    await used.verify();
  }
  await expect(store.verify()).rejects.toMatchObject({ code: "MEMORY_UNAVAILABLE", attempts: 0 });
});

describe("a list under a scope is refused where its own section does not reach, whatever the others do:", () => {
  const under = { reach: "under" } as const;
  test.each<[string, "working" | "profile" | "episodic" | "semantic", (store: MemoryStore) => Promise<unknown>]>([
    ["keys", "working", (store) => store.keys(scope, under)],
    ["beliefs", "profile", (store) => store.beliefs(scope, under)],
    ["history", "profile", (store) => store.history(scope, undefined, under)],
    ["eachVersion", "profile", (store) => eachVersion(store, scope, under).next()],
    ["episodes", "episodic", (store) => store.episodes(scope, under)],
    ["page", "episodic", (store) => store.page(scope, under)],
    ["search", "semantic", (store) => store.search(scope, { embedding: [1], ...under })],
    ["exportScope", "semantic", (store) => exportScope(store, scope).next()],
  ])("%s", async (_name, kind, list) => {
    const whole = inMemoryDriver({ embeddingDimensions: 1 });
    await expect(list(createMemoryStore(whole))).resolves.toBeDefined();
    const { under: _, ...section } = untyped<{ readonly under: true }>(whole[kind]);
    const store = createMemoryStore(untyped({ ...whole, [kind]: section }));
    await expect(list(store)).rejects.toMatchObject({ code: "MEMORY_CAPABILITY", missing: ["reach"] });
  });
});

test.each([
  ["options", null],
  ["options", 7],
  ["redacter", { redacter: null }],
  ["onEvent", { onEvent: {} }],
  ["derivedIndices", { derivedIndices: [{ name: "", purge: async () => undefined }] }],
])("a store's options are refused by the name of the first that is wrong: %s", (setting, options) => {
  expect(() => createMemoryStore(inMemoryDriver(), untyped(options))).toThrow(
    expect.objectContaining({ code: "MEMORY_SETTINGS", setting }),
  );
});
