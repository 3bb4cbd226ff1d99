// Type parameters, of a function or of a named type.

import type ts from "typescript-6";
import type { Comparison } from "./comparison.ts";
import { addition, breaking, type Finding, inside, type Place } from "./findings.ts";
import { bothRoles, type Role } from "./roles.ts";

/**
 * Pairs the type parameters by place and compares what they have to be, in the role of who chooses the argument. Of a
 * function (`of` is its role) that had none, one more is inferred; elsewhere it needs a default.
 */
export function compareTypeParameters(
  comparison: Comparison,
  before: readonly ts.TypeParameter[],
  after: readonly ts.TypeParameter[],
  role: Role,
  at: Place,
  of?: Role,
): readonly Finding[] {
  comparison.pairParameters(before, after);
  const length = Math.max(before.length, after.length);
  return Array.from({ length }).flatMap((_, index): readonly Finding[] => {
    const old = before[index];
    const now = after[index];
    const place = inside(at, `<${(old ?? now)?.symbol.name ?? ""}>`);
    if (old === undefined || now === undefined) {
      if (old === undefined && now?.getDefault() !== undefined) return [addition(place, "added", "may be given")];
      if (of !== undefined && before.length === 0) return [addition(place, "added", "is inferred")];
      return [breaking(place, "type-parameter", old === undefined ? "has to be given" : "can no longer be given")];
    }
    return [...compareBounds(comparison, old, now, role, place), ...compareDefaults(comparison, old, now, place)];
  });
}

function compareBounds(
  comparison: Comparison,
  before: ts.TypeParameter,
  after: ts.TypeParameter,
  role: Role,
  at: Place,
): readonly Finding[] {
  const old = before.getConstraint();
  const now = after.getConstraint();
  if (old === undefined && now === undefined) return [];
  if (old !== undefined && now !== undefined) return comparison.types(old, now, role, at);
  return (old === undefined) === (role === "taken")
    ? [breaking(at, "narrowed", "is bound to fewer types")]
    : [addition(at, "takes-more", "may be more types")];
}

function compareDefaults(
  comparison: Comparison,
  before: ts.TypeParameter,
  after: ts.TypeParameter,
  at: Place,
): readonly Finding[] {
  const old = before.getDefault();
  const now = after.getDefault();
  if (old === undefined) return now === undefined ? [] : [addition(at, "added", "may be left out")];
  if (now === undefined) return [breaking(at, "type-parameter", "has to be given, it has no default any more")];
  return bothRoles.flatMap((role) => comparison.types(old, now, role, at));
}
