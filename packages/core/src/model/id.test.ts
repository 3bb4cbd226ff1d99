// uuidV7 against RFC 9562: layout, order, range.

import { describe, expect, test } from "vitest";
import { uuidV7 } from "./id.ts";

const FORM = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

function timeOf(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}

describe("uuidV7", () => {
  test("has the RFC's form and carries the instant", () => {
    // The instant of RFC 9562, appendix A.6.
    const id = uuidV7(0x017f22e279b0);
    expect(id).toMatch(FORM);
    expect(id.startsWith("017f22e2-79b0-7")).toBe(true);
  });

  test.each([
    [-1, 0],
    [0, 0],
    [Number.NaN, 0],
    [1.9, 1],
    [2 ** 48 - 1, 2 ** 48 - 1],
    [2 ** 48, 2 ** 48 - 1],
    [8.64e15, 2 ** 48 - 1],
  ])("takes %d into 48 bits as %d", (now, time) => {
    const id = uuidV7(now);
    expect(id).toMatch(FORM);
    expect(timeOf(id)).toBe(time);
  });

  test("gives no id twice and sorts ids of one instant in the order of their making", () => {
    const ids = Array.from({ length: 50_000 }, () => uuidV7(1_700_000_000_000));
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.every((id) => FORM.test(id))).toBe(true);
    expect([...ids].sort()).toEqual(ids);
  });

  test("sorts by instant, whatever was made between", () => {
    const late = uuidV7(2_000);
    const early = uuidV7(1_000);
    expect(early < late && late < uuidV7(3_000)).toBe(true);
  });

  test("begins each instant at another place", () => {
    const starts = new Set(Array.from({ length: 50 }, (_, index) => uuidV7(index + 1).slice(14)));
    expect(starts.size).toBe(50);
  });
});
