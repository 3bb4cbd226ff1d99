// What a store is beside its operations: its driver within reach, its warnings told, its closing.

import { describe, expect, test } from "vitest";
import { faultOf, faultyDriver } from "../test/faulty-driver.ts";
import { untyped } from "../test/untyped.ts";
import { exportScope } from "./export.ts";
import { inMemoryDriver } from "./in-memory/driver.ts";
import { InMemoryMemoryStore } from "./in-memory.ts";
import type { MemoryEvent } from "./model/event.ts";
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
