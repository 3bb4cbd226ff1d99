// Types that wait for a type argument: `keyof T`, `T[K]`, conditional types, template texts. They are the same when their
// parts are; what else may be said of them would need every argument there is.

import ts from "typescript-6";
import type { Comparison } from "./comparison.ts";
import { breaking, breaks, type Finding, type Place } from "./findings.ts";
import { compareLeaves } from "./leaves.ts";
import { bothRoles, type Role } from "./roles.ts";

/** Compares two deferred types part by part. */
export function compareOperators(
  comparison: Comparison,
  before: ts.Type,
  after: ts.Type,
  role: Role,
  at: Place,
): readonly Finding[] {
  const byCompiler = compareLeaves(comparison, before, after, role, at);
  if (!breaks(byCompiler)) return byCompiler;
  const old = readParts(comparison, before);
  const now = readParts(comparison, after);
  const isSame =
    old.shape === now.shape &&
    old.parts.length === now.parts.length &&
    old.parts.every((part, index) => {
      const other = now.parts[index];
      return other !== undefined && bothRoles.every((each) => comparison.types(part, other, each, at).length === 0);
    });
  if (isSame) return [];
  return [breaking(at, "changed", `was ${comparison.say(before)} and is ${comparison.say(after)}`)];
}

interface Parts {
  readonly shape: string;
  readonly parts: readonly ts.Type[];
}

function readParts({ checker }: Comparison, type: ts.Type): Parts {
  if (isIndexedAccess(type)) return { shape: "T[K]", parts: [type.objectType, type.indexType] };
  if (type.isIndexType()) return { shape: "keyof T", parts: [type.type] };
  if (isTemplate(type)) return { shape: type.texts.join(" # "), parts: type.types };
  if (isStringMapping(type)) return { shape: type.symbol.name, parts: [type.type] };
  if (isConditional(type)) {
    const { trueType, falseType } = type.root.node;
    const branches = [checker.getTypeFromTypeNode(trueType), checker.getTypeFromTypeNode(falseType)];
    return { shape: "A extends B", parts: [type.checkType, type.extendsType, ...branches] };
  }
  return { shape: checker.typeToString(type), parts: [] };
}

function isIndexedAccess(type: ts.Type): type is ts.IndexedAccessType {
  return (type.flags & ts.TypeFlags.IndexedAccess) !== 0;
}

function isTemplate(type: ts.Type): type is ts.TemplateLiteralType {
  return (type.flags & ts.TypeFlags.TemplateLiteral) !== 0;
}

function isStringMapping(type: ts.Type): type is ts.StringMappingType {
  return (type.flags & ts.TypeFlags.StringMapping) !== 0;
}

function isConditional(type: ts.Type): type is ts.ConditionalType {
  return (type.flags & ts.TypeFlags.Conditional) !== 0;
}
