// `verify` and `close` reach every member and tell of every failure.

import {
  EmbeddingDimensionError,
  isMemoryError,
  type MemoryEvent,
  MemorySchemaError,
  MemoryUnavailableError,
  PoolExhaustedError,
} from "@memory/core";
import { createMemoryStore, type MemoryDriver } from "@memory/core/driver";
import { inMemoryDriver } from "@memory/core/in-memory";
import { FakeClock } from "@memory/testing";
import { describe, expect, it } from "vitest";
import { RoutedMemoryStore } from "./index.ts";
import type { Slot } from "./members.ts";

const WITHOUT = {
  working: ["profile", "episodic", "semantic"],
  durable: ["working", "semantic"],
  semantic: ["working", "profile", "episodic"],
} as const;

function bind(parts: Partial<Record<Slot, Partial<MemoryDriver>>>, events: MemoryEvent[] = []): RoutedMemoryStore {
  const member = (slot: Slot) =>
    createMemoryStore({ ...inMemoryDriver({ without: WITHOUT[slot] }), name: slot, ...parts[slot] });
  return new RoutedMemoryStore(
    { working: member("working"), durable: member("durable"), semantic: member("semantic") },
    { onEvent: (event) => events.push(event) },
  );
}

const failing = (error: unknown): Partial<MemoryDriver> => ({ verify: () => Promise.reject(error) });
const warning = (code: string): Partial<MemoryDriver> => ({ verify: async () => [{ code, message: code }] });
const schema = (...findings: readonly string[]) => new MemorySchemaError("not as it must be", { findings });
const unavailable = (store: string, outcome: "not-applied" | "unknown" = "not-applied") =>
  new MemoryUnavailableError(`${store} is down`, { store, attempts: 3, outcome });

async function reason(promise: Promise<unknown>): Promise<unknown> {
  return await promise.then(
    () => undefined,
    (error: unknown) => error,
  );
}

describe("verify", () => {
  it("asks every member at once and tells the warnings of all", async () => {
    const events: MemoryEvent[] = [];
    await bind({ working: warning("w"), semantic: warning("s") }, events).verify();
    const told = events.flatMap((event) => (event.name === "adk.memory.warning" ? [event.code] : []));
    expect(told).toEqual(["w", "s"]);
  });

  it("passes on what the only failing member says", async () => {
    const error = schema("no table");
    expect(await reason(bind({ durable: failing(error) }).verify())).toBe(error);
  });

  it("joins the findings of all that are not as they must be, with what is out of reach", async () => {
    const error = await reason(
      bind({
        working: failing(unavailable("working")),
        durable: failing(schema("no table", "no index")),
        semantic: failing(schema("no extension")),
      }).verify(),
    );
    expect(error).toMatchObject({
      code: "MEMORY_SCHEMA",
      findings: ["working: working is down", "durable: no table", "durable: no index", "semantic: no extension"],
    });
  });

  it("parts the statements that mend them by one semicolon", async () => {
    const mends = { durable: failing(schema("no table: CREATE t;")), semantic: failing(schema("no index: CREATE i;")) };
    const { message } = (await reason(bind(mends).verify())) as Error;
    expect(message).toBe("2 findings in the member stores: durable: no table: CREATE t; semantic: no index: CREATE i");
  });

  it("keeps a wrong width a wrong width, the rest in its schema", async () => {
    const width = new EmbeddingDimensionError("384", { expected: 384, received: 512, schema: schema("no index") });
    const error = await reason(bind({ durable: failing(schema("no table")), semantic: failing(width) }).verify());
    expect(error).toMatchObject({
      code: "EMBEDDING_DIMENSION",
      expected: 384,
      received: 512,
      schema: { findings: ["durable: no table", "semantic: no index"] },
    });
  });

  it("names every member that is out of reach", async () => {
    const error = await reason(
      bind({ working: failing(unavailable("working")), durable: failing(unavailable("durable", "unknown")) }).verify(),
    );
    expect(error).toMatchObject({
      code: "MEMORY_UNAVAILABLE",
      store: "working, durable",
      attempts: 6,
      outcome: "unknown",
    });
  });

  it("takes a member without room for one that is out of reach, and not for one whose schema is wrong", async () => {
    const full = new PoolExhaustedError("durable has no room", { store: "durable", queued: 3 });
    const both = bind({ working: failing(unavailable("working", "unknown")), durable: failing(full) });
    expect(await reason(both.verify())).toMatchObject({
      code: "MEMORY_UNAVAILABLE",
      store: "working, durable",
      attempts: 3,
      outcome: "unknown",
    });
    const full2 = new PoolExhaustedError("semantic has no room", { store: "semantic", queued: 3 });
    expect(await reason(bind({ durable: failing(full), semantic: failing(full2) }).verify())).toMatchObject({
      code: "MEMORY_UNAVAILABLE",
      store: "durable, semantic",
      attempts: 0,
      outcome: "not-applied",
    });
  });

  it("is stopped by the caller with the caller's reason", async () => {
    const hang: Partial<MemoryDriver> = { verify: () => new Promise(() => undefined) };
    const controller = new AbortController();
    const stop = new Error("enough");
    const asked = reason(bind({ working: hang, durable: hang }).verify({ signal: controller.signal }));
    controller.abort(stop);
    expect(await asked).toBe(stop);
  });
});

describe("close", () => {
  it("waits for what is under way for one deadline, not for one in each layer", async () => {
    const clock = new FakeClock();
    const asked = Promise.withResolvers<void>();
    const inner = inMemoryDriver({ without: WITHOUT.working });
    const { working } = inner;
    if (working === undefined) throw new Error("the section is missing");
    const get = (): Promise<never> => {
      asked.resolve();
      return new Promise(() => undefined);
    };
    const own = { clock, settings: { attemptTimeoutMs: 60_000, maxAttempts: 3, backoffMs: 0 } };
    const store = new RoutedMemoryStore({
      working: createMemoryStore({ ...inner, working: { ...working, get } }, own),
      durable: createMemoryStore(inMemoryDriver({ without: WITHOUT.durable }), own),
      semantic: createMemoryStore(inMemoryDriver({ without: WITHOUT.semantic }), own),
    });
    const stuck = reason(store.read({ tenantId: "acme" }, "k"));
    await asked.promise;
    const closed = store.close();
    clock.advance(60_000);
    // Its second attempt is under way by now, and would last as long again.
    await closed;
    clock.advance(60_000);
    expect(await stuck).toMatchObject({ code: "MEMORY_UNAVAILABLE", attempts: 2 });
  });

  it("closes every member once, also when some fail, and tells of all that did", async () => {
    const closed: string[] = [];
    const closing = (slot: Slot, fails: boolean): Partial<MemoryDriver> => ({
      close: async () => {
        closed.push(slot);
        if (fails) throw new Error("row data");
      },
    });
    const store = bind({
      working: closing("working", true),
      durable: closing("durable", true),
      semantic: closing("semantic", false),
    });
    const errors = await Promise.all([reason(store.close()), reason(store.close())]);
    expect(errors[0]).toBe(errors[1]);
    expect(errors[0]).toMatchObject({ code: "MEMORY_UNAVAILABLE", store: "working, durable", outcome: "unknown" });
    expect(isMemoryError(errors[0]) && JSON.stringify(errors[0])).not.toMatch(/row data/);
    expect(closed).toEqual(["working", "durable", "semantic"]);
    await expect(store.keys({ tenantId: "acme" })).rejects.toMatchObject({ store: "routed", attempts: 0 });
  });
});
