// Identifiers: quoted to mean themselves, or refused naming the option.

import { describe, expect, test } from "vitest";
import { isMemoryError } from "../model/errors.ts";
import { checkIdentifier, quoteIdentifier } from "./identifier.ts";

describe("quoteIdentifier", () => {
  test.each([
    ["memory", '"memory"'],
    ["Agent Memory", '"Agent Memory"'],
    ['a"; drop table x; --', '"a""; drop table x; --"'],
    ["'quoted'", `"'quoted'"`],
    ["π".repeat(31), `"${"π".repeat(31)}"`],
    ["x".repeat(63), `"${"x".repeat(63)}"`],
  ])("quotes %s", (name, quoted) => {
    expect(quoteIdentifier(name)).toBe(quoted);
  });

  test.each([[""], ["a\0b"], ["x".repeat(64)], ["π".repeat(32)], ["a\ud800"], [undefined], [7]])(
    "refuses %o",
    (name) => {
      expect.assertions(2);
      for (const [work, setting] of [
        [() => Reflect.apply(quoteIdentifier, undefined, [name]), "identifier"],
        [() => Reflect.apply(checkIdentifier, undefined, [name, "schema"]), "schema"],
      ] as const) {
        try {
          work();
        } catch (error) {
          expect(isMemoryError(error, "MEMORY_SETTINGS") && error.setting).toBe(setting);
        }
      }
    },
  );

  test("checkIdentifier gives the name back as it is", () => {
    expect(checkIdentifier('a"b', "schema")).toBe('a"b');
  });
});
