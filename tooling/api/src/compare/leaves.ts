// Types with nothing inside to compare: the compiler says which may stand for the other.

import ts from "typescript-6";
import type { Comparison } from "./comparison.ts";
import { addition, breaking, type Finding, type Place } from "./findings.ts";
import type { Role } from "./roles.ts";

/** Compares two types by assignability, in the direction that the role asks for. */
export function compareLeaves(
  comparison: Comparison,
  before: ts.Type,
  after: ts.Type,
  role: Role,
  at: Place,
): readonly Finding[] {
  const from = comparison.say(before);
  const to = comparison.say(after);
  const isAnyBefore = (before.flags & ts.TypeFlags.Any) !== 0;
  const isAnyAfter = (after.flags & ts.TypeFlags.Any) !== 0;
  if (isAnyBefore && isAnyAfter) return [];
  // `any` fits everything in both directions, which would hide the change: it takes all, and promises nothing.
  const fits = isAnyBefore ? false : isAnyAfter ? role === "taken" : isFit(comparison, before, after, role);
  const fitsBack = isAnyBefore || isAnyAfter ? !fits : isFit(comparison, after, before, role);
  if (fits && fitsBack) return [];
  if (fits) {
    return role === "given"
      ? [addition(at, "gives-less", `is given as ${to}, which is a part of ${from}`)]
      : [addition(at, "takes-more", `takes ${to}, of which ${from} is a part`)];
  }
  if (!fitsBack) return [breaking(at, "changed", `was ${from} and is ${to}`)];
  return role === "given"
    ? [breaking(at, "widened", `is given as ${to}, and readers know ${from}`)]
    : [breaking(at, "narrowed", `takes ${to} only, and took ${from}`)];
}

function isFit({ checker }: Comparison, before: ts.Type, after: ts.Type, role: Role): boolean {
  // Each declaration makes a unique symbol of its own; the name is what is left to compare.
  if (before.flags & after.flags & ts.TypeFlags.UniqueESSymbol) return before.symbol.name === after.symbol.name;
  // To the compiler a member of an enum is of that enum, whole; whether the others are the same is seen at the enum.
  if (before.flags & after.flags & ts.TypeFlags.EnumLiteral && before.isLiteral() && after.isLiteral()) {
    return before.symbol.name === after.symbol.name && before.value === after.value;
  }
  return role === "given" ? checker.isTypeAssignableTo(after, before) : checker.isTypeAssignableTo(before, after);
}
