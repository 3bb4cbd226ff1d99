// What a client's error may leave behind in ours: its class, its code and the frames of its code, whatever it is made of.

import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import { innermostCode, safeCause } from "./cause.ts";
import { isMemoryError, MemoryUnavailableError } from "./errors.ts";

const SECRET = "hunter2";

function printed(error: unknown): string {
  const failure = new MemoryUnavailableError("m", { store: "s", attempts: 1, outcome: "unknown" }, error);
  return [failure.stack, String(failure), JSON.stringify(failure), inspect(failure, { depth: null })].join("\n");
}

function errorWith(properties: object, message = "plain"): Error {
  return Object.assign(new Error(message), properties);
}

describe("a cause", () => {
  test.each<[string, unknown]>([
    ["a message", new Error(SECRET)],
    ["a message that looks like frames", new Error(`m\n    at ${SECRET} (file.js:1:1)\nrest`)],
    ["a message that was taken back", errorWith({ message: "" }, `m\n    at ${SECRET} (file.js:1:1)`)],
    ["what a client appends to the stack", errorWith({ stack: `Error: plain\n    at a.js:1:1\nDETAIL ${SECRET}` })],
    [
      "what follows appended text",
      errorWith({ stack: `Error: plain\n    at a.js:1:1\n\n    at ${SECRET} (a.js:1:1)` }),
    ],
    ["a name", errorWith({ name: SECRET })],
    ["a code", errorWith({ code: SECRET })],
    ["row data and arguments", errorWith({ detail: SECRET, where: SECRET, parameters: [SECRET], args: [SECRET] })],
    ["a command", errorWith({ command: { name: "set", args: [SECRET] } }, `ERR ${SECRET}`)],
    ["a cause of its own", new Error("plain", { cause: new Error(SECRET) })],
    ["the errors of an aggregate", new AggregateError([new Error(SECRET)], SECRET)],
    ["a thrown text", SECRET],
  ])("shows nothing of %s", (_what, error) => {
    expect(printed(error)).not.toContain(SECRET);
  });

  test("shows no first word of a message that is no reply of a server", () => {
    expect(printed(new Error("ACME is over its quota"))).not.toContain("ACME");
    expect(safeCause(errorWith({ name: "ReplyError" }, "READONLY You can't write"))).toMatchObject({
      code: "READONLY",
    });
  });

  test("keeps class, code and frames", () => {
    const copy = safeCause(errorWith({ name: "PostgresError", code: "23505", constraint_name: "records_pkey" }));
    expect(copy).toMatchObject({ name: "PostgresError", code: "23505", message: "23505 records_pkey" });
    expect(copy).toHaveProperty("stack", expect.stringContaining("errors.test.ts"));
  });

  test("keeps the result code of SQLite, a number", () => {
    const properties = { code: "ERR_SQLITE_ERROR", errcode: 13, errstr: SECRET };
    expect(safeCause(errorWith(properties, SECRET))).toMatchObject({ message: "ERR_SQLITE_ERROR 13" });
    expect(printed(errorWith({ ...properties, errcode: SECRET }))).not.toContain(SECRET);
  });

  test("has the code that is furthest down, and none that might be content", () => {
    const refused = errorWith({ code: "ECONNREFUSED" });
    expect(innermostCode(Object.assign(new Error("m", { cause: refused }), { code: "NOT_SENT" }))).toBe("ECONNREFUSED");
    expect(innermostCode(errorWith({ code: "NOT_SENT" }))).toBe("NOT_SENT");
    expect(innermostCode(errorWith({ code: SECRET }))).toBe(undefined);
    expect(innermostCode(SECRET)).toBe(undefined);
  });

  const boom = (): never => {
    throw new Error("trap");
  };
  test.each<[string, unknown]>([
    ["a message of its own", Object.defineProperty(new Error(), "message", { get: boom })],
    ["a name", Object.defineProperty(new Error(), "name", { get: boom })],
    ["a stack", Object.defineProperty(new Error(), "stack", { get: boom })],
    ["a cause", Object.defineProperty(new Error(), "cause", { get: boom })],
    ["a message that is no text", errorWith({ message: Symbol("m") })],
    ["nothing at all", new Proxy(new Error(), { get: boom, getPrototypeOf: boom, getOwnPropertyDescriptor: boom })],
    ["itself as its cause", ((error) => Object.assign(error, { cause: error }))(new Error("m"))],
  ])("is made of an error that gives %s, and never throws", (_what, error) => {
    expect(safeCause(error)).toBeInstanceOf(Error);
    expect(innermostCode(error)).toBe(undefined);
    expect(isMemoryError(error)).toBe(false);
  });
});

test("an error of ours whose code cannot be read is ours all the same, and of no code", () => {
  const odd = Object.defineProperty(new Error("m"), Symbol.for("@memory/core/error"), { value: true });
  Object.defineProperty(odd, "code", {
    get: () => {
      throw new Error("boom");
    },
  });
  expect(isMemoryError(odd)).toBe(true);
  expect(isMemoryError(odd, "MEMORY_SCOPE")).toBe(false);
});
