// Time by hand: who wakes when, and that nobody sleeps for ever against a real server.

import { describe, expect, test } from "vitest";
import { FakeClock } from "./fake-clock.ts";

describe("FakeClock", () => {
  test("stands still until it is moved", async () => {
    const clock = new FakeClock(1_000);
    await new Promise<void>((resolve) => setImmediate(resolve));
    expect(clock.now()).toBe(1_000);
    clock.advance(5);
    clock.advance(-10);
    expect(clock.now()).toBe(995);
    clock.set(7);
    expect(clock.now()).toBe(7);
  });

  test("starts at a whole second of the machine's time", () => {
    const clock = new FakeClock();
    expect(clock.now() % 1_000).toBe(0);
    expect(Math.abs(clock.now() - Date.now())).toBeLessThan(60_000);
  });

  test("wakes whoever is due, in the order of their times", async () => {
    const clock = new FakeClock(0, { manual: true });
    const woken: number[] = [];
    for (const ms of [30, 10, 20]) void clock.sleep(ms).then(() => woken.push(ms));
    clock.advance(20);
    await new Promise<void>((resolve) => setImmediate(resolve));
    expect(woken).toEqual([10, 20]);
    expect(clock.sleepers).toBe(1);
    clock.advance(10);
    await new Promise<void>((resolve) => setImmediate(resolve));
    expect(woken).toEqual([10, 20, 30]);
  });

  test("rejects a sleeper with its signal's reason, at once", async () => {
    const clock = new FakeClock(0, { manual: true });
    const controller = new AbortController();
    const sleeping = clock.sleep(10, controller.signal);
    controller.abort("enough");
    await expect(sleeping).rejects.toBe("enough");
    await expect(clock.sleep(10, controller.signal)).rejects.toBe("enough");
    expect(clock.sleepers).toBe(0);
  });

  test("wakes a sleeper in real time unless it is manual, and has moved there", async () => {
    const clock = new FakeClock(100);
    await clock.sleep(1);
    expect(clock.now()).toBe(101);
  });

  test("settles work by moving from sleeper to sleeper", async () => {
    const clock = new FakeClock(0, { manual: true });
    const work = async () => {
      for (let round = 0; round < 10; round++) await clock.sleep(3_600_000);
      return "done";
    };
    await expect(clock.settle(work())).resolves.toBe("done");
    expect(clock.now()).toBe(36_000_000);
    await expect(clock.settle(Promise.reject(new Error("no")))).rejects.toThrow("no");
  });
});
