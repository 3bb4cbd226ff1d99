// A vector's text holds every number exactly, and no more bytes than are reckoned with.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { vectorText } from "./vector.ts";

const read = (text: string): readonly number[] => {
  expect(text).toMatch(/^\[(?:-?\d+(?:\.\d+)?(?:e[+-]\d+)?(?:,(?!\])|(?=\])))*\]$/);
  return text
    .slice(1, -1)
    .split(",")
    .filter((number) => number !== "")
    .map((number) => Math.fround(Number(number)));
};

describe("vectorText", () => {
  it("is read as the very numbers, whatever they are", () => {
    const any = fc.float({ noNaN: true, noDefaultInfinity: true });
    const usual = fc.float({ min: Math.fround(-0.2), max: Math.fround(0.2), noNaN: true });
    fc.assert(
      fc.property(fc.array(fc.oneof(any, usual), { maxLength: 64 }), (embedding) => {
        const vector = embedding.map((number) => number + 0);
        const text = vectorText(vector);
        expect(read(text)).toEqual(vector);
        expect(text.length).toBeLessThanOrEqual(vector.length * 16 + 2);
      }),
      { numRuns: 2_000 },
    );
  });

  it("is exact at every power of ten, and just beside it", () => {
    const [number, bits] = [new Float32Array(1), new Uint32Array(1)];
    const beside: number[] = [];
    for (let power = -45; power <= 38; power += 1) {
      number[0] = 10 ** power;
      const middle = new Uint32Array(number.buffer)[0] ?? 0;
      for (let step = -3; step <= 3; step += 1) {
        bits[0] = Math.max(0, middle + step);
        const one = new Float32Array(bits.buffer)[0] ?? 0;
        beside.push(one, -one + 0);
      }
    }
    expect(read(vectorText(beside))).toEqual(beside);
  });

  it("is the empty list of no numbers", () => {
    expect(vectorText([])).toBe("[]");
  });
});
