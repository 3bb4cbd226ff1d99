// Admission of values and masking of their texts, names and paths.

import { runInNewContext } from "node:vm";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MemoryRecordError, MemorySettingsError } from "../model/errors.ts";
import { admit, admitMetadata, admitText, PatternRedactor, redact } from "./redaction.ts";

const R = "[redacted]";
const CARD = "4111 1111 1111 1111";
const redactor = new PatternRedactor();

describe("admit without a redactor", () => {
  it("gives every JSON value back as it went in, in its order of members", () => {
    fc.assert(
      fc.property(anyJson(), (value) => {
        const before = JSON.stringify(value);
        const admitted = admit(value, null, "value");
        expect(admitted.text).toBe(before);
        expect(JSON.stringify(admitted.value)).toBe(before);
        expect(JSON.parse(admitted.text)).toStrictEqual(JSON.parse(before));
        expect(admitted.redacted).toEqual([]);
      }),
    );
  });

  it("keeps what others lose: `__proto__`, empty names, NUL, lone surrogates, extreme numbers", () => {
    const text =
      '{"__proto__":{"a":1},"":{"":0},"s":"\\u0000\\ud800","n":[9007199254740991,1e-308,5e-324,-1.5],"constructor":1}';
    const admitted = admit(JSON.parse(text), null, "value");
    expect(admitted.text).toBe(text);
    expect(Object.getPrototypeOf(admitted.value)).toBe(Object.prototype);
  });

  it("stores -0 as 0", () => {
    expect(Object.is(admit([-0, { a: -0 }], null, "value").text, '[0,{"a":0}]')).toBe(true);
    const { value } = admit(-0, null, "value");
    expect(Object.is(value, 0)).toBe(true);
  });

  it("shares no object with the caller", () => {
    const input = { a: [{ b: 1 }], c: { d: 2 } };
    const { value } = admit(input, null, "value");
    input.a[0] = { b: 9 };
    input.c.d = 9;
    expect(value).toEqual({ a: [{ b: 1 }], c: { d: 2 } });
  });

  it("copies one object that stands in two places twice", () => {
    const shared = { x: [1] };
    expect(admit([shared, { shared }, shared], null, "value").text).toBe('[{"x":[1]},{"shared":{"x":[1]}},{"x":[1]}]');
  });

  it("takes frozen objects, objects without a prototype and those of another realm", () => {
    const bare = Object.assign(Object.create(null), { a: 1 });
    expect(admit(Object.freeze([bare]), null, "value").text).toBe('[{"a":1}]');
    expect(admit(runInNewContext("({ a: [1, { b: 2 }] })"), null, "value").text).toBe('{"a":[1,{"b":2}]}');
  });

  it("takes nesting to 1,000 and refuses 1,001", () => {
    for (const [open, close] of [
      ["[", "]"],
      ['{"a":', "}"],
    ] as const) {
      const text = (depth: number) => open.repeat(depth) + (open === "[" ? "" : "1") + close.repeat(depth);
      expect(admit(JSON.parse(text(1_000)), redactor, "value").text).toBe(text(1_000));
      expect(() => admit(JSON.parse(text(1_001)), null, "value")).toThrow(MemoryRecordError);
    }
  });

  it.each(notJson())("refuses %s, naming the path", (_, make) => {
    expect(refusal(make(), "value")).toBe("value");
    expect(refusal({ a: [1, { "b.c\\": make() }] }, "value")).toBe("value.a.1.b\\.c\\\\");
  });

  it("refuses accessors without running them, and everything that JSON.stringify would drop", () => {
    let ran = 0;
    const get = () => (ran += 1);
    expect(refusal(Object.defineProperty({}, "a", { get, enumerable: true }), "value")).toBe("value.a");
    expect(refusal(Object.defineProperty({}, "a", { value: 1 }), "value")).toBe("value");
    expect(refusal({ [Symbol("s")]: 1 }, "value")).toBe("value");
    expect(refusal(Object.assign([1], { name: 1 }), "value")).toBe("value");
    expect(refusal(Object.assign([1], { [Symbol("s")]: 1 }), "value")).toBe("value");
    const sparse: number[] = [1];
    sparse[2] = 3;
    expect(refusal(sparse, "value")).toBe("value.1");
    expect(ran).toBe(0);
  });

  it("refuses cycles, near and far", () => {
    const near: Record<string, unknown> = {};
    near["self"] = near;
    expect(refusal(near, "value")).toBe("value.self");
    const far: { a: { b: unknown[] } } = { a: { b: [] } };
    far.a.b.push(1, far);
    expect(refusal(far, "value")).toBe("value.a.b.1");
  });

  it("names neither value nor member in the message", () => {
    try {
      admit({ secretName: new Date(0) }, null, "value");
      expect.unreachable();
    } catch (error) {
      expect(String(error)).not.toContain("secretName");
      expect(JSON.stringify(error)).not.toContain("secretName");
    }
  });
});

describe("admit with a redactor", () => {
  it("masks strings and member names at any depth and notes where", () => {
    const admitted = admit(
      { a: { "b.c": ["x", "mail a@b.cd"] }, "d@e.fg": { h: CARD }, n: 4111111111111111, ok: "fine" },
      redactor,
      "value",
    );
    expect(admitted.value).toEqual({
      a: { "b.c": ["x", `mail ${R}`] },
      [R]: { h: R },
      n: 4111111111111111,
      ok: "fine",
    });
    expect(admitted.redacted).toEqual(["value.a.b\\.c.1", `value.${R}`, `value.${R}.h`]);
    expect(admitted.text).toBe(JSON.stringify(admitted.value));
  });

  it("masks a value that is a text itself", () => {
    expect(admit("a@b.cd", redactor, "value")).toEqual({ value: R, text: `"${R}"`, redacted: ["value"] });
  });

  it("tells colliding names apart by a number and loses nothing", () => {
    const admitted = admit({ "a@b.cd": 1, [R]: 2, "c@d.ef": 3, [`${R}_3`]: 4, "e@f.gh": "i@j.kl" }, redactor, "value");
    expect(admitted.value).toEqual({ [`${R}_2`]: 1, [R]: 2, [`${R}_4`]: 3, [`${R}_3`]: 4, [`${R}_5`]: R });
    expect(admitted.redacted).toEqual([`value.${R}_2`, `value.${R}_4`, `value.${R}_5`]);
  });

  it("keeps apart any number of masked names", () => {
    const many = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`user${index}@example.com`, index]));
    const { value } = admit(many, redactor, "value");
    expect(Object.values(value as object)).toEqual(Object.values(many));
  });

  it("keeps a `__proto__` member beside masked ones", () => {
    expect(admit(JSON.parse('{"a@b.cd":1,"__proto__":{"x":"a@b.cd"}}'), redactor, "value").text).toBe(
      `{"${R}":1,"__proto__":{"x":"${R}"}}`,
    );
  });

  it("shows the path of a refusal with its names masked", () => {
    expect(refusal({ "a@b.cd": undefined }, "value", redactor)).toBe(`value.${R}`);
  });

  it("changes nothing the second time", () => {
    fc.assert(
      fc.property(anyJson(), (value) => {
        const once = admit(value, redactor, "value");
        const twice = admit(once.value, redactor, "value");
        expect(twice.text).toBe(once.text);
        expect(twice.redacted).toEqual([]);
      }),
    );
  });

  it("refuses a redactor that gives no text", () => {
    const broken = { redact: (): string => JSON.parse("null") };
    expect(() => admit({ a: "b" }, broken, "value")).toThrow(MemoryRecordError);
    expect(() => admitText("a", broken, "source", [])).toThrow(MemoryRecordError);
    expect(() => admitMetadata({ a: "b" }, broken, [])).toThrow(MemoryRecordError);
  });
});

describe("redact", () => {
  it("gives what a store keeps", () => {
    fc.assert(
      fc.property(anyJson(), (value) => {
        expect(redact(JSON.parse(JSON.stringify(value)))).toStrictEqual(admit(value, redactor, "value").value);
      }),
    );
    expect(redact(`card ${CARD}`)).toBe(`card ${R}`);
    expect(redact({ note: "x1" }, { redact: (text) => text.replace("1", "2") })).toEqual({ note: "x2" });
  });
});

describe("admitText and admitMetadata", () => {
  it("mask and note the paths", () => {
    const into: string[] = [];
    expect(admitText("from a@b.cd", redactor, "source", into)).toBe(`from ${R}`);
    expect(admitText("tool:search", redactor, "subject", into)).toBe("tool:search");
    expect(admitMetadata({ "a@b.cd": CARD, "x.y": "a@b.cd", [R]: 1, n: 2, b: true }, redactor, into)).toEqual({
      [`${R}_2`]: R,
      "x.y": R,
      [R]: 1,
      n: 2,
      b: true,
    });
    expect(into).toEqual(["source", `metadata.${R}_2`, "metadata.x\\.y"]);
  });

  it("change nothing without a redactor", () => {
    const into: string[] = [];
    expect(admitText("a@b.cd", null, "source", into)).toBe("a@b.cd");
    const metadata = JSON.parse('{"__proto__":"a@b.cd"}');
    expect(JSON.stringify(admitMetadata(metadata, null, into))).toBe(JSON.stringify(metadata));
    expect(JSON.stringify(admitMetadata(metadata, redactor, into))).toBe(`{"__proto__":"${R}"}`);
    expect(into).toEqual(["metadata.__proto__"]);
  });
});

describe("extraPatterns", () => {
  it("mask every match, whatever the flags, and move no lastIndex", () => {
    const sticky = /EMP-\d+/y;
    const global = /secret/gi;
    global.lastIndex = 5;
    const extra = new PatternRedactor({ extraPatterns: [sticky, global, /^\d{3}$/] });
    for (let round = 0; round < 3; round += 1) {
      expect(extra.redact("x EMP-1 and EMP-2, SECRET, a@b.cd")).toBe(`x ${R} and ${R}, ${R}, ${R}`);
    }
    expect(extra.redact("123")).toBe(R);
    expect([sticky.lastIndex, global.lastIndex]).toEqual([0, 5]);
  });

  it("neither loop nor mask on empty matches", () => {
    const extra = new PatternRedactor({ extraPatterns: [/x*/, /(?=a)/, /$/] });
    expect(extra.redact("abxxc")).toBe(`ab${R}c`);
  });

  it("leave what is masked already as it is", () => {
    for (const pattern of [/\w+/, /./, /a/, /e/, /.+/, /\]/, /d\].*/, /redacted/, /b(?=\[)/]) {
      const extra = new PatternRedactor({ extraPatterns: [pattern, /q/] });
      fc.assert(
        fc.property(fc.string(), fc.constantFrom("", R, "a@b.cd", "q", "banana"), fc.string(), (head, middle, tail) => {
          const once = extra.redact(head + middle + tail);
          expect(extra.redact(once)).toBe(once);
        }),
      );
    }
  });

  it("have to be regular expressions", () => {
    expect(() => new PatternRedactor({ extraPatterns: JSON.parse('["secret"]') })).toThrow(MemorySettingsError);
  });
});

function refusal(value: unknown, path: string, by: PatternRedactor | null = null): string {
  try {
    admit(value, by, path);
  } catch (error) {
    if (error instanceof MemoryRecordError) return error.path;
    throw error;
  }
  return "admitted";
}

function notJson(): [what: string, make: () => unknown][] {
  class Point {
    x = 1;
  }
  return [
    ["undefined", () => undefined],
    ["NaN", () => Number.NaN],
    ["Infinity", () => Number.POSITIVE_INFINITY],
    ["-Infinity", () => Number.NEGATIVE_INFINITY],
    ["a BigInt", () => 1n],
    ["a symbol", () => Symbol("s")],
    ["a function", () => () => 1],
    ["a class", () => Point],
    ["a Date", () => new Date(0)],
    ["a Map", () => new Map()],
    ["a Set", () => new Set()],
    ["a RegExp", () => /x/],
    ["an Error", () => new Error("x")],
    ["a Promise", () => Promise.resolve()],
    ["a boxed string", () => Object("x")],
    ["a boxed number", () => Object(1)],
    ["a boxed boolean", () => Object(true)],
    ["a class instance", () => new Point()],
    ["an object with a prototype of its own", () => Object.create({ a: 1 })],
    ["a typed array", () => new Uint8Array(2)],
    ["an ArrayBuffer", () => new ArrayBuffer(2)],
    ["an array of a class", () => new (class List extends Array {})()],
    ["a Date of another realm", () => runInNewContext("new Date(0)")],
    ["a Math object", () => Math],
  ];
}

function anyJson(): fc.Arbitrary<unknown> {
  const text = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.constantFrom("__proto__", "", "a.b", "\ud800", "a@b.cd", R, CARD, "toJSON"),
  );
  return fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4, withCrossShrink: true },
      fc.oneof(
        fc.constantFrom(null, true, false, 0, 2 ** 53 - 1, 1e-308),
        fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => n + 0),
        text,
      ),
      fc.array(tie("value"), { maxLength: 4 }),
      fc.dictionary(text, tie("value"), { maxKeys: 5 }),
    ),
  })).value;
}
