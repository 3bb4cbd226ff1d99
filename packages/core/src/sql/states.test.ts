// What each SQLSTATE leads to.

import { describe, expect, test } from "vitest";
import { SQL_STATES, sqlStateClass, sqlStateHadNoEffect } from "./states.ts";

describe("SQL_STATES", () => {
  test("has every row under its own code, in the form of a SQLSTATE, with its reason", () => {
    for (const [code, row] of SQL_STATES) {
      expect(row.code).toBe(code);
      expect(code).toMatch(/^[0-9A-Z]{5}$/);
      expect(row.name).toMatch(/^[a-z_]+$/);
      expect(row.reason).not.toBe("");
    }
  });

  test.each([
    "40001",
    "40P01",
    "55P03",
    "57P01",
    "57P02",
    "57P03",
    "57P05",
    "08000",
    "08001",
    "08003",
    "08004",
    "08006",
    "08P01",
    "25006",
    "58000",
  ])("tries again after %s", (code) => {
    expect(sqlStateClass(code)).toBe("transient");
  });

  test("refuses at once when the server has no connection left", () => {
    expect(sqlStateClass("53300")).toBe("exhausted");
  });

  test.each([
    "28P01",
    "42P01",
    "57014",
    "53100",
    "53200",
    "53400",
    "58030",
    "23505",
    "99999",
    "",
    "EPIPE",
    "__proto__",
  ])("gives up after %s", (code) => {
    expect(sqlStateClass(code)).toBe("terminal");
  });

  test.each([
    ["40001", true],
    ["23505", true],
    ["P0001", true],
    ["53300", true],
    ["57014", true],
    ["08006", false],
    ["08XXX", false],
    ["57P01", false],
    ["40003", false],
    ["XX000", false],
    ["EPIPE", false],
    ["ECONNRESET", false],
    ["", false],
  ])("after %s it is sure that nothing was done: %s", (code, expected) => {
    expect(sqlStateHadNoEffect(code)).toBe(expected);
  });
});
