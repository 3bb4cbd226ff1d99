// SystemClock: what `sleep` promises, without waiting for it.

import { describe, expect, test } from "vitest";
import { SystemClock } from "./clock.ts";

describe("SystemClock", () => {
  test("tells the machine's time in whole milliseconds", () => {
    const before = Date.now();
    const now = new SystemClock().now();
    expect(Number.isInteger(now)).toBe(true);
    expect(now).toBeGreaterThanOrEqual(before);
  });

  test("wakes from a sleep of no length, a negative one and one that is not a number", async () => {
    const clock = new SystemClock();
    await Promise.all([0, -5, Number.NaN].map((ms) => clock.sleep(ms)));
  });

  test("does not wake early from a sleep beyond the timer's range", async () => {
    const controller = new AbortController();
    const first = Promise.race([
      new SystemClock().sleep(Number.POSITIVE_INFINITY, controller.signal).then(() => "long"),
      new SystemClock().sleep(5).then(() => "short"),
    ]);
    expect(await first).toBe("short");
    controller.abort();
  });

  test("rejects with the signal's reason, whether it aborts before or during the sleep", async () => {
    const clock = new SystemClock();
    await expect(clock.sleep(60_000, AbortSignal.abort("early"))).rejects.toBe("early");
    const controller = new AbortController();
    const sleep = clock.sleep(60_000, controller.signal);
    controller.abort("late");
    await expect(sleep).rejects.toBe("late");
  });
});
