// The gate: order, bounds, deadlines, and places that are given up.

import { describe, expect, test } from "vitest";
import { HandClock, turn } from "../../test/hand-clock.ts";
import { isMemoryError } from "../model/errors.ts";
import { Gate, gateOf } from "./gate.ts";

function limits(clock: HandClock, changes: { limit?: number; maxQueued?: number; queueTimeoutMs?: number } = {}) {
  return { store: "faulty", clock, limit: 1, maxQueued: 10, queueTimeoutMs: 100, ...changes };
}

async function outcomeOf(entering: Promise<void> | undefined): Promise<string> {
  try {
    await entering;
    return "in";
  } catch (error) {
    return isMemoryError(error) ? error.code : String(error);
  }
}

describe("Gate", () => {
  test("lets in synchronously while there is room, without bound when none is set", () => {
    const gate = new Gate(limits(new HandClock(), { limit: Number.POSITIVE_INFINITY, maxQueued: 0 }));
    for (let count = 0; count < 10_000; count++) expect(gate.enter()).toBeUndefined();
    expect(gate.inside).toBe(10_000);
  });

  test("lets the others in one by one, in the order in which they came", async () => {
    const gate = new Gate(limits(new HandClock(), { limit: 2 }));
    const order: number[] = [];
    gate.enter();
    gate.enter();
    for (const number of [1, 2, 3]) gate.enter()?.then(() => order.push(number));
    expect(gate.queued).toBe(3);
    for (const expected of [[1], [1, 2], [1, 2, 3]]) {
      gate.leave();
      await turn();
      expect(order).toEqual(expected);
      expect(gate.inside).toBe(2);
    }
    gate.leave();
    gate.leave();
    expect([gate.inside, gate.queued]).toEqual([0, 0]);
  });

  test("does not let a newcomer overtake who waits", async () => {
    const gate = new Gate(limits(new HandClock()));
    gate.enter();
    const first = gate.enter();
    gate.leave();
    expect(gate.enter()).toBeDefined();
    expect(await outcomeOf(first)).toBe("in");
  });

  test("refuses at once when the queue is full, and says how many wait", async () => {
    const gate = new Gate(limits(new HandClock(), { maxQueued: 2 }));
    gate.enter();
    gate.enter();
    gate.enter();
    const refusal = await gate.enter()?.catch((error: unknown) => error);
    expect(isMemoryError(refusal, "POOL_EXHAUSTED") && [refusal.store, refusal.queued]).toEqual(["faulty", 2]);
    expect(gate.queued).toBe(2);
  });

  test("refuses a waiter when its own time has passed, and frees its place", async () => {
    const clock = new HandClock();
    const gate = new Gate(limits(clock, { maxQueued: 2 }));
    gate.enter();
    const first = outcomeOf(gate.enter());
    await clock.advance(60);
    const second = outcomeOf(gate.enter());
    await clock.advance(40);
    expect(await first).toBe("POOL_EXHAUSTED");
    expect(gate.queued).toBe(1);
    const third = outcomeOf(gate.enter());
    await clock.advance(60);
    expect(await second).toBe("POOL_EXHAUSTED");
    gate.leave();
    expect(await third).toBe("in");
  });

  test("stops waiting with the signal's reason, from any place in the queue, and frees the place", async () => {
    const gate = new Gate(limits(new HandClock()));
    gate.enter();
    const controllers = [0, 1, 2].map(() => new AbortController());
    const waits = controllers.map((controller) => outcomeOf(gate.enter(controller.signal)));
    const last = outcomeOf(gate.enter());
    for (const index of [1, 0, 2]) {
      controllers[index]?.abort(`stop ${index}`);
      expect(await waits[index]).toBe(`stop ${index}`);
    }
    expect(gate.queued).toBe(1);
    gate.leave();
    expect(await last).toBe("in");
  });

  test("an abort after admission changes nothing", async () => {
    const gate = new Gate(limits(new HandClock()));
    const controller = new AbortController();
    gate.enter();
    const wait = outcomeOf(gate.enter(controller.signal));
    gate.leave();
    controller.abort("late");
    expect(await wait).toBe("in");
    expect([gate.inside, gate.queued]).toEqual([1, 0]);
  });
});

describe("gateOf", () => {
  test("gives the stores of one client one room, and those of another client another", () => {
    const client = {};
    const clock = new HandClock();
    const [one, two, other] = [gateOf(client, limits(clock)), gateOf(client, limits(clock)), gateOf({}, limits(clock))];
    expect(one.enter()).toBeUndefined();
    expect(two.enter()).toBeDefined();
    expect(other.enter()).toBeUndefined();
    expect(one.queued).toBe(1);
  });

  test("lets the smallest limit win, in whatever order they come", () => {
    for (const order of [
      [3, 1],
      [1, 3],
    ]) {
      const client = {};
      const gates = order.map((limit) => gateOf(client, limits(new HandClock(), { limit })));
      expect(gates[0]?.enter()).toBeUndefined();
      expect(gates[0]?.enter()).toBeDefined();
      expect(gates[1]?.enter()).toBeDefined();
    }
  });

  test("leaves how many and how long may wait to each store", async () => {
    const client = {};
    const clock = new HandClock();
    const patient = gateOf(client, limits(clock, { queueTimeoutMs: 200 }));
    const hasty = gateOf(client, limits(clock, { queueTimeoutMs: 50, maxQueued: 2 }));
    patient.enter();
    const long = outcomeOf(patient.enter());
    const short = outcomeOf(hasty.enter());
    expect(await outcomeOf(hasty.enter())).toBe("POOL_EXHAUSTED");
    await clock.advance(50);
    expect(await short).toBe("POOL_EXHAUSTED");
    hasty.leave();
    expect(await long).toBe("in");
  });
});
