// What a cursor can be forged to: nothing beyond the scope, query and store that it is bound to, and no position that no
// record can have. That each list refuses the cursors of others is a case of the conformance suite.

import { describe, expect, test } from "vitest";
import { type CursorBinding, type CursorPart, readCursor, writeCursor } from "./cursor.ts";

const scope = { tenantId: "acme", userId: "u" };
const binding: CursorBinding = { store: "s", operation: "page", scope, query: ["exact", null] };
const damaged = expect.objectContaining({ code: "MEMORY_CURSOR" });

function read(parts: readonly CursorPart[], of: CursorBinding = binding, reach: "exact" | "under" = "exact") {
  const shape = parts.map((part) => (typeof part === "number" ? "number" : "string"));
  return readCursor(of, reach, writeCursor(of, scope, parts), shape);
}

test("a cursor gives back the position that it was written with", () => {
  const parts = [-8.64e15, "é".repeat(512), "id"];
  expect(read(parts)).toEqual({ scope, parts });
});

describe("a forged cursor is refused", () => {
  test.each<[string, CursorPart]>([
    ["an instant beyond Date", 8.64e15 + 1],
    ["a fraction", 1.5],
    ["a name with a NUL", "a\0"],
    ["a name with a lone surrogate", "a\ud800"],
    ["a name of 1,025 bytes", `${"é".repeat(512)}x`],
    ["a name that is empty", ""],
  ])("with %s", (_what, part) => {
    expect(() => read([part])).toThrow(damaged);
  });

  test("with a place outside its scope, or with more parts than there are", () => {
    for (const [place, reach] of [
      [{ tenantId: "acme" }, "under"],
      [{ tenantId: "acme", userId: "v" }, "under"],
      [{ ...scope, sessionId: "s" }, "exact"],
    ] as const) {
      expect(() => readCursor(binding, reach, writeCursor(binding, place, ["id"]), ["string"])).toThrow(damaged);
    }
    expect(() => readCursor(binding, "exact", writeCursor(binding, scope, ["a", "b"]), ["string"])).toThrow(damaged);
  });

  test("of another tenant is bound to this one all the same", () => {
    const foreign = { tenantId: "other", userId: "u" };
    expect(readCursor(binding, "exact", writeCursor(binding, foreign, ["id"]), ["string"]).scope).toEqual(scope);
  });
});

describe("a cursor of another list is refused", () => {
  const written = writeCursor(binding, scope, ["id"]);
  test.each<[string, Partial<CursorBinding>]>([
    ["of another store kind", { store: "t" }],
    ["of another operation", { operation: "keys" }],
    ["of another scope", { scope: { tenantId: "acme", userId: "v" } }],
    ["of another tenant", { scope: { tenantId: "other", userId: "u" } }],
    ["of another query", { query: ["exact", "k"] }],
  ])("%s", (_what, other) => {
    expect(() => readCursor({ ...binding, ...other }, "exact", written, ["string"])).toThrow(damaged);
  });

  test("of another version, or of another form", () => {
    const [, ...rest] = JSON.parse(Buffer.from(written, "base64url").toString());
    const forged = (content: unknown) => Buffer.from(JSON.stringify(content)).toString("base64url");
    expect(readCursor(binding, "exact", forged([1, ...rest]), ["string"]).parts).toEqual(["id"]);
    const [bound, , parts] = rest;
    const places = [null, ["u"], { userId: "u" }, ["", null, null], [7, null, null]].map((place) => [
      1,
      bound,
      place,
      parts,
    ]);
    for (const content of [[2, ...rest], rest, {}, null, [1, ...rest, 1], ...places]) {
      expect(() => readCursor(binding, "exact", forged(content), ["string"])).toThrow(damaged);
    }
    expect(() => readCursor(binding, "exact", written, ["number"])).toThrow(damaged);
  });
});
