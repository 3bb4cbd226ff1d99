// Unions. A result may lose alternatives, and a parameter may gain them; the other way breaks whoever has to handle them
// all, or relies on one that is gone. Objects that differ are told apart by a member of literal type, if they have one.

import ts from "typescript-6";
import type { Comparison } from "./comparison.ts";
import { addition, breaking, breaks, type Finding, type Place } from "./findings.ts";
import type { Role } from "./roles.ts";

interface Match {
  readonly part: ts.Type;
  readonly findings: readonly Finding[];
}

/** Compares the alternatives of two unions; a type alone is a union of one. */
export function compareUnions(
  comparison: Comparison,
  before: readonly ts.Type[],
  after: readonly ts.Type[],
  role: Role,
  at: Place,
): readonly Finding[] {
  const [only] = before;
  const [other] = after;
  if (before.length === 1 && after.length === 1 && only !== undefined && other !== undefined) {
    return comparison.types(only, other, role, at);
  }
  const isGiven = role === "given";
  // Every part of `demands` has to be met by one of `offers`.
  const [demands, offers] = isGiven ? [after, before] : [before, after];
  const compare = (demand: ts.Type, offer: ts.Type) =>
    isGiven ? comparison.types(offer, demand, role, at) : comparison.types(demand, offer, role, at);

  const matches = new Map(demands.map((demand) => [demand, bestOf(offers, (offer) => compare(demand, offer))]));
  const used = new Set([...matches.values()].flatMap((match) => (match === undefined ? [] : [match.part])));
  const findings: Finding[] = [];
  for (const [demand, match] of matches) {
    if (match !== undefined) {
      findings.push(...match.findings);
      continue;
    }
    const like = likeliest(comparison, demand, demands, offers, used);
    if (like === undefined) findings.push(sayUnmet(comparison, demand, role, at));
    else {
      used.add(like);
      findings.push(...compare(demand, like));
    }
  }
  const spare = offers.filter((offer) => !used.has(offer) && !isCovered(comparison, offer, demands));
  return [...findings, ...spare.map((offer) => saySpare(comparison, offer, role, at))];
}

function bestOf(offers: readonly ts.Type[], compare: (offer: ts.Type) => readonly Finding[]): Match | undefined {
  let best: Match | undefined;
  for (const part of offers) {
    const findings = compare(part);
    if (breaks(findings)) continue;
    const isPlain = findings.every(({ change }) => change === "docs");
    if (isPlain) return { part, findings };
    best ??= { part, findings };
  }
  return best;
}

/** The alternative that an object is a changed form of: the same tag, or the only ones left on both sides. */
function likeliest(
  { checker }: Comparison,
  demand: ts.Type,
  demands: readonly ts.Type[],
  offers: readonly ts.Type[],
  used: ReadonlySet<ts.Type>,
): ts.Type | undefined {
  const isObject = (type: ts.Type) => (type.flags & (ts.TypeFlags.Object | ts.TypeFlags.Intersection)) !== 0;
  if (!isObject(demand)) return undefined;
  const left = offers.filter((offer) => isObject(offer) && !used.has(offer));
  const tags = tagsOf(checker, demand);
  const tagged = left.find((offer) => {
    const others = tagsOf(checker, offer);
    return [...tags].some(([name, tag]) => others.get(name) === tag);
  });
  if (tagged !== undefined) return tagged;
  return left.length === 1 && demands.filter(isObject).length === 1 ? left[0] : undefined;
}

function tagsOf(checker: ts.TypeChecker, type: ts.Type): ReadonlyMap<string, string> {
  const tags = checker.getPropertiesOfType(type).flatMap((property): (readonly [string, string])[] => {
    const value = checker.getTypeOfSymbol(property);
    return value.flags & ts.TypeFlags.Unit ? [[property.name, checker.typeToString(value)]] : [];
  });
  return new Map(tags);
}

/** Whether what is offered is a part of what was demanded: `"a"` beside `string` is no alternative of its own. */
function isCovered({ checker }: Comparison, offer: ts.Type, demands: readonly ts.Type[]): boolean {
  return demands.some((demand) => checker.isTypeAssignableTo(offer, demand));
}

function sayUnmet(comparison: Comparison, part: ts.Type, role: Role, at: Place): Finding {
  return role === "given"
    ? breaking(at, "widened", `may now be ${comparison.say(part)}, which readers do not know`)
    : breaking(at, "narrowed", `no longer takes ${comparison.say(part)}`);
}

function saySpare(comparison: Comparison, part: ts.Type, role: Role, at: Place): Finding {
  return role === "given"
    ? addition(at, "gives-less", `is no longer ${comparison.say(part)}`)
    : addition(at, "takes-more", `takes ${comparison.say(part)} too`);
}
