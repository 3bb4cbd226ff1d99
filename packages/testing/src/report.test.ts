// What a report says, and in what order: a failure must not be looked for among the skipped.

import { expect, test } from "vitest";
import { type CaseResult, emptyReport, formatReport } from "./report.ts";

const result = (id: string, parts: Partial<CaseResult>): CaseResult => ({
  id,
  promise: "It holds.",
  outcome: "passed",
  reason: null,
  refusal: false,
  missing: [],
  refused: [],
  announced: false,
  error: undefined,
  ...parts,
});

test("a report counts, then names each failure, then each reason to skip once with its cases", () => {
  const lacking = { outcome: "skipped", reason: "the store lacks semantic", refusal: true } as const;
  const results = [
    result("a/one", lacking),
    result("a/two", {}),
    result("b/three", { outcome: "failed", error: new Error("as it must") }),
    result("b/four", lacking),
    result("c/five", { outcome: "skipped", reason: "the target offers no corrupt" }),
  ];
  const target = { name: "mine", open: () => Promise.reject(new Error("never opened")) };
  expect(formatReport({ ...emptyReport(target, [], undefined), total: 6, results }).split("\n")).toEqual([
    "mine: 6 cases, 1 passed, 1 failed, 3 skipped (2 refusals checked in their place)",
    "  failed   b/three: Error: as it must",
    "  skipped  the store lacks semantic; that it is refused was checked: a/one, b/four",
    "  skipped  the target offers no corrupt: c/five",
  ]);
});
