// Objects: interfaces, instances and sides of classes, literals, arrays and tuples. What is handed out may gain members; what
// is handed in may gain only what can be left out. A member that went is looked for under another name.

import ts from "typescript-6";
import { type Comparison, partsOf } from "./comparison.ts";
import { addition, breaking, breaks, type Finding, inside, type Place, removal } from "./findings.ts";
import { compareLeaves } from "./leaves.ts";
import { compareIndexes, compareMapped } from "./mapped.ts";
import { type Member, membersOf, placeOf } from "./member.ts";
import { isReference } from "./names.ts";
import { compareNotes } from "./notes.ts";
import { actualRole, bothRoles, flip, type Role } from "./roles.ts";
import { compareSignatures } from "./signatures.ts";
import { compareUnions } from "./unions.ts";

/** Compares two object types member by member. */
export function compareObjects(
  comparison: Comparison,
  before: ts.Type,
  after: ts.Type,
  asked: Role,
  at: Place,
): readonly Finding[] {
  const { checker, names } = comparison;
  const isNamed = before.symbol !== undefined && (before.isClassOrInterface() || isReference(before));
  const role = isNamed ? actualRole(names, before.symbol, asked) : asked;
  const asContainer = compareContainers(comparison, before, after, role, at);
  if (asContainer !== undefined) return asContainer;
  const mapped = compareMapped(comparison, before, after, at);
  if (mapped !== undefined) return mapped;
  return [
    ...compareMembers(comparison, before, after, role, at),
    ...compareSignatures(comparison, before.getCallSignatures(), after.getCallSignatures(), role, at),
    ...compareConstructors(comparison, before, after, role, at),
    ...compareIndexes(comparison, checker.getIndexInfosOfType(before), checker.getIndexInfosOfType(after), role, at),
  ];
}

/** Arrays, tuples, and one generic of a third party with other arguments; `undefined` for what has members of its own. */
function compareContainers(
  comparison: Comparison,
  before: ts.Type,
  after: ts.Type,
  role: Role,
  at: Place,
): readonly Finding[] | undefined {
  const { checker } = comparison;
  const isList = checker.isArrayLikeType(before) || checker.isArrayLikeType(after);
  const areArrays = checker.isArrayType(before) && checker.isArrayType(after);
  const areGeneric = isReference(before) && isReference(after);
  if (!areGeneric || (before.target !== after.target && !areArrays)) {
    return isList ? compareLeaves(comparison, before, after, role, at) : undefined;
  }
  const args = checker.getTypeArguments(after);
  const elements = checker.getTypeArguments(before).flatMap((argument, index) => {
    const other = args[index];
    return other === undefined ? [] : comparison.types(argument, other, role, inside(at, areArrays ? "[]" : ""));
  });
  if (before.target === after.target) return elements;
  const isFixedNow = after.target.symbol.name === "ReadonlyArray";
  if (isFixedNow === (role === "given")) {
    return [...elements, breaking(at, "read-only", isFixedNow ? "can no longer be changed" : "has to be changeable")];
  }
  const reason = role === "given" ? "gives-less" : "takes-more";
  return [...elements, addition(at, reason, isFixedNow ? "may be read-only" : "may be changed")];
}

function compareMembers(
  comparison: Comparison,
  before: ts.Type,
  after: ts.Type,
  role: Role,
  at: Place,
): readonly Finding[] {
  const old = membersOf(comparison.checker, before);
  const now = membersOf(comparison.checker, after);
  const added = [...now].filter(([key]) => !old.has(key)).map(([, member]) => member);
  const renamed = new Set<Member>();
  const findings: Finding[] = [];
  for (const [key, member] of old) {
    const other = now.get(key);
    if (other !== undefined) {
      findings.push(...compareMember(comparison, member, other, role, at));
      continue;
    }
    const place = placeOf(comparison.names, member, at);
    const candidates = added.filter((candidate) => isRenamed(comparison, member, candidate, place));
    const [successor] = candidates.length === 1 ? candidates : [];
    if (successor !== undefined) renamed.add(successor);
    const text = successor === undefined ? "is not there any more" : `is called ${successor.name} now`;
    const deprecated = comparison.names.tagOf(member.symbol, "deprecated");
    findings.push(removal(place, successor === undefined ? "removed" : "renamed", text, deprecated));
  }
  for (const member of added) {
    if (!renamed.has(member)) findings.push(sayAdded(member, role, placeOf(comparison.names, member, at)));
  }
  return findings;
}

function sayAdded(member: Member, role: Role, at: Place): Finding {
  if (member.isAbstract) return breaking(at, "required-member", "is new, and subclasses have to have it");
  if (role === "given" || member.isOptional) return addition(at, "added", "is new");
  return breaking(at, "required-member", "is new, and whoever hands it in has to have it");
}

function isRenamed(comparison: Comparison, member: Member, candidate: Member, at: Place): boolean {
  if (member.isOptional !== candidate.isOptional || member.isMethod !== candidate.isMethod) return false;
  const old = comparison.checker.getTypeOfSymbol(member.symbol);
  const now = comparison.checker.getTypeOfSymbol(candidate.symbol);
  return bothRoles.every((role) => comparison.types(old, now, role, at).every(({ change }) => change === "docs"));
}

function compareMember(
  comparison: Comparison,
  before: Member,
  after: Member,
  role: Role,
  at: Place,
): readonly Finding[] {
  const place = placeOf(comparison.names, before, at);
  const findings = [...compareNotes(comparison.names, before.symbol, after.symbol, place)];
  if (before.isProtected !== after.isProtected) {
    findings.push(
      after.isProtected
        ? removal(place, "removed", "is protected now", comparison.names.tagOf(before.symbol, "deprecated"))
        : addition(place, "added", "is public now"),
    );
  }
  if (before.isOptional !== after.isOptional) findings.push(sayOptional(after.isOptional, role, place));
  if (role === "given" && before.isReadonly !== after.isReadonly) {
    findings.push(
      after.isReadonly
        ? breaking(place, "read-only", "can no longer be set")
        : addition(place, "added", "can be set now"),
    );
  }
  if (!before.isAbstract && after.isAbstract) {
    findings.push(breaking(place, "required-member", "is abstract now, and subclasses have to have it"));
  }
  if (comparison.names.isSame(before.node, after.node) && before.node !== undefined) return findings;
  const isBothWays = before.isAbstract || (role === "given" && !before.isReadonly && !after.isReadonly);
  const roles = isBothWays ? [role, flip(role)] : [role];
  const old = valuesOf(comparison, before);
  const now = valuesOf(comparison, after);
  return [...findings, ...roles.flatMap((each) => compareUnions(comparison, old, now, each, place))];
}

function sayOptional(isNowOptional: boolean, role: Role, at: Place): Finding {
  if (role === "given") {
    return isNowOptional
      ? breaking(at, "maybe-absent", "may be absent now")
      : addition(at, "gives-less", "is always there now");
  }
  return isNowOptional
    ? addition(at, "takes-more", "may be left out now")
    : breaking(at, "required-member", "may not be left out any more");
}

/** The alternatives of a member's type, without the absence of an optional one. */
function valuesOf({ checker }: Comparison, member: Member): readonly ts.Type[] {
  const isMissing = (type: ts.Type) => type.flags & ts.TypeFlags.Undefined && type !== checker.getUndefinedType();
  return partsOf(checker.getTypeOfSymbol(member.symbol)).filter((type) => !member.isOptional || !isMissing(type));
}

function compareConstructors(
  comparison: Comparison,
  before: ts.Type,
  after: ts.Type,
  role: Role,
  at: Place,
): readonly Finding[] {
  const place = inside(at, ".constructor");
  const old = before.getConstructSignatures();
  const now = after.getConstructSignatures();
  const modifiers = (signatures: readonly ts.Signature[]) =>
    signatures.reduce((all, { declaration }) => all | (declaration ? ts.getCombinedModifierFlags(declaration) : 0), 0);
  const hidden = ts.ModifierFlags.Private | ts.ModifierFlags.Protected;
  if (modifiers(old) & ts.ModifierFlags.Private) return [];
  if (modifiers(now) & hidden && !(modifiers(old) & hidden)) {
    return [removal(place, "removed", "cannot be called from outside any more", null)];
  }
  const findings = compareSignatures(comparison, old, now, role, place);
  return isAbstract(after) && !isAbstract(before) && !breaks(findings)
    ? [...findings, breaking(place, "removed", "cannot be called any more: the class is abstract")]
    : findings;
}

function isAbstract(type: ts.Type): boolean {
  const declaration = type.symbol?.valueDeclaration;
  return (
    declaration !== undefined &&
    ts.isClassDeclaration(declaration) &&
    (ts.getCombinedModifierFlags(declaration) & ts.ModifierFlags.Abstract) !== 0
  );
}
