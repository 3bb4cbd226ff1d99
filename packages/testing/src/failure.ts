// A failure that a person can act on: which promise does not hold, what was observed, what was expected, and how to see
// it again. What a case fails with says the two values; which promise they break is known here.

import { AssertionError } from "node:assert/strict";
import { inspect, types } from "node:util";
import { isMemoryError } from "@memory/core";
import { assertionError } from "./about.ts";
import { concernOf } from "./case.ts";
import type { CaseResult } from "./report.ts";
import { sectionAddress, sectionTitle } from "./sections.ts";

const MOST_CHARACTERS = 2_000;

/** What was observed where a promise is broken, and what the promise demands; each as text of at most 2,000 characters. */
export interface Finding {
  readonly observed: string;
  readonly expected: string;
  /** What the case says about it in words; `null` where it says no more than the two values. */
  readonly says: string | null;
}

/** What a failed case found. */
export function findingOf(error: unknown): Finding {
  if (error instanceof AssertionError && error.operator === "fail") {
    return { observed: cut(error.message), expected: "otherwise, as promised", says: null };
  }
  if (error instanceof AssertionError) {
    return {
      observed: printed(error.actual),
      expected: printed(error.expected),
      says: error.generatedMessage && error.operator !== "==" ? null : cut(wordsOf(error.message)),
    };
  }
  return { observed: `an error: ${printed(error)}`, expected: "no error", says: null };
}

/**
 * The error that a test of a case fails with: names the promise, both values and how to run the case alone. Where the
 * case failed by an assertion, it is one too, with the same values; `cause` is what the case failed with.
 *
 * @param replay The command that runs the case alone; `null` where the runner is not known.
 */
export function promiseBroken(target: string, result: CaseResult, replay: string | null): Error {
  const { id, promise, error } = result;
  const concern = concernOf(result);
  const { observed, expected, says } = findingOf(error);
  const lines = [
    `${target} breaks a promise: ${promise}`,
    ...(result.refusal ? [`  refusal:  ${result.reason}, which must be refused`] : []),
    `  observed: ${indented(observed)}`,
    `  expected: ${indented(expected)}`,
    ...(says === null ? [] : [`  says:     ${indented(says)}`]),
    `  case:     ${id}`,
    `  section:  ${sectionTitle(concern)}, ${sectionAddress(concern)}`,
    `  replay:   ${replay ?? `run the test whose name begins with ${id}`}`,
  ];
  const message = lines.join("\n");
  if (!(error instanceof AssertionError)) return new Error(message, { cause: error });
  return Object.assign(assertionError(message, error.actual, error.expected, error.operator), { cause: error });
}

// Some releases of Node print the difference of the values behind the words.
function wordsOf(message: string): string {
  return message.split("\n+ actual - expected", 1)[0]?.trimEnd() ?? message;
}

function printed(value: unknown): string {
  if (isMemoryError(value)) return cut(`${value.code}: ${value.message}`);
  // By nature, not by class: Jest's tests have a realm of their own.
  if (types.isNativeError(value)) return cut(String(value));
  return cut(inspect(value, { depth: 8, breakLength: 110, maxArrayLength: 50, maxStringLength: 500 }));
}

function cut(text: string): string {
  return text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)}...` : text;
}

function indented(text: string): string {
  return text.replaceAll("\n", "\n            ");
}
