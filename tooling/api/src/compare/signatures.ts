// Functions. One that the library gives is called by its users: what it takes may grow, what it returns may shrink. One that
// users hand in is called by the library, and all of it is the other way round. Parameters are compared strictly, also of
// methods, where the compiler would let both directions pass.

import ts from "typescript-6";
import type { Comparison } from "./comparison.ts";
import { addition, breaking, breaks, docs, type Finding, inside, type Place, removal } from "./findings.ts";
import { type Parameter, parametersOf } from "./parameters.ts";
import { flip, type Role } from "./roles.ts";
import { compareTypeParameters } from "./type-parameters.ts";
import { compareUnions } from "./unions.ts";

/** Compares all call signatures of a type, or all of its constructors. */
export function compareSignatures(
  comparison: Comparison,
  before: readonly ts.Signature[],
  after: readonly ts.Signature[],
  role: Role,
  at: Place,
): readonly Finding[] {
  const [only] = before;
  const [other] = after;
  if (before.length === 1 && after.length === 1 && only !== undefined && other !== undefined) {
    return compareSignature(comparison, only, other, role, at);
  }
  if (before.length > 0 && after.length === 0) return [removal(at, "removed", "can no longer be called", null)];
  const isGiven = role === "given";
  const [demands, offers] = isGiven ? [before, after] : [after, before];
  const used = new Set<ts.Signature>();
  const findings = demands.flatMap((demand, index): readonly Finding[] => {
    const compare = (offer: ts.Signature) =>
      isGiven
        ? compareSignature(comparison, demand, offer, role, at)
        : compareSignature(comparison, offer, demand, role, at);
    const met = offers.find((offer) => !breaks(compare(offer)));
    if (met !== undefined) {
      used.add(met);
      const isDeprecated = isGiven && deprecationOf(demand) === null && deprecationOf(met) !== null;
      const text = comparison.checker.signatureToString(met);
      return [...(isDeprecated ? [addition(at, "deprecated", `is deprecated as ${text}`)] : []), ...compare(met)];
    }
    const sameIndex = before.length === after.length ? offers[index] : undefined;
    if (sameIndex !== undefined) {
      used.add(sameIndex);
      return compare(sameIndex);
    }
    const text = comparison.checker.signatureToString(demand);
    return isGiven
      ? [removal(at, "removed", `can no longer be called as ${text}`, deprecationOf(demand))]
      : [breaking(at, "required-member", `has to be callable as ${text} too`)];
  });
  const spare = offers.filter((offer) => !used.has(offer));
  return [...findings, ...spare.map((offer) => saySpare(comparison, offer, role, at))];
}

function saySpare({ checker }: Comparison, signature: ts.Signature, role: Role, at: Place): Finding {
  const text = checker.signatureToString(signature);
  return role === "given"
    ? addition(at, "added", `can be called as ${text} too`)
    : addition(at, "takes-more", `need not be callable as ${text}`);
}

function deprecationOf(signature: ts.Signature): string | null {
  const tag = signature.getJsDocTags().find(({ name }) => name === "deprecated");
  return tag === undefined ? null : ts.displayPartsToString(tag.text);
}

function compareSignature(
  comparison: Comparison,
  before: ts.Signature,
  after: ts.Signature,
  role: Role,
  at: Place,
): readonly Finding[] {
  const old = parametersOf(comparison.checker, before);
  const now = parametersOf(comparison.checker, after);
  const generics = compareTypeParameters(
    comparison,
    before.getTypeParameters() ?? [],
    after.getTypeParameters() ?? [],
    flip(role),
    at,
    role,
  );
  const length = Math.max(old.length, now.length);
  const parameters = Array.from({ length }).flatMap((_, index) =>
    compareParameter(comparison, old[index], now[index], role, at),
  );
  return [...generics, ...parameters, ...compareReturns(comparison, before, after, role, inside(at, "()"))];
}

function compareParameter(
  comparison: Comparison,
  before: Parameter | undefined,
  after: Parameter | undefined,
  role: Role,
  at: Place,
): readonly Finding[] {
  const isGiven = role === "given";
  const place = inside(at, `(${(before ?? after)?.name ?? ""})`);
  if (before === undefined && after === undefined) return [];
  if (before === undefined) {
    if (!isGiven) return [addition(place, "passes-more", "is passed to it too")];
    return after?.isOptional === true
      ? [addition(place, "optional-parameter", "is a new optional parameter")]
      : [breaking(place, "required-parameter", "is a new parameter that callers have to give")];
  }
  if (after === undefined) {
    if (isGiven) return [breaking(place, "parameter-removed", "is no longer a parameter")];
    return before.isOptional
      ? [addition(place, "gives-less", "is no longer passed; it could be absent before")]
      : [breaking(place, "parameter-removed", "is no longer passed to it")];
  }
  const findings: Finding[] = [];
  if (before.isOptional && !after.isOptional) {
    findings.push(
      isGiven
        ? breaking(place, "required-parameter", "is optional no longer")
        : addition(place, "passes-more", "is always passed"),
    );
  } else if (!before.isOptional && after.isOptional) {
    findings.push(
      isGiven
        ? addition(place, "optional-parameter", "may be left out")
        : breaking(place, "maybe-absent", "is not always passed any more"),
    );
  } else if (before.isRest && !after.isRest && isGiven) {
    findings.push(breaking(place, "parameter-removed", "takes one argument, and took any number"));
  } else if (!before.isRest && after.isRest) {
    findings.push(
      isGiven
        ? addition(place, "takes-more", "takes any number of arguments")
        : breaking(place, "changed", "may be passed any number of times"),
    );
  }
  if (before.name !== after.name) findings.push(docs(place, "parameter-name", `is called ${after.name}`));
  if (comparison.names.isSame(before.node, after.node) && before.node !== undefined) return findings;
  return [...findings, ...compareUnions(comparison, before.parts, after.parts, flip(role), place)];
}

function compareReturns(
  comparison: Comparison,
  before: ts.Signature,
  after: ts.Signature,
  role: Role,
  at: Place,
): readonly Finding[] {
  const guard = compareGuards(comparison, before, after, role, at);
  if (guard !== undefined) return guard;
  const node = before.declaration?.type;
  const other = after.declaration?.type;
  if (node !== undefined && other !== undefined && !ts.isJSDocTypeExpression(node)) {
    if (comparison.names.isSame(node, other)) return [];
  }
  const old = before.getReturnType();
  const now = after.getReturnType();
  const isVoid = (type: ts.Type) => (type.flags & ts.TypeFlags.Void) !== 0;
  if (isVoid(old) && isVoid(now)) return [];
  if (role === "given" && isVoid(old)) return [addition(at, "added", `returns ${comparison.say(now)}`)];
  if (role === "taken" && isVoid(now)) return [addition(at, "takes-more", "need not return anything")];
  return comparison.types(old, now, role, at);
}

function compareGuards(
  comparison: Comparison,
  before: ts.Signature,
  after: ts.Signature,
  role: Role,
  at: Place,
): readonly Finding[] | undefined {
  const old = comparison.checker.getTypePredicateOfSignature(before);
  const now = comparison.checker.getTypePredicateOfSignature(after);
  if (old === undefined && now === undefined) return undefined;
  const isGiven = role === "given";
  if (old === undefined) {
    return isGiven
      ? [addition(at, "gives-less", "tells the type of its argument")]
      : [breaking(at, "narrowed", "has to tell the type of its argument")];
  }
  if (now === undefined) {
    return isGiven
      ? [breaking(at, "widened", "no longer tells the type of its argument")]
      : [addition(at, "takes-more", "need not tell the type of its argument")];
  }
  if (old.kind !== now.kind || old.parameterIndex !== now.parameterIndex) {
    return [breaking(at, "changed", "tells the type of something else")];
  }
  return old.type === undefined || now.type === undefined ? [] : comparison.types(old.type, now.type, role, at);
}
