// Who makes the values of a type. A type that the library hands out may gain what its readers may ignore; one that
// callers or implementers hand in may gain only what they may leave out. Which it is, is read from the declarations:
// what a function returns is given, what it takes is taken, and inside a function that is handed in it is the other way.

import ts from "typescript-6";
import type { Names } from "./names.ts";

/** `given`: from the library to its users. `taken`: from its users (a third party's adapter too) to the library. */
export type Role = "given" | "taken";

/** Both roles: of a type that goes both ways, or of which nothing is known. */
export const bothRoles: readonly Role[] = ["given", "taken"];

/** The other role. */
export function flip(role: Role): Role {
  return role === "given" ? "taken" : "given";
}

/**
 * Which roles each named type of the family plays, from every value that the `doors` export. A type that no function, class
 * or constant speaks of is not in the map.
 */
export function rolesOf(names: Names, exported: Iterable<ts.Symbol>): ReadonlyMap<ts.Symbol, ReadonlySet<Role>> {
  const roles = new Map<ts.Symbol, Set<Role>>();
  const opened = new Map<ts.Node, Set<Role>>();
  for (const symbol of exported) {
    if (symbol.flags & ts.SymbolFlags.Value) visitSymbol(symbol, "given");
  }
  return roles;

  function visitSymbol(symbol: ts.Symbol, role: Role): void {
    if (names.packageOf(symbol) === undefined) return;
    const actual = actualRole(names, symbol, role);
    const known = roles.get(symbol) ?? new Set();
    if (known.has(actual)) return;
    roles.set(symbol, known.add(actual));
    for (const declaration of symbol.declarations ?? []) visitParts(declaration, actual);
  }

  function visit(node: ts.Node, role: Role): void {
    if (ts.isTypeReferenceNode(node)) visitReference(node.typeName, node.typeArguments, role);
    else if (ts.isExpressionWithTypeArguments(node)) visitReference(node.expression, node.typeArguments, role);
    else if (ts.isTypeQueryNode(node)) visitReference(node.exprName, node.typeArguments, role);
    else if (ts.isFunctionLike(node)) visitFunction(node, role);
    else if (ts.isTypeParameterDeclaration(node)) visitBoth(node);
    // What a class implements says nothing of who makes it; its own members are visited as they are.
    else if (!(ts.isHeritageClause(node) && node.token === ts.SyntaxKind.ImplementsKeyword)) visitMember(node, role);
  }

  function visitMember(node: ts.Node, role: Role): void {
    const is = (kind: ts.ModifierSyntaxKind) => ts.canHaveModifiers(node) && hasModifier(node, kind);
    if (is(ts.SyntaxKind.PrivateKeyword)) return;
    const isProperty = ts.isPropertySignature(node) || ts.isPropertyDeclaration(node);
    const isWritable = isProperty && !is(ts.SyntaxKind.ReadonlyKeyword);
    if ((role === "given" && isWritable) || is(ts.SyntaxKind.AbstractKeyword)) visitBoth(node);
    else visitParts(node, role);
  }

  function visitParts(node: ts.Node, role: Role): void {
    if (ts.isFunctionLike(node)) visitFunction(node, role);
    else ts.forEachChild(node, (child) => visit(child, role));
  }

  function visitBoth(node: ts.Node): void {
    for (const role of bothRoles) visitParts(node, role);
  }

  function visitFunction(node: ts.SignatureDeclaration, role: Role): void {
    if (ts.canHaveModifiers(node) && hasModifier(node, ts.SyntaxKind.PrivateKeyword)) return;
    for (const parameter of node.typeParameters ?? []) visitParts(parameter, flip(role));
    for (const { type } of node.parameters) if (type !== undefined) visit(type, flip(role));
    if (node.type !== undefined) visit(node.type, role);
  }

  function visitReference(name: ts.Node, args: ts.NodeArray<ts.TypeNode> | undefined, role: Role): void {
    const symbol = names.meaningOf(name);
    const isOurs = symbol !== undefined && names.packageOf(symbol) !== undefined;
    if (isOurs) visitSymbol(symbol, role);
    for (const arg of args ?? []) {
      if (symbol !== undefined && names.isOperator(symbol)) visitOperand(arg, role);
      // Which way a type of the family turns its argument is not looked into: both is the stricter answer.
      else for (const each of isOurs ? bothRoles : [role]) visit(arg, each);
    }
  }

  // `Partial<Settings>` is not `Settings`: it is looked into where it stands, and the name by itself is only read.
  function visitOperand(arg: ts.TypeNode, role: Role): void {
    const symbol = ts.isTypeReferenceNode(arg) ? names.meaningOf(arg.typeName) : undefined;
    if (symbol === undefined || names.packageOf(symbol) === undefined) visit(arg, role);
    else {
      visitSymbol(symbol, "given");
      for (const declaration of symbol.declarations ?? []) visitOnce(declaration, role);
    }
  }

  function visitOnce(declaration: ts.Node, role: Role): void {
    const known = opened.get(declaration) ?? new Set();
    if (known.has(role)) return;
    opened.set(declaration, known.add(role));
    visitParts(declaration, role);
  }
}

/**
 * The role of a type that says who makes it, wherever it is met: instances of a class come from its constructor, an
 * interface `@sealed` is implemented by the library alone, and what is `@handedIn` is made by others, who know what they get
 * where it is given back to them.
 */
export function actualRole(names: Names, symbol: ts.Symbol, role: Role): Role {
  return (symbol.flags & ts.SymbolFlags.Class) !== 0 ? "given" : (saidRole(names, symbol) ?? role);
}

/** The role that a doc comment gives a type, if one does. */
export function saidRole(names: Names, symbol: ts.Symbol): Role | undefined {
  if (names.tagOf(symbol, "sealed") !== null) return "given";
  return names.tagOf(symbol, "handedIn") === null ? undefined : "taken";
}

function hasModifier(node: ts.HasModifiers, kind: ts.ModifierSyntaxKind): boolean {
  return ts.getModifiers(node)?.some((modifier) => modifier.kind === kind) === true;
}
