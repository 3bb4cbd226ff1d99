// What a walk over a hostile value costs and admits: sharing, proxies and sizes. What JSON is stands in redaction.test.ts.

import { describe, expect, test } from "vitest";
import { admit, redact } from "./redaction.ts";

/** A value of `depth` objects that is 2^depth elements when it is written out. */
function shared(depth: number, leaf: unknown = 1): unknown {
  let value = leaf;
  for (let count = 0; count < depth; count += 1) value = [value, value];
  return value;
}

const tooLarge = expect.objectContaining({ code: "MEMORY_LIMIT", what: "value", limit: 1_000 });

describe("a value that holds the same objects many times", () => {
  test("is admitted written out where that fits", () => {
    expect(admit(shared(5), null, "value", 1_000).value).toEqual(JSON.parse(JSON.stringify(shared(5))));
  });

  test("is refused without writing it out", () => {
    for (const leaf of [1, "text", {}, []])
      expect(() => admit(shared(900, leaf), null, "value", 1_000)).toThrow(tooLarge);
    const wide = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`m${index}`, shared(900)]));
    expect(() => admit(wide, null, "value", 1_000)).toThrow(tooLarge);
  });

  test("is refused also where only texts repeat", () => {
    const text = "x".repeat(10_000);
    const error = expect.objectContaining({ code: "MEMORY_LIMIT", limit: 1_000 });
    expect(() =>
      admit(
        Array.from({ length: 1_000_000 }, () => text),
        null,
        "value",
        1_000,
      ),
    ).toThrow(error);
  });

  test("is refused by `redact`, which knows no store, beyond 16 MiB", () => {
    const value = JSON.parse("[]");
    value.push(shared(900, "a text of some length, so that few of them are many"));
    expect(() => redact(value)).toThrow(expect.objectContaining({ code: "MEMORY_LIMIT" }));
  });

  test("counts masked texts as they are stored", () => {
    const mask = { redact: () => "" };
    const text = "x".repeat(400);
    const part = [text, text];
    expect(admit([part, part, part], mask, "value", 1_000).text).toBe('[["",""],["",""],["",""]]');
  });
});

describe("a proxy", () => {
  test("is read once: what it gives a second time is nowhere", () => {
    const liar = new Proxy({ a: "seen" }, { get: () => 10n });
    expect(admit({ liar }, null, "value").value).toEqual({ liar: { a: "seen" } });
  });

  test("whose length has no end is refused", () => {
    const endless = new Proxy([], {
      get: (target, name) => (name === "length" ? 2 ** 50 : name in target ? Reflect.get(target, name) : 1),
    });
    expect(() => admit(endless, null, "value", 1_000)).toThrow(tooLarge);
  });
});

test("the marks of what was masked are nobody's to change", () => {
  expect(Object.isFrozen(admit("a@b.cd", { redact: () => "[redacted]" }, "value").redacted)).toBe(true);
});

test("a refusal's stack shows who called, however deep it was found", () => {
  let value: unknown = new Date();
  for (let depth = 0; depth < 100; depth += 1) value = { value };
  const nameOfTheCaller = (): unknown => admit(value, null, "value", 1_000_000);
  let stack: unknown;
  try {
    nameOfTheCaller();
  } catch (error) {
    stack = Reflect.get(Object(error), "stack");
  }
  expect(stack).toMatch(/nameOfTheCaller/);
});
