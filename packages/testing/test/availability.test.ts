// What callers see of a failing server, over a driver that fails on purpose and a clock that is moved by hand: lost
// replies land once, budgets are kept, everything settles, nothing leaks. How a real server fails is in the live tests.

import { inspect } from "node:util";
import {
  isMemoryError,
  type MemoryEvent,
  type MemoryScope,
  type MemoryStore,
  type MemoryStoreOptions,
} from "@memory/core";
import { createMemoryStore, type MemoryDriver } from "@memory/core/driver";
import { inMemoryDriver } from "@memory/core/in-memory";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type CaseContext, caseContext } from "../src/context.ts";
import { FakeClock } from "../src/fake-clock.ts";
import { type Fault, type FaultKind, faultyDriver } from "../src/faulty-driver.ts";
import { operations } from "../src/operations.ts";
import { DIMENSIONS, inMemoryTarget } from "./in-memory-target.ts";

const MARK = "unmistakable";
const scope: MemoryScope = { tenantId: MARK, userId: MARK };
const record = { key: "k", value: MARK, source: "test" };

const unhandled: unknown[] = [];
const note = (reason: unknown) => unhandled.push(reason);
beforeEach(() => {
  process.on("unhandledRejection", note);
});
afterEach(async () => {
  await new Promise<void>((resolve) => setImmediate(resolve));
  process.off("unhandledRejection", note);
  expect(unhandled.splice(0)).toEqual([]);
});

function setUp(plan: readonly Fault[], options: MemoryStoreOptions = {}, inner: Partial<MemoryDriver> = {}) {
  const clock = new FakeClock(1_700_000_000_000, { manual: true });
  const plain = { ...inMemoryDriver({ embeddingDimensions: DIMENSIONS }), ...inner };
  const { driver, calls } = faultyDriver(plain, plan);
  const events: MemoryEvent[] = [];
  const store = createMemoryStore(driver, {
    clock,
    entropy: () => 1,
    onEvent: (event) => events.push(event),
    ...options,
  });
  return { clock, store, calls, events, other: createMemoryStore(plain, { clock }), began: clock.now() };
}

const rejection = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

describe("a lost reply", () => {
  test.each<FaultKind>(["reply-lost", "silent-after", "request-lost", "refused"])(
    "of an append (%s) leaves the element once, at the position that is answered",
    async (fault) => {
      const { clock, store, calls, events } = setUp([{ on: "working.append", fault, nth: 2 }]);
      await store.append(scope, "k", "a");
      await expect(clock.settle(store.append(scope, "k", "b"))).resolves.toBe(2);
      await expect(store.append(scope, "k", "c")).resolves.toBe(3);
      expect((await store.read(scope, "k"))?.value).toEqual(["a", "b", "c"]);
      expect(calls.filter((call) => call === "working.append")).toHaveLength(4);
      expect(events[1]).toMatchObject({ operation: "append", attempts: 2, outcome: "ok" });
    },
  );

  test("of an append leaves it once while others append", async () => {
    const { clock, store, other } = setUp([{ on: "working.append", fault: "reply-lost", times: 2 }]);
    const append = store.append(scope, "k", "ours");
    await new Promise<void>((resolve) => setImmediate(resolve));
    await other.append(scope, "k", "theirs");
    await expect(clock.settle(append)).resolves.toBe(1);
    expect((await other.read(scope, "k"))?.value).toEqual(["ours", "theirs"]);
  });

  test("of an append with `after` is no conflict with itself", async () => {
    const { clock, store } = setUp([{ on: "working.append", fault: "reply-lost" }]);
    await expect(clock.settle(store.append(scope, "k", 1, { after: 0 }))).resolves.toBe(1);
    expect((await store.read(scope, "k"))?.value).toEqual([1]);
  });

  test.each<FaultKind>(["reply-lost", "silent-after", "request-lost", "refused"])(
    "of a supersede (%s) leaves one version",
    async (fault) => {
      const { clock, store } = setUp([{ on: "profile.commit", fault }]);
      const answer = await clock.settle(store.supersede(scope, record, { expectedVersion: 0 }));
      expect(answer).toMatchObject({ resolution: "started", superseded: null, record: { version: 1 } });
      expect(await store.history(scope, "k")).toHaveLength(1);
    },
  );

  test("of a supersede leaves one version while others write on", async () => {
    const { clock, store, other } = setUp([{ on: "profile.commit", fault: "reply-lost" }]);
    const write = store.supersede(scope, { ...record, subject: "s", predicate: ["p"] });
    await new Promise<void>((resolve) => setImmediate(resolve));
    await other.supersede(scope, { ...record, value: "theirs", subject: "s", predicate: ["p"] });
    expect(await clock.settle(write)).toMatchObject({ record: { version: 1 }, resolution: "started" });
    const history = await other.history(scope, "k");
    expect(history.map(({ version, value }) => [version, value])).toEqual([
      [1, MARK],
      [2, "theirs"],
    ]);
  });

  test.each<FaultKind>(["reply-lost", "silent-after", "request-lost", "refused"])(
    "of a log (%s) leaves each episode once and is no conflict",
    async (fault) => {
      const { clock, store } = setUp([{ on: "episodic.log", fault, times: 2 }]);
      await clock.settle(store.log(scope, record));
      await clock.settle(store.logAll(scope, [record, record]));
      expect(await store.episodes(scope)).toHaveLength(3);
    },
  );

  test.each([
    ["write", "working.put", (store: MemoryStore) => store.write(scope, record)],
    ["upsert", "profile.commit", (store: MemoryStore) => store.upsert(scope, record)],
    ["index", "semantic.index", (store: MemoryStore) => store.index(scope, { ...record, embedding: vector() })],
  ] as const)("of %s leaves the record there", async (_, on, write) => {
    const { clock, store } = setUp([{ on, fault: "reply-lost", times: 2 }]);
    const written = await clock.settle(write(store));
    expect(written).toMatchObject({ key: "k", value: MARK });
  });

  test.each(["erasure.tombstone", "erasure.sweep", "erasure.condemned", "erasure.forget"])(
    "of %s does not change what the receipt counts",
    async (on) => {
      const purged: string[][] = [];
      const index = {
        name: "index",
        purge: async (_: MemoryScope, ids: readonly string[]) => void purged.push([...ids]),
      };
      const { clock, store } = setUp([{ on, fault: "reply-lost" }], { derivedIndices: [index] });
      await store.write(scope, record);
      await store.log(scope, { ...record, id: "episode" });
      await store.derived(scope, { artefactId: "a", sourceKind: "episodic", sourceId: "episode", adapter: "index" });
      const receipt = await clock.settle(store.erase(scope));
      expect(receipt).toMatchObject({ counts: { working: 1, episodic: 1 }, records: 2, artefacts: 1, complete: true });
      expect((await store.erase(scope)).records).toBe(0);
      expect(new Set(purged.flat())).toEqual(new Set(["a"]));
    },
  );
});

describe("a budget", () => {
  test("that is spent is a MemoryUnavailableError with the attempts and that nothing happened", async () => {
    const { clock, store, calls } = setUp([{ on: "working.put", fault: "refused", times: 9 }]);
    const error = await rejection(clock.settle(store.write(scope, record)));
    expect(isMemoryError(error, "MEMORY_UNAVAILABLE")).toBe(true);
    expect(error).toMatchObject({ store: "in-memory", attempts: 3, outcome: "not-applied" });
    expect(calls).toEqual(["working.put", "working.put", "working.put"]);
  });

  test("that is spent on lost requests says that the effect is unknown", async () => {
    const { clock, store } = setUp([{ on: "working.append", fault: "request-lost", times: 9 }]);
    const error = await rejection(clock.settle(store.append(scope, "k", 1)));
    expect(error).toMatchObject({ code: "MEMORY_UNAVAILABLE", attempts: 3, outcome: "unknown" });
  });

  test("that is spent on a read says that nothing happened", async () => {
    const { clock, store } = setUp([{ on: "working.get", fault: "request-lost", times: 9 }]);
    const error = await rejection(clock.settle(store.read(scope, "k")));
    expect(error).toMatchObject({ code: "MEMORY_UNAVAILABLE", attempts: 3, outcome: "not-applied" });
  });

  test("backs off by doubling, with jitter from the injected entropy, by the injected clock", async () => {
    const { clock, store, began } = setUp([{ fault: "refused", times: 2 }], { settings: { backoffMs: 70 } });
    await clock.settle(store.write(scope, record));
    expect(clock.now() - began).toBe(70 + 140);
  });

  test("bounds a silent peer", async () => {
    const settings = { attemptTimeoutMs: 1_000, maxAttempts: 2, backoffMs: 100 };
    const { clock, store, began } = setUp([{ fault: "silent", times: 9 }], { settings });
    const error = await rejection(clock.settle(store.write(scope, record)));
    expect(error).toMatchObject({ code: "MEMORY_UNAVAILABLE", attempts: 2, outcome: "unknown" });
    expect(clock.now() - began).toBe(1_000 + 100 + 1_000);
  });

  test("is the caller's to choose", async () => {
    const { clock, store } = setUp([{ fault: "refused", times: 9 }], { settings: { maxAttempts: 1 } });
    expect(await rejection(clock.settle(store.write(scope, record)))).toMatchObject({ attempts: 1 });
  });
});

describe("what is not transient", () => {
  test("is not retried", async () => {
    const { clock, store, calls } = setUp([{ on: "working.put", fault: "fatal", times: 9 }]);
    const error = await rejection(clock.settle(store.write(scope, record)));
    expect(error).toMatchObject({ code: "MEMORY_UNAVAILABLE", attempts: 1 });
    expect(calls).toEqual(["working.put"]);
  });

  test("is refused at once where the server has no room, and never retried", async () => {
    const { clock, store, calls } = setUp([{ on: "working.put", fault: "exhausted", times: 9 }]);
    const error = await rejection(clock.settle(store.write(scope, record)));
    expect(isMemoryError(error, "POOL_EXHAUSTED")).toBe(true);
    expect(error).toMatchObject({ store: "in-memory" });
    expect(calls).toEqual(["working.put"]);
  });
});

describe("the gate", () => {
  const settings = { maxQueued: 1, queueTimeoutMs: 500, attemptTimeoutMs: 2_000, maxAttempts: 1 };

  test("lets no more in than the pool has connections, and refuses what cannot wait at once", async () => {
    const { clock, store, calls } = setUp([{ fault: "silent" }], { settings }, { concurrency: 1 });
    const inside = rejection(store.read(scope, "k"));
    const waiting = rejection(store.read(scope, "k"));
    expect(await rejection(store.read(scope, "k"))).toMatchObject({ code: "POOL_EXHAUSTED", queued: 1 });
    expect(calls).toHaveLength(1);
    clock.advance(500);
    expect(await waiting).toMatchObject({ code: "POOL_EXHAUSTED" });
    expect(await clock.settle(inside)).toMatchObject({ code: "MEMORY_UNAVAILABLE" });
  });

  test("is one for all stores over one client", async () => {
    const client = {};
    const { clock, store } = setUp([{ fault: "silent" }], { settings }, { concurrency: 1, client });
    const other = createMemoryStore({ ...inMemoryDriver(), client, concurrency: 1 }, { clock, settings });
    const inside = rejection(store.read(scope, "k"));
    const waiting = rejection(other.read(scope, "k"));
    expect(await rejection(other.read(scope, "k"))).toMatchObject({ code: "POOL_EXHAUSTED" });
    await clock.settle(Promise.all([inside, waiting]));
  });
});

describe("stopping", () => {
  test("by signal rejects with its reason at once, whatever the server does", async () => {
    const { store, clock, began } = setUp([{ fault: "silent", times: 9 }]);
    const controller = new AbortController();
    const reason = new Error("enough");
    const call = rejection(store.write(scope, record, { signal: controller.signal }));
    controller.abort(reason);
    expect(await call).toBe(reason);
    expect(clock.now()).toBe(began);
  });

  test("by signal ends a backoff", async () => {
    const { store, clock, began } = setUp([{ fault: "refused", times: 9 }]);
    const controller = new AbortController();
    const call = rejection(store.write(scope, record, { signal: controller.signal }));
    await new Promise<void>((resolve) => setImmediate(resolve));
    controller.abort("enough");
    expect(await call).toBe("enough");
    expect(clock.now()).toBe(began);
  });

  test("by close waits for what is in flight, and then refuses", async () => {
    const { store, clock } = setUp([{ on: "working.append", fault: "reply-lost", nth: 1 }]);
    const append = store.append(scope, "k", 1);
    const closed = store.close();
    expect(await rejection(store.read(scope, "k"))).toMatchObject({ code: "MEMORY_UNAVAILABLE", attempts: 0 });
    await expect(clock.settle(append)).resolves.toBe(1);
    await clock.settle(closed);
  });

  test("by close is bounded when a peer is silent, and what was in flight settles", async () => {
    const { store, clock, began } = setUp([{ fault: "silent", times: 9 }], { settings: { attemptTimeoutMs: 1_000 } });
    const write = rejection(store.write(scope, record));
    await clock.settle(store.close());
    expect(clock.now() - began).toBeLessThanOrEqual(3_000);
    expect(await clock.settle(write)).toMatchObject({ code: "MEMORY_UNAVAILABLE" });
  });

  test("by close reports a driver that cannot close, in time", async () => {
    const close = () => new Promise<never>(() => undefined);
    const { store, clock } = setUp([], {}, { close });
    expect(await rejection(clock.settle(store.close()))).toMatchObject({ code: "MEMORY_UNAVAILABLE" });
  });
});

describe("every operation under every fault", () => {
  const kinds: readonly FaultKind[] = [
    "refused",
    "request-lost",
    "reply-lost",
    "silent",
    "silent-after",
    "exhausted",
    "fatal",
  ];
  const names = operations(emptyContext()).map(({ name }) => name);

  test.each(kinds)("that is %s settles within its budget, leaks no connection and shows no content", async (fault) => {
    for (const name of names) {
      const plan = [{ fault, times: Number.POSITIVE_INFINITY }];
      const settings = { attemptTimeoutMs: 1_000, queueTimeoutMs: 500 };
      // One connection: a place that is not given back would starve what follows.
      const { clock, store, calls, began } = setUp(plan, { settings }, { concurrency: 1, verify: async () => [] });
      const operation = operations(emptyContext()).find((one) => one.name === name);
      const calling = () => operation?.call(store, scope) ?? Promise.reject(new Error("no such operation"));
      for (let round = 0; round < 3; round++) {
        const error = await rejection(clock.settle(calling()));
        const code = fault === "exhausted" ? "POOL_EXHAUSTED" : "MEMORY_UNAVAILABLE";
        expect(error, `${name} under ${fault}`).toMatchObject({ code });
        const shown = [inspect(error, { depth: 10 }), JSON.stringify(error), String(error)].join("\n");
        expect(shown, `${name} under ${fault}`).not.toContain(MARK);
      }
      expect(calls.length).toBeGreaterThan(0);
      expect(clock.now() - began).toBeLessThanOrEqual(3 * (3 * 1_500 + 150));
      await clock.settle(store.close());
    }
  });

  test.each(kinds)("that is %s once leaves the store as good as new", async (fault) => {
    for (const name of names) {
      const { clock, store } = setUp([{ fault }], {}, { concurrency: 1, verify: async () => [] });
      const operation = operations(emptyContext()).find((one) => one.name === name);
      const calling = () => operation?.call(store, scope) ?? Promise.reject(new Error("no such operation"));
      await rejection(clock.settle(calling()));
      // A call that was given up may still occupy its connection: its place is held for one more attempt's time.
      clock.advance(10_000);
      await clock.settle(calling());
    }
  });
});

function vector(): number[] {
  return emptyContext().vector(1);
}

function emptyContext(): CaseContext {
  const { capabilities } = createMemoryStore(inMemoryDriver({ embeddingDimensions: DIMENSIONS }));
  return caseContext(inMemoryTarget(), capabilities);
}
