// The encoding of several parts as one: injective, and in the order of the parts.

import fc from "fast-check";
import { expect, test } from "vitest";
import { compareText } from "../model/json.ts";
import { encodeKey } from "./key.ts";

// Any text that a door lets through (not blank, no NUL), or none; separators that others use are likely.
const part = fc.option(
  fc.oneof(
    fc.string({ unit: fc.constantFrom("a", "b", ":", "/", "\u0001", "*", "{", "}", "\uffff", "😀"), minLength: 1 }),
    fc.string({ unit: "binary", minLength: 1 }).filter((text) => !text.includes("\u0000")),
  ),
  { nil: undefined },
);
const parts = fc.tuple(part, part, part);

test("different parts never give one key", () => {
  fc.assert(
    fc.property(parts, parts, (a, b) => (encodeKey(a) === encodeKey(b)) === a.every((one, at) => one === b[at])),
  );
});

test("keys sort as their parts do, one by one, absent ones first", () => {
  fc.assert(
    fc.property(parts, parts, (a, b) => {
      const order = a.map((one, at) => compareText(one ?? "", b[at] ?? "")).find((one) => one !== 0) ?? 0;
      expect(Math.sign(compareText(encodeKey(a), encodeKey(b)))).toBe(Math.sign(order));
    }),
  );
});

test("a part that moves to its neighbour makes another key", () => {
  expect(encodeKey(["acme", "user", undefined])).not.toBe(encodeKey(["acme", undefined, "user"]));
  expect(encodeKey(["a:b", "c"])).not.toBe(encodeKey(["a", "b:c"]));
});
