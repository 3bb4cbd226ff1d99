// Objects whose members are not listed: index signatures, and mapped types that wait for a type argument.

import ts from "typescript-6";
import type { Comparison } from "./comparison.ts";
import { addition, breaking, type Finding, inside, type Place } from "./findings.ts";
import { isObject } from "./names.ts";
import { bothRoles, flip, type Role } from "./roles.ts";

/** The declaration of a mapped type; `undefined` for every other type. */
export function mappedNodeOf(type: ts.Type): ts.MappedTypeNode | undefined {
  if (!isObject(type) || !(type.objectFlags & ts.ObjectFlags.Mapped)) return undefined;
  return type.symbol.declarations?.find(ts.isMappedTypeNode);
}

/** Compares index signatures by the type of their keys. */
export function compareIndexes(
  comparison: Comparison,
  before: readonly ts.IndexInfo[],
  after: readonly ts.IndexInfo[],
  role: Role,
  at: Place,
): readonly Finding[] {
  const keyOf = ({ keyType }: ts.IndexInfo) => comparison.checker.typeToString(keyType);
  const now = new Map(after.map((index) => [keyOf(index), index]));
  const known = new Set(before.map(keyOf));
  const kept = before.flatMap((index): readonly Finding[] => {
    const place = inside(at, `[${keyOf(index)}]`);
    const other = now.get(keyOf(index));
    if (other === undefined) return [breaking(place, "narrowed", "is not there any more: other names are unknown")];
    if (role === "given" && !index.isReadonly && other.isReadonly) {
      return [breaking(place, "read-only", "can no longer be set")];
    }
    const roles = role === "given" && !index.isReadonly ? [role, flip(role)] : [role];
    return roles.flatMap((each) => comparison.types(index.type, other.type, each, place));
  });
  const added = after.filter((index) => !known.has(keyOf(index)));
  return [
    ...kept,
    ...added.map((index) => addition(inside(at, `[${keyOf(index)}]`), "added", "any name may be there")),
  ];
}

/** Compares mapped types whose members are not known yet; `undefined` where both list their members. */
export function compareMapped(
  comparison: Comparison,
  before: ts.Type,
  after: ts.Type,
  at: Place,
): readonly Finding[] | undefined {
  const old = openNodeOf(comparison, before);
  const now = openNodeOf(comparison, after);
  if (old === undefined && now === undefined) return undefined;
  const { checker } = comparison;
  const changed = [breaking(at, "changed", `was ${comparison.say(before)} and is ${comparison.say(after)}`)];
  if (old === undefined || now === undefined) return changed;
  const signs = (node: ts.MappedTypeNode) => [node.readonlyToken?.kind, node.questionToken?.kind].join();
  if (signs(old) !== signs(now)) return changed;
  comparison.pairParameters(
    [checker.getTypeAtLocation(old.typeParameter)],
    [checker.getTypeAtLocation(now.typeParameter)],
  );
  const parts = (node: ts.MappedTypeNode) =>
    [node.typeParameter.constraint, node.nameType, node.type].map((part) =>
      part === undefined ? undefined : checker.getTypeFromTypeNode(part),
    );
  const others = parts(now);
  const isSame = parts(old).every((part, index) => {
    const other = others[index];
    if (part === undefined || other === undefined) return part === other;
    return bothRoles.every((role) => comparison.types(part, other, role, at).length === 0);
  });
  return isSame ? [] : changed;
}

function openNodeOf({ checker }: Comparison, type: ts.Type): ts.MappedTypeNode | undefined {
  const node = mappedNodeOf(type);
  if (node?.typeParameter.constraint === undefined) return undefined;
  const hasMembers = checker.getPropertiesOfType(type).length > 0 || checker.getIndexInfosOfType(type).length > 0;
  const keys = checker.getTypeFromTypeNode(node.typeParameter.constraint);
  return !hasMembers && keys.flags & ts.TypeFlags.Instantiable ? node : undefined;
}
