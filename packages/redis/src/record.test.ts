// What is stored of a record comes back as it was, in either form of head.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeEntry, decodeHead, encodeHead, generationOf, shortToken } from "./record.ts";

const scope = { tenantId: "t" };
const plain = {
  id: "01a22d65-4bd8-72fe-b410-01eec1758d3c",
  scope,
  key: "k",
  value: "",
  source: "tool",
  confidence: 1,
  validFrom: undefined,
  validTo: undefined,
  subject: undefined,
  predicate: undefined,
  metadata: undefined,
  redacted: undefined,
  recordedAt: 0x01a22d654bd8,
  version: undefined,
  embedding: undefined,
};

describe("a head", () => {
  it("that says little takes 23 characters and its source", () => {
    expect(encodeHead(plain)).toHaveLength(23 + "tool".length);
    expect(decodeHead(`12${encodeHead(plain)}`, scope, "k")).toEqual(plain);
    expect(generationOf(`12${encodeHead(plain)}`)).toBe(12);
  });

  it("comes back whatever it says", () => {
    const text = fc.string({ unit: "grapheme" });
    const changes = fc.record(
      {
        id: text,
        source: text,
        confidence: fc.double({ min: 0, max: 1, noNaN: true }),
        validFrom: fc.integer(),
        subject: text,
        predicate: fc.array(text),
        metadata: fc.dictionary(text, text),
        recordedAt: fc.integer(),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(changes, (change) => {
        const head = { ...plain, ...change };
        const stored = encodeHead(head);
        expect(stored).not.toContain("\n");
        expect(JSON.stringify(decodeHead(`0${stored}`, scope, "k"))).toBe(
          JSON.stringify({ ...head, confidence: head.confidence + 0 }),
        );
      }),
    );
  });

  it("that is not ours is corruption", () => {
    for (const text of ["", "0", "0x", "0j{", "0j7", "a", "0ashort"])
      expect(() => decodeHead(text, scope, "k")).toThrow();
    expect(() => decodeEntry("no line feed", scope, "k")).toThrow();
    expect(decodeEntry(null, scope, "k")).toBeNull();
  });
});

describe("a short token", () => {
  it("has eleven characters, and differs where tokens do", () => {
    const tokens = [plain.id, plain.id.replace(/c$/, "d"), "anything", "else"].map(shortToken);
    expect(tokens.every((token) => token.length === 11)).toBe(true);
    expect(new Set(tokens).size).toBe(4);
  });
});
