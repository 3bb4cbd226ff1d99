// What a driver may answer, method by method, as far as rules rely on it: lists are lists, rows are objects, a verdict is a
// verdict. What stands in a row is judged where the row becomes a record (rules/row). A driver in plain JavaScript that
// forgot its `return` is told so, and neither crashes a rule nor reads as success.

import { corrupt } from "./row.ts";

type Claim = (answer: unknown) => boolean;

const isObject: Claim = (answer) => typeof answer === "object" && answer !== null;
const isCount: Claim = (answer) => Number.isSafeInteger(answer) && Number(answer) >= 0;
const isFlag: Claim = (answer) => typeof answer === "boolean";
const isRow: Claim = (answer) => isObject(part(answer, "record"));
const isVersion: Claim = (answer) => isRow(answer) && isList(isCount)(part(answer, "settles"));
const isKey: Claim = (answer) => isObject(answer) && isList(isVersion)(part(answer, "versions"));
const isHead: Claim = (answer) =>
  isVersion(part(answer, "newest")) && (part(answer, "held") === null || isVersion(part(answer, "held")));
const isHeads: Claim = (answer) =>
  isCount(part(answer, "version")) &&
  (part(answer, "version") === 0 || typeof part(answer, "token") === "string") &&
  isCount(part(answer, "lineages")) &&
  isList(isHead)(part(answer, "open"));
const isReply: Claim = (answer) =>
  ["appended", "moved", "full"].some((outcome) => outcome === part(answer, "outcome")) &&
  isCount(part(answer, "length"));

/** The claims, by method; what is not here answers nothing that is looked at. */
const ANSWERS: ReadonlyMap<string, Claim> = new Map<string, Claim>([
  ["get", orNull(isObject)],
  ["append", isReply],
  ["expire", isFlag],
  ["keys", isList(isObject)],
  ["versions", orNull(isKey)],
  ["heads", isHeads],
  ["beliefs", isList(isKey)],
  ["history", isList(isVersion)],
  ["commit", isFlag],
  ["log", isList((answer) => isObject(part(answer, "scope")))],
  ["page", isList(isObject)],
  ["nearest", isList(isRow)],
  ["scan", isList(isObject)],
  ["count", (answer) => isObject(part(answer, "counts"))],
  ["tombstone", isObject],
  ["condemned", isList((answer) => isObject(part(answer, "derivation")))],
  ["sweep", orNull(isObject)],
  ["derivations", isList(isObject)],
  ["verify", (answer) => answer === undefined || isList(isObject)(answer)],
]);

/**
 * Refuses what a driver's method must not answer.
 *
 * @throws {MemoryCorruptionError} The answer is not of the method's shape; it is the error's `payload`.
 */
export function checkAnswer(method: string, answer: unknown): void {
  if (ANSWERS.get(method)?.(answer) === false) throw corrupt(answer, `it is no answer to the driver's ${method}`);
}

function part(answer: unknown, name: string): unknown {
  return typeof answer === "object" && answer !== null ? Reflect.get(answer, name) : undefined;
}

function isList(isElement: Claim): Claim {
  return (answer) => Array.isArray(answer) && answer.every(isElement);
}

function orNull(claim: Claim): Claim {
  return (answer) => answer === null || claim(answer);
}
