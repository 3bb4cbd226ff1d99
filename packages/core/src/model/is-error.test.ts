// Errors of this realm and of others, and what is none.

import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { innermostCode, safeCause } from "./cause.ts";
import { isError } from "./is-error.ts";

const foreign: unknown = runInNewContext("Object.assign(new TypeError('m'), { code: 'ECONNREFUSED' })");

test.each([new Error("m"), new RangeError("m"), new (class extends Error {})(), foreign])("%o is an error", (value) => {
  expect(isError(value)).toBe(true);
});

test.each([undefined, null, "m", {}, { message: "m", stack: "" }, Object.create(null)])("%o is none", (value) => {
  expect(isError(value)).toBe(false);
});

test("the class and the code of another realm's error are kept in a cause", () => {
  expect(foreign).not.toBeInstanceOf(Error);
  expect(innermostCode(foreign)).toBe("ECONNREFUSED");
  expect(safeCause(foreign)).toMatchObject({ name: "TypeError", code: "ECONNREFUSED" });
});
