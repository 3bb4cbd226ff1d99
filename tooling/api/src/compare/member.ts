// One member of an object type, read from the compiler's symbol.

import ts from "typescript-6";
import { inside, type Place } from "./findings.ts";
import { mappedNodeOf } from "./mapped.ts";
import type { Names } from "./names.ts";

/** A member that others can reach. */
export interface Member {
  readonly name: string;
  readonly symbol: ts.Symbol;
  readonly isOptional: boolean;
  readonly isReadonly: boolean;
  readonly isMethod: boolean;
  readonly isProtected: boolean;
  readonly isAbstract: boolean;
  /** Its type as it is written; `undefined` where that is not the whole truth (a method, a mapped or generic type). */
  readonly node: ts.TypeNode | undefined;
}

/** The public and protected members of a type, by a name that is the same in every program. */
export function membersOf(checker: ts.TypeChecker, type: ts.Type): ReadonlyMap<string, Member> {
  const mapped = mappedNodeOf(type);
  const isFixed = mapped?.readonlyToken !== undefined && mapped.readonlyToken.kind !== ts.SyntaxKind.MinusToken;
  return new Map(
    checker.getPropertiesOfType(type).flatMap((symbol): (readonly [string, Member])[] => {
      const modifiers = symbol.declarations?.reduce((all, node) => all | flagsOf(node), 0) ?? 0;
      const isHidden = (modifiers & ts.ModifierFlags.Private) !== 0 || symbol.name.startsWith("__#");
      if (isHidden || symbol.flags & ts.SymbolFlags.Prototype) return [];
      const declaration = symbol.valueDeclaration;
      const isWritten = !(symbol.flags & ts.SymbolFlags.Transient) && declaration !== undefined;
      const accessors = ts.SymbolFlags.GetAccessor | ts.SymbolFlags.SetAccessor;
      const isMethod = (symbol.flags & (ts.SymbolFlags.Method | ts.SymbolFlags.Function | ts.SymbolFlags.Class)) !== 0;
      const member: Member = {
        name: nameOf(symbol),
        symbol,
        isOptional: (symbol.flags & ts.SymbolFlags.Optional) !== 0,
        isReadonly:
          isFixed ||
          isMethod ||
          (modifiers & ts.ModifierFlags.Readonly) !== 0 ||
          (symbol.flags & accessors) === ts.SymbolFlags.GetAccessor,
        isMethod,
        isProtected: (modifiers & ts.ModifierFlags.Protected) !== 0,
        isAbstract: (modifiers & ts.ModifierFlags.Abstract) !== 0,
        node: isWritten && isProperty(declaration) ? declaration.type : undefined,
      };
      return [[member.name, member]];
    }),
  );
}

/** Where a member's findings belong: to the named type that declares it, if one does, and else to where it was met. */
export function placeOf(names: Names, member: Member, at: Place): Place {
  const parent = member.symbol.declarations?.[0]?.parent;
  const owner = parent !== undefined && ts.isTypeLiteralNode(parent) ? parent.parent : parent;
  const isNamed =
    owner !== undefined &&
    (ts.isInterfaceDeclaration(owner) || ts.isClassDeclaration(owner) || ts.isTypeAliasDeclaration(owner));
  const symbol = isNamed && owner.name !== undefined ? names.meaningOf(owner.name) : undefined;
  const packageName = symbol === undefined ? undefined : names.packageOf(symbol)?.name;
  if (symbol === undefined || packageName === undefined) return inside(at, `.${member.name}`);
  return { packageName, path: `${symbol.name}.${member.name}` };
}

function flagsOf(node: ts.Declaration): ts.ModifierFlags {
  return ts.getCombinedModifierFlags(node);
}

function isProperty(node: ts.Declaration): node is ts.PropertySignature | ts.PropertyDeclaration {
  return ts.isPropertySignature(node) || ts.isPropertyDeclaration(node);
}

// A member named by a symbol is `__@asyncDispose@412` to the compiler, the number its own.
function nameOf(symbol: ts.Symbol): string {
  const found = /^__@(.+)@\d+$/.exec(symbol.name);
  return found?.[1] === undefined ? symbol.name : `[${found[1]}]`;
}
