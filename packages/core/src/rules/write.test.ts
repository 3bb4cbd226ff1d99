// The one way down at its edges: the last size that is taken and the first that is not, vectors as float32 has them, marks
// that go with their element.

import { describe, expect, test } from "vitest";
import type { MemoryRecordInput } from "../model/record.ts";
import { memoryScope } from "../model/scope.ts";
import { PatternRedactor } from "./redaction.ts";
import { admitValue, admitVector, prepareRecord, splitEntry, type WriteRules } from "./write.ts";

const scope = memoryScope({ tenantId: "acme" });
const rules: WriteRules = { redactor: new PatternRedactor(), maxValueBytes: 1_000_000 };
const record: MemoryRecordInput = { key: "k", value: 1, source: "s" };
const prepared = (input: MemoryRecordInput) => prepareRecord("working", scope, input, rules, 0);

describe("attributes", () => {
  const empty = '{"source":""}'.length;
  test.each([
    ["of ASCII", "s".repeat(16_384 - empty)],
    ["of two bytes a character", `${"é".repeat((16_384 - empty - 1) / 2)}s`],
  ])("%s are measured in UTF-8 JSON bytes: 16,384 are taken and one more is not", (_what, source) => {
    expect(prepared({ ...record, source }).stored.source).toBe(source);
    expect(() => prepared({ ...record, source: `${source}s` })).toThrow(
      expect.objectContaining({ code: "MEMORY_LIMIT", what: "attributes", limit: 16_384, size: 16_385 }),
    );
  });

  test("that are short texts of many bytes when escaped are measured as JSON", () => {
    const subject = "\u0001".repeat(1_900);
    expect(prepared({ ...record, subject }).stored.subject).toBe(subject);
  });
});

describe("a value", () => {
  test.each(["x", "é", "\u{1f600}"])("of %s is taken to the last byte and refused at the next", (unit) => {
    const value = unit.repeat(40);
    const maxValueBytes = Buffer.byteLength(JSON.stringify(value));
    expect(admitValue(value, { redactor: null, maxValueBytes }).value).toBe(value);
    expect(() => admitValue(value, { redactor: null, maxValueBytes: maxValueBytes - 1 })).toThrow(
      expect.objectContaining({ what: "value", limit: maxValueBytes - 1, size: maxValueBytes }),
    );
  });
});

describe("a vector", () => {
  const cosine = { dimensions: 2, metric: "cosine" } as const;

  test("is rounded to float32, and -0 becomes 0", () => {
    const [first, second] = admitVector([0.1, -0], { dimensions: 2, metric: "l2" });
    expect([first, Object.is(second, 0)]).toEqual([Math.fround(0.1), true]);
  });

  test.each([
    ["that is zero", [0, -0]],
    ["that is zero as float32", [1e-46, 0]],
    ["whose square is zero as float32", [1e-30, 0]],
    ["whose square is infinite as float32", [3e38, 3e38]],
  ])("%s has no cosine, and any other metric takes it", (_what, vector) => {
    expect(() => admitVector(vector, cosine)).toThrow(
      expect.objectContaining({ code: "MEMORY_RECORD", path: "embedding" }),
    );
    expect(admitVector(vector, { ...cosine, metric: "inner" })).toHaveLength(2);
  });
});

test("each element of a sequence goes with its own marks, and the head with the rest", () => {
  const value = [...Array.from({ length: 10 }, () => "plain"), "ana@example.org", { to: "ben@example.org" }];
  const { head, content } = splitEntry(prepared({ ...record, value, source: "cas@example.org" }));
  expect(content.items?.slice(10)).toEqual(['"[redacted]"\n[""]', '{"to":"[redacted]"}\n[".to"]']);
  expect(content.items?.[1]).toBe('"plain"');
  expect(head.redacted).toEqual(["source"]);
});

test("a property named by a symbol is refused, as any that is unknown", () => {
  const odd = { ...record, [Symbol("scope")]: { tenantId: "other" } };
  expect(() => prepared(odd)).toThrow(expect.objectContaining({ code: "MEMORY_RECORD" }));
});
