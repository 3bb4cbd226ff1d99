// The time of the conversations.

import { expect, test } from "vitest";
import { StoryClock } from "../src/clock.ts";

test("a sleep moves the clock to its end, and the clock never goes back", async () => {
  const clock = new StoryClock(1_000);
  await Promise.all([clock.sleep(3), clock.sleep(5)]);
  expect(clock.now()).toBe(1_005);
  clock.moveTo(500);
  expect(clock.now()).toBe(1_005);
  clock.moveTo(9_000);
  expect(clock.now()).toBe(9_000);
});

test("a sleep that is called off moves nothing", async () => {
  const clock = new StoryClock(0);
  const controller = new AbortController();
  const sleeping = clock.sleep(60_000, controller.signal);
  controller.abort();
  await expect(sleeping).rejects.toThrow();
  expect(clock.now()).toBe(0);
});
