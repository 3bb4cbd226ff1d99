// What a driver gives back becomes a record only where every part of it is one; anything else is corruption, with the id
// where there is one to read and the payload as it came.

import { describe, expect, test } from "vitest";
import { storedRecord } from "../../test/stored-record.ts";
import type { StoredRecord } from "../model/driver.ts";
import { isMemoryError } from "../model/errors.ts";
import { type Asked, parseEntry, parseRow, rowScope } from "./row.ts";

const scope = { tenantId: "acme", userId: "ann" };
const asked: Asked = { kind: "semantic", scope, reach: "exact" };
const versions: Asked = { ...asked, kind: "profile" };
const row: StoredRecord = storedRecord({ scope, validFrom: 1, version: 1 });

function thrownBy(act: () => unknown): unknown {
  try {
    return act();
  } catch (error) {
    return error;
  }
}

/** The row with parts that the type forbids. */
function damaged(parts: object): StoredRecord;
function damaged(parts: object): unknown {
  return { ...row, ...parts };
}

describe("a damaged row is corruption", () => {
  test.each<[string, object]>([
    ["an empty key", { key: "" }],
    ["a key with a NUL", { key: "a\0" }],
    ["a key that is no text", { key: 1 }],
    ["a value that is no text", { value: 1 }],
    ["a value that is not JSON", { value: "{" }],
    ["an empty source", { source: "" }],
    ["a source that is no text", { source: null }],
    ["a confidence above 1", { confidence: 1.5 }],
    ["a confidence below 0", { confidence: -0.5 }],
    ["a confidence that is no number", { confidence: Number.NaN }],
    ["a recordedAt of a fraction", { recordedAt: 1.5 }],
    ["a recordedAt beyond Date", { recordedAt: 8.64e15 + 1 }],
    ["a validFrom that is no instant", { validFrom: "1" }],
    ["a validTo that is no instant", { validTo: null }],
    ["a subject that is no text", { subject: 1 }],
    ["a predicate that is no list", { predicate: "p" }],
    ["a predicate of numbers", { predicate: [1] }],
    ["marks that are no list", { redacted: "value" }],
    ["marks of numbers", { redacted: [1] }],
    ["metadata that nests", { metadata: { a: {} } }],
    ["metadata that is a list", { metadata: [] }],
    ["a vector that is no list", { embedding: "[1]" }],
    ["a vector with an infinite component", { embedding: [1, Number.POSITIVE_INFINITY] }],
    ["another scope", { scope: { tenantId: "acme" } }],
    ["another tenant", { scope: { ...scope, tenantId: "other" } }],
    ["a scope that is none", { scope: { ...scope, userId: "" } }],
    ["no scope", { scope: undefined }],
  ])("with %s", (_what, parts) => {
    const error = thrownBy(() => parseRow(asked, damaged(parts)));
    expect(error).toMatchObject({ code: "MEMORY_CORRUPTION", id: "id" });
    expect(isMemoryError(error, "MEMORY_CORRUPTION") && error.payload).toEqual({ ...row, ...parts });
  });

  test.each<[string, object]>([
    ["its validFrom", { validFrom: undefined }],
    ["its version", { version: undefined }],
    ["a version from 1", { version: 0 }],
  ])("without %s, where it is a version", (_what, parts) => {
    expect(thrownBy(() => parseRow(versions, damaged(parts)))).toMatchObject({ code: "MEMORY_CORRUPTION" });
  });

  test.each([null, undefined, "row", 7])("that is %j, with no id", (given) => {
    const error = thrownBy(() => Reflect.apply(parseRow, undefined, [asked, given]));
    expect(error).toMatchObject({ code: "MEMORY_CORRUPTION", id: null });
  });

  test("with no id that can be read", () => {
    expect(thrownBy(() => parseRow(asked, damaged({ id: 7 })))).toMatchObject({ code: "MEMORY_CORRUPTION", id: null });
  });

  test("of another key than was asked for", () => {
    expect(thrownBy(() => parseRow({ ...asked, key: "other" }, row))).toMatchObject({ code: "MEMORY_CORRUPTION" });
    expect(parseRow({ ...asked, key: "key" }, row).key).toBe("key");
  });
});

describe("a whole row", () => {
  test("is a frozen record without what is absent", () => {
    const record = parseRow(asked, row);
    expect(record).toEqual({
      id: "id",
      kind: "semantic",
      scope,
      key: "key",
      value: 1,
      source: "test",
      confidence: 1,
      validFrom: 1,
      recordedAt: 0,
      version: 1,
    });
    expect(Object.isFrozen(record)).toBe(true);
    expect(record.scope).toBe(scope);
  });

  test("under the scope asked for is of its own scope, and beyond it is corruption", () => {
    const under = { scope: { tenantId: "acme" }, reach: "under" } as const;
    expect(rowScope(under, row)).toEqual(scope);
    expect(thrownBy(() => rowScope(under, { scope: { tenantId: "acm" } }))).toMatchObject({
      code: "MEMORY_CORRUPTION",
    });
  });
});

describe("a working entry is corruption", () => {
  const working: Asked = { ...asked, kind: "working" };
  test.each<[string, unknown]>([
    ["whose value is no text", { value: 7 }],
    ["whose value is not JSON", { value: "{" }],
    ["whose marks are not JSON", { value: "1\nx" }],
    ["whose marks are no list", { value: "1\n{}" }],
    ["whose marks are numbers", { value: "1\n[1]" }],
    ["with an element that is no text", { items: ["1", 2] }],
    ["with an element whose marks are damaged", { items: ["1", "2\n["] }],
  ])("%s", (_what, content) => {
    const entry = { head: { ...row, value: "" }, content };
    expect(thrownBy(() => Reflect.apply(parseEntry, undefined, [working, entry]))).toMatchObject({
      code: "MEMORY_CORRUPTION",
    });
  });
});
