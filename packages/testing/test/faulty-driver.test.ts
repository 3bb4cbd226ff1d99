// The driver that fails on purpose: which calls a plan hits, what happened by then, and that it is the wrapped driver in
// everything else.

import { createMemoryStore, type MemoryDriver } from "@memory/core/driver";
import { inMemoryDriver } from "@memory/core/in-memory";
import { describe, expect, test } from "vitest";
import { type FaultKind, faultyDriver, InjectedFault } from "../src/faulty-driver.ts";

const scope = { tenantId: "acme" };
const request = { scope, key: "k", ttlMs: 0 };
const call = { now: 0, signal: new AbortController().signal, budgetMs: 1_000, attempt: 1 };

describe("faultyDriver", () => {
  test("without a plan is the wrapped driver", async () => {
    const inner = inMemoryDriver();
    const { driver, calls } = faultyDriver(inner, []);
    expect(createMemoryStore(driver).capabilities).toEqual(createMemoryStore(inner).capabilities);
    expect(driver.name).toBe("in-memory");
    await expect(driver.working?.expire(request, call)).resolves.toBe(false);
    expect(calls).toEqual(["working.expire"]);
  });

  test("keeps what is absent absent", () => {
    const { driver } = faultyDriver(inMemoryDriver({ without: ["profile"] }), []);
    expect(driver.profile).toBeUndefined();
    expect(driver.verify).toBeUndefined();
    expect(driver.working?.under).toBe(true);
  });

  test("wraps a frozen driver too", async () => {
    const inner = inMemoryDriver();
    const { working } = inner;
    const frozen: MemoryDriver = Object.freeze({
      ...inner,
      ...(working && { working: Object.freeze({ ...working }) }),
    });
    const { driver } = faultyDriver(frozen, [{ fault: "fatal" }]);
    await expect(driver.working?.expire(request, call)).rejects.toBeInstanceOf(InjectedFault);
  });

  test("hits the calls that the plan names, and no others", async () => {
    const { driver } = faultyDriver(inMemoryDriver(), [{ on: "working.expire", fault: "fatal", nth: 2, times: 2 }]);
    const outcomes: unknown[] = [];
    for (let round = 1; round <= 4; round++) {
      await driver.working?.get({ scope, key: "k", last: undefined }, call);
      outcomes.push(await driver.working?.expire(request, call).catch(() => "failed"));
    }
    expect(outcomes).toEqual([false, "failed", "failed", false]);
  });

  test.each<[FaultKind, boolean, boolean, boolean]>([
    ["refused", true, false, true],
    ["request-lost", true, false, false],
    ["reply-lost", true, false, false],
    ["exhausted", false, true, false],
    ["fatal", false, false, false],
  ])("says of %s what a driver would", async (fault, transient, exhausted, noEffect) => {
    const { driver } = faultyDriver(inMemoryDriver(), [{ fault }]);
    const error: unknown = await driver.working?.expire(request, call).catch((thrown: unknown) => thrown);
    expect(driver.isTransient(error)).toBe(transient);
    expect(driver.isExhausted(error)).toBe(exhausted);
    expect(driver.hadNoEffect?.(error)).toBe(noEffect);
  });

  test("leaves errors that are not its own to the wrapped driver", () => {
    const own = new Error("own");
    const inner: MemoryDriver = { ...inMemoryDriver(), isTransient: (error) => error === own };
    const { driver } = faultyDriver(inner, []);
    expect(driver.isTransient(own)).toBe(true);
    expect(driver.isExhausted(own)).toBe(false);
    expect(driver.hadNoEffect?.(own)).toBe(false);
  });
});
