// withDeadline: settles in time, whatever the work does.

import { describe, expect, test } from "vitest";
import { HandClock } from "../../test/hand-clock.ts";
import { DeadlineError, withDeadline } from "./deadline.ts";

const never = () => new Promise<never>(() => undefined);

describe("withDeadline", () => {
  test("settles as the work does and leaves no sleeper behind", async () => {
    const clock = new HandClock();
    expect(await withDeadline(async () => 7, { clock, ms: 100 })).toBe(7);
    await expect(withDeadline(() => Promise.reject("no"), { clock, ms: 100 })).rejects.toBe("no");
    expect(clock.sleepers).toBe(0);
  });

  test("takes a throw for a rejection", async () => {
    const work = () => {
      throw new RangeError("at once");
    };
    await expect(withDeadline(work, { clock: new HandClock(), ms: 100 })).rejects.toThrow(RangeError);
  });

  test("gives up exactly at the deadline and tells the work", async () => {
    const clock = new HandClock();
    let signal: AbortSignal | undefined;
    const work = withDeadline(
      (given) => {
        signal = given;
        return never();
      },
      { clock, ms: 100 },
    );
    const settled = work.then(
      () => "done",
      (error: unknown) => error,
    );
    await clock.advance(99);
    expect(signal?.aborted).toBe(false);
    await clock.advance(1);
    expect(await settled).toBeInstanceOf(DeadlineError);
    expect(signal?.aborted).toBe(true);
  });

  test("stops at the caller's signal with its reason, before and during the work", async () => {
    const clock = new HandClock();
    await expect(withDeadline(never, { clock, ms: 1, signal: AbortSignal.abort("early") })).rejects.toBe("early");
    const controller = new AbortController();
    const work = withDeadline(never, { clock, ms: 100, signal: controller.signal });
    controller.abort("late");
    await expect(work).rejects.toBe("late");
    await clock.advance(0);
    expect(clock.sleepers).toBe(0);
  });
});
