// The order, size and equality of texts and values, held against what UTF-8 bytes say.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compareText, isWellFormedText, type JsonValue, sameJson, utf8Bytes } from "./json.ts";

const anyText = fc.string({ unit: "binary" });

describe("compareText", () => {
  it("orders as the UTF-8 bytes do", () => {
    fc.assert(
      fc.property(anyText, anyText, (a, b) => {
        expect(Math.sign(compareText(a, b))).toBe(Buffer.compare(Buffer.from(a), Buffer.from(b)));
      }),
    );
  });

  it("puts an astral character behind U+FFFD, where UTF-16 has it before", () => {
    expect(compareText("\u{1f600}", "\ufffd")).toBeGreaterThan(0);
    expect(compareText("a\u{1f600}", "a\ue000")).toBeGreaterThan(0);
  });

  it("puts a text behind its own beginning", () => {
    expect(compareText("user1", "user10")).toBeLessThan(0);
    expect(compareText("", "a")).toBeLessThan(0);
    expect(compareText("a", "a")).toBe(0);
  });
});

describe("utf8Bytes", () => {
  it("counts what an encoder writes", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)) }),
        (text) => {
          expect(utf8Bytes(text)).toBe(new TextEncoder().encode(text).length);
        },
      ),
    );
  });
});

describe("isWellFormedText", () => {
  it("takes any text without NUL and lone surrogates", () => {
    for (const text of ["", "a", "a:b*{}%", "\u0001", "\ufffe", "naïve 🎉"]) expect(isWellFormedText(text)).toBe(true);
  });

  it("refuses NUL and lone surrogates", () => {
    for (const text of ["\0", "a\0b", "\ud800", "\udc00a", "\udc00\ud800"]) expect(isWellFormedText(text)).toBe(false);
  });
});

describe("sameJson", () => {
  it("holds between a value and its parsed text, whatever the order of members", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const parsed: JsonValue = JSON.parse(JSON.stringify(value));
        expect(sameJson(parsed, reversed(parsed))).toBe(true);
      }),
    );
  });

  it("tells apart what differs", () => {
    const values = JSON.parse(
      '[null,false,0,"","0",[],{},[0],[null],{"a":1},{"a":2},{"b":1},{"a":1,"b":1},{"__proto__":1}]',
    );
    for (const [i, a] of values.entries()) {
      for (const [j, b] of values.entries()) expect(sameJson(a, b)).toBe(i === j);
    }
  });

  it("takes -0 for 0", () => {
    expect(sameJson([-0], [0])).toBe(true);
  });

  it("does not take an inherited member for one of the value", () => {
    expect(sameJson(JSON.parse('{"__proto__":{}}'), JSON.parse('{"toString":{}}'))).toBe(false);
  });

  it("compares what nests to 1,000", () => {
    const deep = "[".repeat(1_000) + "]".repeat(1_000);
    expect(sameJson(JSON.parse(deep), JSON.parse(deep))).toBe(true);
  });
});

function reversed(value: JsonValue): JsonValue {
  return JSON.parse(JSON.stringify(value), (_, member: unknown) =>
    typeof member === "object" && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).reverse())
      : member,
  );
}
