// The arithmetic of attempts.

import { describe, expect, test } from "vitest";
import { retryBudgetMs, retryDelayMs } from "./retry.ts";

const settings = { maxAttempts: 4, attemptTimeoutMs: 150, queueTimeoutMs: 10, backoffMs: 50 };

describe("retryDelayMs", () => {
  test("doubles its ceiling up to an attempt's timeout", () => {
    expect([1, 2, 3, 4, 60].map((attempt) => retryDelayMs(settings, attempt, () => 1))).toEqual([
      50, 100, 150, 150, 150,
    ]);
  });

  test("spreads over the whole of it", () => {
    expect([0, 0.25, 0.5].map((chance) => retryDelayMs(settings, 2, () => chance))).toEqual([0, 25, 50]);
  });

  test.each([
    [-1, 0],
    [Number.NaN, 0],
    [2, 100],
  ])("takes entropy %d as the nearer end", (chance, delay) => {
    expect(retryDelayMs(settings, 2, () => chance)).toBe(delay);
  });
});

describe("retryBudgetMs", () => {
  test("is the longest that all attempts can take, with queueing and backoff", () => {
    expect(retryBudgetMs(settings)).toBe(4 * 160 + 50 + 100 + 150);
  });

  test("shrinks with the attempts that are left", () => {
    expect([2, 3, 4, 5].map((from) => retryBudgetMs(settings, from))).toEqual([3 * 160 + 250, 2 * 160 + 150, 160, 0]);
  });
});
