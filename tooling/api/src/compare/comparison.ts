// The comparison of two types, before and after, in a role: the one place that chooses how. Types that a package names are
// not looked into where they are used; the name is noted, and compared once. A pair that is being compared counts as
// equal inside itself, which is how recursive types end.

import ts from "typescript-6";
import type { Finding, Place } from "./findings.ts";
import { compareLeaves } from "./leaves.ts";
import { compareObjects } from "./members.ts";
import { isReference, type Names } from "./names.ts";
import { compareOperators } from "./operators.ts";
import { bothRoles, type Role } from "./roles.ts";
import { compareUnions } from "./unions.ts";

/** A pair of named types that was met in a role. */
export interface MetPair {
  readonly before: ts.Symbol;
  readonly after: ts.Symbol;
  readonly role: Role;
}

/** One comparison of two surfaces in one program. */
export class Comparison {
  readonly checker: ts.TypeChecker;
  readonly names: Names;
  readonly #known = new Map<ts.Type, Map<ts.Type, Map<Role, readonly Finding[]>>>();
  readonly #parameters = new Map<ts.Type, Set<ts.Type>>();
  readonly #met: MetPair[] = [];

  constructor(checker: ts.TypeChecker, names: Names) {
    this.checker = checker;
    this.names = names;
  }

  /** What differs between two types, their names compared where they have any. */
  types(before: ts.Type, after: ts.Type, role: Role, at: Place): readonly Finding[] {
    if (before === after) return [];
    const old = this.names.named(before);
    const now = this.names.named(after);
    if (old !== undefined && now !== undefined && this.names.correspond(old.symbol, now.symbol)) {
      this.#met.push({ before: old.symbol, after: now.symbol, role });
      return this.#arguments(old.args, now.args, at);
    }
    return this.structure(before, after, role, at);
  }

  /** What differs between two types, whatever they are called. */
  structure(before: ts.Type, after: ts.Type, role: Role, at: Place): readonly Finding[] {
    const byAfter = this.#known.get(before) ?? new Map<ts.Type, Map<Role, readonly Finding[]>>();
    this.#known.set(before, byAfter);
    const byRole = byAfter.get(after) ?? new Map<Role, readonly Finding[]>();
    byAfter.set(after, byRole);
    const known = byRole.get(role);
    if (known !== undefined) return known;
    byRole.set(role, []);
    const findings = this.#structure(before, after, role, at);
    byRole.set(role, findings);
    return findings;
  }

  /** Lets two type parameters count as one: they stand at the same place of what declares them. */
  pairParameters(before: readonly ts.Type[], after: readonly ts.Type[]): void {
    for (const [index, parameter] of before.entries()) {
      const other = after[index];
      if (other === undefined) continue;
      const known = this.#parameters.get(parameter) ?? new Set();
      this.#parameters.set(parameter, known.add(other));
    }
  }

  /** The pairs of named types that were met since the last call. */
  takeMet(): readonly MetPair[] {
    return this.#met.splice(0);
  }

  /** A type as the compiler writes it, shortened. */
  say(type: ts.Type): string {
    const text = this.checker.typeToString(type, undefined, ts.TypeFormatFlags.NoTruncation);
    return text.length > 100 ? `${text.slice(0, 97)}...` : text;
  }

  #arguments(before: readonly ts.Type[], after: readonly ts.Type[], at: Place): readonly Finding[] {
    return before.flatMap((argument, index) => {
      const other = after[index];
      // Where the lists differ in length, the declarations do, and it is found there.
      return other === undefined ? [] : bothRoles.flatMap((role) => this.types(argument, other, role, at));
    });
  }

  #structure(before: ts.Type, after: ts.Type, role: Role, at: Place): readonly Finding[] {
    if (before === after || this.#parameters.get(before)?.has(after) === true || isThisOf(before, after)) return [];
    if ((before.flags | after.flags) & ts.TypeFlags.Any) return compareLeaves(this, before, after, role, at);
    if (before.isUnion() || after.isUnion()) return compareUnions(this, partsOf(before), partsOf(after), role, at);
    if (isOperator(before) && isOperator(after)) return compareOperators(this, before, after, role, at);
    if (this.#isObjectLike(before) && this.#isObjectLike(after)) {
      const isForeign = this.#isForeign(before) || this.#isForeign(after);
      const isOneGeneric = isReference(before) && isReference(after) && before.target === after.target;
      if (!isForeign || isOneGeneric || this.checker.isArrayLikeType(before)) {
        return compareObjects(this, before, after, role, at);
      }
    }
    return compareLeaves(this, before, after, role, at);
  }

  #isObjectLike(type: ts.Type): boolean {
    if (type.isIntersection()) return type.types.every((part) => this.#isObjectLike(part));
    return (type.flags & (ts.TypeFlags.Object | ts.TypeFlags.NonPrimitive)) === ts.TypeFlags.Object;
  }

  /** A third party's class or interface is compared by the compiler, as one. */
  #isForeign(type: ts.Type): boolean {
    const isNamed = type.isClassOrInterface() || isReference(type);
    return isNamed && type.symbol !== undefined && this.names.packageOf(type.symbol) === undefined;
  }
}

/** The members of a union, or the type alone. */
export function partsOf(type: ts.Type): readonly ts.Type[] {
  return type.isUnion() ? type.types : [type];
}

function isOperator(type: ts.Type): boolean {
  return (type.flags & ts.TypeFlags.Instantiable) !== 0 && !type.isTypeParameter();
}

// The type of `this` in a class is a type parameter whose symbol is the class.
function isThisOf(before: ts.Type, after: ts.Type): boolean {
  const declares = ts.SymbolFlags.Class | ts.SymbolFlags.Interface;
  const isThis = (type: ts.Type) => type.isTypeParameter() && (type.symbol?.flags & declares) !== 0;
  return isThis(before) && isThis(after);
}
