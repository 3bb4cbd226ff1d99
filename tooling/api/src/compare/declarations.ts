// One exported name, before and after: the value it is, the type it is, and what is left to say when neither differs.

import ts from "typescript-6";
import type { Comparison } from "./comparison.ts";
import { breaking, docs, type Finding, type Place } from "./findings.ts";
import type { Names } from "./names.ts";
import { compareNotes } from "./notes.ts";
import { actualRole, type Role, saidRole } from "./roles.ts";
import { compareTypeParameters } from "./type-parameters.ts";

const sayings: Readonly<Record<Role, string>> = {
  given: "is made by the library only now, and others may have made it",
  taken: "is made by others only now, and readers may have relied on it",
};

/** Compares functions, constants, and classes as what is called with `new`. */
export function compareValues(
  comparison: Comparison,
  before: ts.Symbol,
  after: ts.Symbol,
  at: Place,
): readonly Finding[] {
  const { checker, names } = comparison;
  const notes = before.flags & ts.SymbolFlags.Type ? [] : compareNotes(names, before, after, at);
  const old = constantOf(before);
  const now = constantOf(after);
  const types = [checker.getTypeOfSymbol(before), checker.getTypeOfSymbol(after)] as const;
  if (old !== undefined && now !== undefined) {
    const [oldBase, newBase] = types.map((type) => checker.getBaseTypeOfLiteralType(type));
    const isOneType = oldBase !== undefined && oldBase === newBase;
    // A constant that is declared by its value promises the kind of it; that the value is another is for the reader.
    if (isOneType) return old === now ? notes : [...notes, docs(at, "value", `was ${old} and is ${now}`)];
  }
  const isPair = names.isSame(nodeOf(before), nodeOf(after)) && nodeOf(before) !== undefined;
  return isPair ? notes : [...notes, ...comparison.structure(...types, "given", at)];
}

/** Compares what a name declares as a type, in one of its roles. */
export function compareDeclared(
  comparison: Comparison,
  before: ts.Symbol,
  after: ts.Symbol,
  role: Role,
  at: Place,
): readonly Finding[] {
  const { checker, names } = comparison;
  const said = saidRole(names, after);
  const isSaid = said !== undefined && said !== actualRole(names, before, role);
  return [
    ...compareNotes(names, before, after, at),
    ...(isSaid ? [breaking(at, "sealed", sayings[said])] : []),
    ...compareTypeParameters(comparison, parametersOf(checker, before), parametersOf(checker, after), "taken", at),
    ...comparison.structure(checker.getDeclaredTypeOfSymbol(before), checker.getDeclaredTypeOfSymbol(after), role, at),
  ];
}

/** Of names without a finding of their own, those that are written differently: the type is the same in other words. */
export function describe(
  names: Names,
  findings: readonly Finding[],
  pairs: Iterable<readonly [before: ts.Symbol, after: ts.Symbol]>,
): readonly Finding[] {
  const heads = new Set(findings.map(({ packageName, path }) => `${packageName} ${/^[\w$]+/.exec(path)?.[0]}`));
  return [...pairs].flatMap(([before, after]) => {
    const packageName = names.packageOf(before)?.name;
    if (packageName === undefined || heads.has(`${packageName} ${before.name}`)) return [];
    const at = { packageName, path: before.name };
    return textOf(before) === textOf(after) ? [] : [docs(at, "written-anew", "is the same type in other words")];
  });
}

function parametersOf(checker: ts.TypeChecker, symbol: ts.Symbol): readonly ts.TypeParameter[] {
  const declaration = symbol.declarations?.find(isGenericDeclaration);
  return (declaration?.typeParameters ?? [])
    .map((node) => checker.getTypeAtLocation(node))
    .filter((type) => type.isTypeParameter());
}

function isGenericDeclaration(
  node: ts.Node,
): node is ts.InterfaceDeclaration | ts.ClassDeclaration | ts.TypeAliasDeclaration {
  return ts.isInterfaceDeclaration(node) || ts.isClassDeclaration(node) || ts.isTypeAliasDeclaration(node);
}

function constantOf(symbol: ts.Symbol): string | undefined {
  const declaration = symbol.valueDeclaration;
  if (declaration === undefined || !ts.isVariableDeclaration(declaration)) return undefined;
  return declaration.initializer?.getText();
}

function nodeOf(symbol: ts.Symbol): ts.TypeNode | undefined {
  const declaration = symbol.valueDeclaration;
  return declaration !== undefined && ts.isVariableDeclaration(declaration) ? declaration.type : undefined;
}

function textOf(symbol: ts.Symbol): string {
  const printer = ts.createPrinter({ removeComments: true });
  return (symbol.declarations ?? [])
    .map((node) => printer.printNode(ts.EmitHint.Unspecified, node, node.getSourceFile()))
    .join("\n")
    .replace(/\s+/g, " ");
}
