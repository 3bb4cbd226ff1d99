// The guard: attempts, backoff, deadlines, aborts, slots and closing, over a driver that fails on command.

import { getEventListeners } from "node:events";
import { inspect } from "node:util";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type FaultyDriver, faultyDriver, type Step } from "../../test/faulty-driver.ts";
import { HandClock, turn } from "../../test/hand-clock.ts";
import { storedRecord } from "../../test/stored-record.ts";
import type { Clock } from "../clock.ts";
import type { MemoryDriver } from "../model/driver.ts";
import { isMemoryError } from "../model/errors.ts";
import { runtimeSettings } from "../settings.ts";
import { type GuardedDriver, guardDriver, OperationCall } from "./guard.ts";
import { retryBudgetMs } from "./retry.ts";

const settings = runtimeSettings({
  maxAttempts: 3,
  attemptTimeoutMs: 1_000,
  queueTimeoutMs: 100,
  backoffMs: 40,
  maxQueued: 1_000,
});
const scope = { tenantId: "acme" };
const unhandled: unknown[] = [];
const note = (reason: unknown) => unhandled.push(reason);

beforeEach(() => {
  unhandled.length = 0;
  process.on("unhandledRejection", note);
});

afterEach(async () => {
  await turn();
  await turn();
  process.off("unhandledRejection", note);
  expect(unhandled).toEqual([]);
});

interface Bench {
  readonly clock: HandClock;
  readonly driver: FaultyDriver;
  readonly store: GuardedDriver;
  /** A write; what came of it, in one word and a few fields. */
  put(signal?: AbortSignal, call?: OperationCall): Promise<unknown>;
  /** A read. */
  get(signal?: AbortSignal): Promise<unknown>;
}

function bench(
  script: readonly Step[],
  options: Parameters<typeof faultyDriver>[1] & { readonly entropy?: () => number; readonly maxQueued?: number } = {},
): Bench {
  const clock = new HandClock();
  const driver = faultyDriver(script, options);
  const store = guardDriver(driver, {
    clock,
    entropy: options.entropy ?? (() => 1),
    settings: { ...settings, maxQueued: options.maxQueued ?? settings.maxQueued },
  });
  const callOf = (signal?: AbortSignal) =>
    new OperationCall({ now: clock.now(), budgetMs: retryBudgetMs(settings), signal });
  const working = store.working;
  if (working === undefined) throw new Error("the section is missing");
  return {
    clock,
    driver,
    store,
    put: (signal, call = callOf(signal)) => outcomeOf(working.put(entry, call)),
    get: (signal) => outcomeOf(working.get({ scope, key: "k", last: undefined }, callOf(signal))),
  };
}

const entry = { head: storedRecord({ scope, key: "k", value: "" }), content: { value: "1" } };

function outcomeOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => "ok",
    (error: unknown) => {
      if (isMemoryError(error, "MEMORY_UNAVAILABLE")) return [error.code, error.attempts, error.outcome];
      return isMemoryError(error) ? error.code : error;
    },
  );
}

/** Moves time on in small steps until `work` has settled. */
async function drive(clock: HandClock, work: Promise<unknown>): Promise<unknown> {
  let isSettled = false;
  work.finally(() => {
    isSettled = true;
  });
  for (let step = 0; step < 20_000 && !isSettled; step++) await clock.advance(20);
  return work;
}

describe("attempts", () => {
  test("a call that succeeds is made once, with the operation's instant and budget", async () => {
    const { put, driver, clock } = bench([]);
    const call = new OperationCall({ now: 77, budgetMs: 9_999 });
    expect(await put(undefined, call)).toBe("ok");
    expect(call.attempts).toBe(1);
    expect(driver.calls.map(({ now, budgetMs }) => [now, budgetMs])).toEqual([[77, 9_999]]);
    await turn();
    expect(clock.sleepers).toBe(0);
  });

  test("a transient failure is tried again, with the same instant and what is left of the budget", async () => {
    const { put, driver, clock } = bench(["transient", "transient"]);
    const call = new OperationCall({ now: 77, budgetMs: retryBudgetMs(settings) + 5 });
    expect(await drive(clock, put(undefined, call))).toBe("ok");
    expect(call.attempts).toBe(3);
    expect(driver.calls.map(({ now }) => now)).toEqual([77, 77, 77]);
    expect(driver.calls.map(({ budgetMs }) => budgetMs)).toEqual(
      [1, 2, 3].map((from) => retryBudgetMs(settings, from) + 5),
    );
  });

  test("attempts are bounded, and the last failure is the sanitised cause", async () => {
    const { store, driver, clock } = bench(["transient"], { isLoop: true });
    const work = store.working?.put(entry, new OperationCall({ now: 0, budgetMs: 0 })) ?? Promise.resolve();
    const error = await drive(
      clock,
      work.catch((reason: unknown) => reason),
    );
    expect(driver.calls).toHaveLength(3);
    expect(isMemoryError(error, "MEMORY_UNAVAILABLE") && [error.store, error.attempts, error.outcome]).toEqual([
      "faulty",
      3,
      "unknown",
    ]);
    expect(inspect(error, { showHidden: true, depth: 9 })).not.toContain("row data");
  });

  test("the message of what is out of reach has the code of the last failure, for who reads no more than that", async () => {
    const { store, clock } = bench(["hang"], { isLoop: true });
    const work = store.working?.put(entry, new OperationCall({ now: 0, budgetMs: 0 })) ?? Promise.resolve();
    expect(
      await drive(
        clock,
        work.catch((reason: unknown) => reason),
      ),
    ).toHaveProperty("message", expect.stringContaining("(ETIMEDOUT)"));
  });

  test("backoff doubles from backoffMs and is scaled by the injected entropy, exactly", async () => {
    const chances = [0.5, 0.25];
    const { put, clock } = bench(["transient"], { isLoop: true, entropy: () => chances.shift() ?? 0 });
    await drive(clock, put());
    // Each attempt is watched for 1,000 ms beside.
    expect(clock.sleeps.filter((ms) => ms !== 1_000)).toEqual([20, 20]);
  });

  test.each<[Step, unknown]>([
    ["fatal", ["MEMORY_UNAVAILABLE", 1, "unknown"]],
    ["throw", ["MEMORY_UNAVAILABLE", 1, "unknown"]],
    ["exhausted", "POOL_EXHAUSTED"],
    ["own", "MEMORY_CORRUPTION"],
    ["narrow", "MEMORY_SCHEMA"],
  ])("a write that meets %s is made once", async (step, outcome) => {
    const { put, driver } = bench([step]);
    expect(await put()).toEqual(outcome);
    expect(driver.calls).toHaveLength(1);
  });

  test.each<[string, readonly Step[], unknown]>([
    ["every failure was harmless", ["clean", "clean", "clean"], ["MEMORY_UNAVAILABLE", 3, "not-applied"]],
    ["one failure was not", ["clean", "transient", "clean"], ["MEMORY_UNAVAILABLE", 3, "unknown"]],
    ["it ended in a fatal failure", ["clean", "fatal"], ["MEMORY_UNAVAILABLE", 2, "unknown"]],
    ["the server had no room after a harmless failure", ["clean", "exhausted"], "POOL_EXHAUSTED"],
    ["the server had no room after another one", ["transient", "exhausted"], ["MEMORY_UNAVAILABLE", 2, "unknown"]],
  ])("the outcome tells what is sure when %s", async (_name, script, outcome) => {
    const { put, clock } = bench(script);
    expect(await drive(clock, put())).toEqual(outcome);
  });

  test("a server without room is not asked again, even when the driver calls that transient as well", async () => {
    const driver = faultyDriver(["transient", "exhausted"]);
    const clock = new HandClock();
    const store = guardDriver({ ...driver, isTransient: () => true }, { clock, entropy: () => 1, settings });
    const work = store.working?.put(entry, new OperationCall({ now: 0, budgetMs: 0 })) ?? Promise.resolve();
    expect(await drive(clock, outcomeOf(work))).toEqual(["MEMORY_UNAVAILABLE", 2, "unknown"]);
  });

  test("a read is never of unknown outcome", async () => {
    const { get, clock } = bench(["transient", "hang", "fatal"]);
    expect(await drive(clock, get())).toEqual(["MEMORY_UNAVAILABLE", 3, "not-applied"]);
  });

  test("a driver that fails at judging its failure is taken at the most careful", async () => {
    const driver = faultyDriver(["clean"]);
    const store = guardDriver(
      {
        ...driver,
        isTransient: () => {
          throw new Error("judge");
        },
      },
      { clock: new HandClock(), entropy: () => 1, settings },
    );
    const work = store.working?.put(entry, new OperationCall({ now: 0, budgetMs: 0 })) ?? Promise.resolve();
    expect(await outcomeOf(work)).toEqual(["MEMORY_UNAVAILABLE", 1, "unknown"]);
  });
});

describe("deadlines", () => {
  test("a silent attempt ends exactly at its timeout, its signal aborts, and the next one may succeed", async () => {
    const { put, driver, clock } = bench(["hang"]);
    const work = put();
    const signal = driver.calls[0]?.signal;
    await clock.advance(999);
    expect(signal?.aborted).toBe(false);
    await clock.advance(1);
    expect(signal?.aborted).toBe(true);
    await clock.advance(40);
    expect(await work).toBe("ok");
    expect(driver.calls).toHaveLength(2);
  });

  test("a signal that is first looked at after the attempt was given up is aborted", async () => {
    const { put, driver, clock } = bench(["hang"]);
    await drive(clock, put());
    expect(driver.calls[0]?.signal.aborted).toBe(true);
    expect(driver.calls[1]?.signal.aborted).toBe(false);
  });

  test("a peer that is silent for ever is given up within the budget", async () => {
    const { put, clock } = bench(["hang"], { isLoop: true });
    const started = clock.now();
    expect(await drive(clock, put())).toEqual(["MEMORY_UNAVAILABLE", 3, "unknown"]);
    expect(clock.now() - started).toBeLessThanOrEqual(retryBudgetMs(settings));
  });

  test("an answer that comes late, good or bad, is dropped in silence", async () => {
    const { put, driver, clock } = bench(["hang", "hang"]);
    const work = put();
    await clock.advance(1_000);
    await clock.advance(40);
    driver.hanging[0]?.fail("fatal");
    await turn();
    driver.hanging[1]?.answer();
    expect(await work).toBe("ok");
  });
});

describe("the caller's signal", () => {
  test("refuses at once when it has aborted already", async () => {
    const { put, driver } = bench([]);
    expect(await put(AbortSignal.abort("early"))).toBe("early");
    expect(driver.calls).toHaveLength(0);
  });

  test("stops an attempt, whose late failure nobody hears of", async () => {
    const { put, driver } = bench(["hang"]);
    const controller = new AbortController();
    const work = put(controller.signal);
    const signal = driver.calls[0]?.signal;
    controller.abort("stop");
    expect(await work).toBe("stop");
    expect(signal?.reason).toBe("stop");
    driver.hanging[0]?.fail("fatal");
    await turn();
    expect(driver.calls).toHaveLength(1);
  });

  test("stops the wait at the gate and frees the place", async () => {
    const { put, driver, store } = bench(["hang"], { concurrency: 1, maxQueued: 1 });
    const first = put();
    const controller = new AbortController();
    const second = put(controller.signal);
    controller.abort("stop");
    expect(await second).toBe("stop");
    const third = put();
    driver.hanging[0]?.answer();
    expect([await first, await third, driver.calls.length]).toEqual(["ok", "ok", 2]);
    await store.close();
  });

  test("stops the backoff, and no further attempt is made", async () => {
    const { put, driver, clock } = bench(["transient"], { isLoop: true });
    const controller = new AbortController();
    const work = put(controller.signal);
    await turn();
    controller.abort("stop");
    expect(await work).toBe("stop");
    await turn();
    expect(clock.sleepers).toBe(0);
    await clock.advance(10_000);
    expect(driver.calls).toHaveLength(1);
  });

  test("stops the backoff under a clock that ignores it, too", async () => {
    const hand = new HandClock();
    const clock = { now: () => hand.now(), sleep: (ms: number) => hand.sleep(ms) };
    const driver = faultyDriver(["transient"], { isLoop: true });
    const store = guardDriver(driver, { clock, entropy: () => 1, settings });
    const controller = new AbortController();
    const call = new OperationCall({ now: 0, budgetMs: 0, signal: controller.signal });
    const work = outcomeOf(store.working?.put(entry, call) ?? Promise.resolve());
    await turn();
    controller.abort("stop");
    expect(await work).toBe("stop");
    await hand.advance(10_000);
    expect(driver.calls).toHaveLength(1);
  });

  test("that aborts between admission and attempt leaves the slot to the next", async () => {
    const { put, driver } = bench(["hang"], { concurrency: 1 });
    const first = put();
    const controller = new AbortController();
    const second = put(controller.signal);
    const third = put();
    driver.hanging[0]?.answer();
    // The first one's slot goes to the second in the same turn; abort before it can use it.
    await Promise.resolve();
    controller.abort("stop");
    expect([await first, await second, await third]).toEqual(["ok", "stop", "ok"]);
    expect(driver.calls).toHaveLength(2);
  });

  test("is let go of when the operation has settled, however it did", async () => {
    const { put, clock } = bench(["ok", "fatal", "transient", "hang"], { concurrency: 1 });
    const { signal } = new AbortController();
    for (let count = 0; count < 3; count++) await drive(clock, put(signal));
    await drive(clock, Promise.all([put(signal), put(signal)]));
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });

  test("is taken from a call of another make, too", async () => {
    const { driver, store } = bench(["hang"]);
    const controller = new AbortController();
    const work =
      store.working?.put(entry, { now: 0, attempt: 1, budgetMs: 0, signal: controller.signal }) ?? Promise.resolve();
    controller.abort("stop");
    expect(await outcomeOf(work)).toBe("stop");
    expect(driver.calls).toHaveLength(1);
  });

  test("the operation's own signal follows it, and its own end", () => {
    const controller = new AbortController();
    const [linked, free] = [
      new OperationCall({ now: 0, budgetMs: 0, signal: controller.signal }),
      new OperationCall({ now: 0, budgetMs: 0 }),
    ];
    expect([linked.signal.aborted, free.signal.aborted]).toEqual([false, false]);
    controller.abort("stop");
    free.abandon("over");
    expect([linked.signal.reason, free.signal.reason]).toEqual(["stop", "over"]);
  });
});

describe("slots", () => {
  test("an attempt that was given up keeps its slot until the driver settles", async () => {
    const { put, driver } = bench(["hang"], { concurrency: 1 });
    const controller = new AbortController();
    const first = put(controller.signal);
    controller.abort("stop");
    await first;
    const second = put();
    await turn();
    expect(driver.calls).toHaveLength(1);
    driver.hanging[0]?.fail("fatal");
    expect(await second).toBe("ok");
  });

  test("a driver that never settles gives the slot back after another timeout, once", async () => {
    const { put, driver, clock } = bench(["hang", "ok", "hang"], { concurrency: 1 });
    const controller = new AbortController();
    const first = put(controller.signal);
    controller.abort("stop");
    await first;
    await clock.advance(950);
    const second = put();
    await turn();
    expect(driver.calls).toHaveLength(1);
    await clock.advance(50);
    expect(await second).toBe("ok");
    driver.hanging[0]?.answer();
    await turn();
    // The late answer must not have opened a second slot.
    const third = put();
    const fourth = put();
    await turn();
    expect(driver.calls).toHaveLength(3);
    driver.hanging[1]?.answer();
    expect([await third, await fourth]).toEqual(["ok", "ok"]);
  });

  test("two stores over one client share its slots", async () => {
    const client = {};
    const one = bench(["hang"], { client, concurrency: 1 });
    const two = bench([], { client, concurrency: 5 });
    const first = one.put();
    const second = two.put();
    await turn();
    expect(two.driver.calls).toHaveLength(0);
    one.driver.hanging[0]?.answer();
    expect([await first, await second]).toEqual(["ok", "ok"]);
  });

  test("no more are in flight than there are connections, however many are asked for", async () => {
    const { put, driver } = bench(["hang"], { isLoop: true, concurrency: 4 });
    const work = Promise.all(Array.from({ length: 50 }, () => put()));
    for (let answered = 0; answered < 50; answered++) {
      await turn();
      expect(driver.hanging.length - answered).toBeLessThanOrEqual(4);
      driver.hanging[answered]?.answer();
    }
    expect(new Set(await work)).toEqual(new Set(["ok"]));
  });

  test("of 1,000 operations on a stuck pool every one settles within the budget", async () => {
    const { put, clock, driver } = bench(["hang"], { isLoop: true, concurrency: 10, maxQueued: 900 });
    const started = clock.now();
    const work = Promise.all(Array.from({ length: 1_000 }, () => put()));
    const outcomes = await drive(clock, work);
    expect(clock.now() - started).toBeLessThanOrEqual(retryBudgetMs(settings));
    const counts = new Map<string, number>();
    for (const outcome of Array.isArray(outcomes) ? outcomes : []) {
      counts.set(String(outcome), (counts.get(String(outcome)) ?? 0) + 1);
    }
    expect(counts.get("POOL_EXHAUSTED")).toBe(990);
    expect(counts.get("MEMORY_UNAVAILABLE,1,unknown")).toBe(10);
    // What hung has been given up: the pool is usable again.
    await clock.advance(2_000);
    const next = put();
    await turn();
    driver.hanging.at(-1)?.answer();
    expect(await next).toBe("ok");
  });
});

describe("close", () => {
  test("is the same promise each time, and closes the driver once", async () => {
    const { store, driver } = bench([]);
    const closing = store.close();
    expect(store.close()).toBe(closing);
    await closing;
    expect(driver.closes).toBe(1);
  });

  test("refuses every operation after it as unavailable, not applied, with no attempt", async () => {
    const { store, put, get, driver } = bench([]);
    const closing = store.close();
    expect([await put(), await get()]).toEqual([
      ["MEMORY_UNAVAILABLE", 0, "not-applied"],
      ["MEMORY_UNAVAILABLE", 0, "not-applied"],
    ]);
    await closing;
    expect(driver.calls).toHaveLength(0);
  });

  test("waits for what is in flight, retries included", async () => {
    const { store, put, driver, clock } = bench(["transient", "hang"]);
    const work = put();
    await turn();
    const closing = store.close();
    await clock.advance(40);
    expect(driver.closes).toBe(0);
    driver.hanging[0]?.answer();
    await closing;
    expect([await work, driver.closes]).toEqual(["ok", 1]);
  });

  test("does not wait beyond its deadline, and lets nothing be tried again after it", async () => {
    const { store, put, driver, clock } = bench(["hang"], { isLoop: true });
    const work = put();
    const closing = store.close(300);
    await clock.advance(299);
    expect(driver.closes).toBe(0);
    await clock.advance(1);
    await closing;
    await clock.advance(700);
    expect(await work).toEqual(["MEMORY_UNAVAILABLE", 1, "unknown"]);
    expect(driver.calls).toHaveLength(1);
  });

  test.each<[string, () => Promise<void>]>([
    ["fails", () => Promise.reject(new Error("row data"))],
    ["never settles", () => new Promise(() => undefined)],
    [
      "throws",
      () => {
        throw new Error("row data");
      },
    ],
  ])("is an unavailable error when the driver's own close %s", async (_name, close) => {
    const { store, clock } = bench([], { close });
    expect(await drive(clock, outcomeOf(store.close()))).toEqual(["MEMORY_UNAVAILABLE", 1, "unknown"]);
  });
});

describe("the shape", () => {
  test("flags and optional members are there exactly when the driver has them", () => {
    const whole: MemoryDriver = {
      ...faultyDriver([]),
      client: {},
      concurrency: 3,
      maxValueBytes: 9,
      profile: {
        asOf: true,
        supersession: true,
        versions: async () => null,
        heads: async () => ({
          version: 0,
          recordedAt: undefined,
          token: undefined,
          lineages: 0,
          open: [],
          idKey: undefined,
        }),
        beliefs: async () => [],
        history: async () => [],
        commit: async () => true,
      },
      episodic: { filter: true, log: async () => [], page: async () => [] },
      semantic: {
        dimensions: 3,
        metric: "l2",
        under: true,
        index: async () => undefined,
        get: async () => null,
        nearest: async () => [],
        scan: async () => [],
      },
      erasure: {
        narrowing: true,
        count: async () => ({ counts: {}, artefacts: 0, sharedArtefacts: 0 }),
        tombstone: async () => ({}),
        condemned: async () => [],
        forget: async () => undefined,
        sweep: async () => null,
        register: async () => undefined,
        derivations: async () => [],
      },
      verify: async () => [],
    };
    const {
      calls: _calls,
      hanging: _hanging,
      closes: _closes,
      client: _client, // not enumerable there: see "a broken part around it"
      ...expected
    } = { calls: 0, hanging: 0, closes: 0, ...whole };
    expect(shapeOf(guard(whole))).toEqual({ ...shapeOf(expected), guarded: true });
    const bare: MemoryDriver = {
      name: "bare",
      isTransient: () => false,
      isExhausted: () => false,
      close: async () => undefined,
    };
    expect(shapeOf(guard(bare))).toEqual({ ...shapeOf(bare), guarded: true });
  });

  test("methods keep their section as `this`", async () => {
    class Section {
      readonly #rows = 7;
      readonly filter = true;
      async log(): Promise<readonly never[]> {
        return this.#rows === 7 ? [] : [];
      }
      async page(): Promise<readonly never[]> {
        return this.log();
      }
    }
    const episodic = guard({ ...faultyDriver([]), episodic: new Section() }).episodic;
    expect(await episodic?.log([], new OperationCall({ now: 0, budgetMs: 0 }))).toEqual([]);
  });

  test("a composition of guarded drivers is passed through: no second gate, retry or deadline", async () => {
    const driver = faultyDriver(["transient", "throw"]);
    const store = guard({ ...driver, guarded: true, concurrency: 0 });
    const call = new OperationCall({ now: 0, budgetMs: 0 });
    const get = () => store.working?.get({ scope, key: "k", last: undefined }, call) ?? Promise.resolve(null);
    await expect(get()).rejects.toMatchObject({ step: "transient" });
    await expect(get()).rejects.toMatchObject({ step: "fatal" });
    await get();
    expect(driver.calls).toEqual([call, call, call]);
    expect(call.attempts).toBe(0);
    await store.close();
    await store.close();
    expect(driver.closes).toBe(1);
    expect(await outcomeOf(get())).toEqual(["MEMORY_UNAVAILABLE", 0, "not-applied"]);
  });
});

function guard(driver: MemoryDriver): GuardedDriver {
  return guardDriver(driver, { clock: new HandClock(), entropy: () => 0, settings });
}

/** The members with their values, functions by their kind only. */
function shapeOf(value: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => {
      if (typeof member === "function") return [name, "function"];
      return [name, typeof member === "object" && member !== null && name !== "client" ? shapeOf(member) : member];
    }),
  );
}

describe("a broken part around it", () => {
  const hostile = Object.defineProperty(new Error(), "message", {
    get() {
      throw new Error("trap");
    },
  });
  const guardOver = (
    patch: Partial<MemoryDriver>,
    { clock = new HandClock(), entropy = () => 1 }: { readonly clock?: Clock; readonly entropy?: () => number } = {},
  ) => guardDriver({ ...faultyDriver(["transient"], { isLoop: true }), ...patch }, { clock, entropy, settings });
  const read = (driver: GuardedDriver): Promise<unknown> => {
    const { working } = driver;
    if (working === undefined) throw new Error("no working section");
    const call = new OperationCall({ now: 0, budgetMs: retryBudgetMs(settings) });
    return working.get({ scope, key: "k", last: undefined }, call);
  };
  const unavailable = { code: "MEMORY_UNAVAILABLE" };

  test("an error that cannot be read settles the call", async () => {
    const working = { ...faultyDriver([]).working, get: () => Promise.reject(hostile) };
    await expect(read(guardOver({ working, isTransient: () => false }))).rejects.toMatchObject(unavailable);
  });

  test("an entropy that throws settles the call", async () => {
    const entropy = () => {
      throw new Error("no entropy");
    };
    await expect(read(guardOver({}, { entropy }))).rejects.toMatchObject(unavailable);
  });

  test("a driver that narrows an error to something else has not narrowed it", async () => {
    const raw: unknown = new Error("row data");
    const patch = { isTransient: () => false, toMemoryError: () => raw as undefined };
    await expect(read(guardOver(patch))).rejects.toMatchObject(unavailable);
  });

  test("a client hangs where `util.inspect` does not look, and is passed on", () => {
    const client = { password: "hunter2" };
    const driver = guardOver({ client });
    expect(driver.client).toBe(client);
    expect(inspect(driver, { depth: null })).not.toContain("hunter2");
  });
});

describe("the progress of an operation of several steps", () => {
  const inFull = () => new OperationCall({ now: 0, budgetMs: retryBudgetMs(settings) });

  test.each<[readonly Step[], boolean]>([
    [["ok"], true],
    [["transient", "clean", "clean"], true],
    [["clean", "clean", "clean"], false],
    [["exhausted"], false],
  ])("after a write of %j: whether it may have had an effect is %s", async (script, mayHaveEffect) => {
    const { clock, put } = bench(script);
    const call = inFull();
    await drive(clock, put(undefined, call));
    expect(call).toMatchObject({ attempts: script.length, mayHaveEffect });
  });

  test("a read has none", async () => {
    const { store } = bench(["ok"]);
    const call = inFull();
    await store.working?.get({ scope, key: "k", last: undefined }, call);
    expect(call).toMatchObject({ attempts: 1, mayHaveEffect: false });
  });

  test("is kept for another copy of this package", async () => {
    vi.resetModules();
    const copy = await import("./guard.ts");
    const call = new copy.OperationCall({ now: 0, budgetMs: retryBudgetMs(settings) });
    const { put } = bench(["ok"]);
    await put(undefined, call);
    expect(call instanceof OperationCall).toBe(false);
    expect(call).toMatchObject({ attempts: 1, mayHaveEffect: true });
  });
});
