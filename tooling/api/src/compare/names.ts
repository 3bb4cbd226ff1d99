// Names on both sides: which package a symbol is of, what a name in a declaration means, which old name is which new one,
// and what is written about it.

import ts from "typescript-6";
import type { Family, FamilyPackage } from "../families.ts";
import type { Surface } from "../surface.ts";

/** A named type and the arguments it is used with. */
export interface NamedType {
  readonly symbol: ts.Symbol;
  readonly args: readonly ts.Type[];
}

const typeNames = ts.SymbolFlags.Interface | ts.SymbolFlags.Class | ts.SymbolFlags.TypeAlias | ts.SymbolFlags.Enum;

/** The names of one comparison. */
export class Names {
  readonly #surface: Surface;
  readonly #members: ReadonlySet<FamilyPackage>;
  readonly #pairs = new Map<ts.Symbol, Set<ts.Symbol>>();

  constructor(surface: Surface, before: Family, after: Family) {
    this.#surface = surface;
    this.#members = new Set([...before, ...after]);
  }

  /** The package that declares a symbol; `undefined` for what is a third party's. */
  packageOf(symbol: ts.Symbol): FamilyPackage | undefined {
    const file = symbol.declarations?.[0]?.getSourceFile().fileName;
    const found = file === undefined ? undefined : this.#surface.packageOf(file);
    return found !== undefined && this.#members.has(found) ? found : undefined;
  }

  /** What stands behind imports and re-exports. */
  resolve(symbol: ts.Symbol): ts.Symbol {
    return symbol.flags & ts.SymbolFlags.Alias ? this.#surface.checker.getAliasedSymbol(symbol) : symbol;
  }

  /** What a name in a declaration means. */
  meaningOf(node: ts.Node): ts.Symbol | undefined {
    const symbol = this.#surface.checker.getSymbolAtLocation(node);
    return symbol === undefined ? undefined : this.resolve(symbol);
  }

  /** The name of a type that a package of the family gives it. */
  named(type: ts.Type): NamedType | undefined {
    const { aliasSymbol } = type;
    if (aliasSymbol !== undefined && this.packageOf(aliasSymbol) !== undefined) {
      return { symbol: aliasSymbol, args: type.aliasTypeArguments ?? [] };
    }
    const { symbol } = type;
    if (symbol === undefined || !(symbol.flags & typeNames) || this.packageOf(symbol) === undefined) return undefined;
    if (isReference(type)) return { symbol, args: this.#surface.checker.getTypeArguments(type) };
    return type.isClassOrInterface() || type.flags & ts.TypeFlags.EnumLike ? { symbol, args: [] } : undefined;
  }

  /** Whether a symbol is an alias of a third party's that makes one type of another: `Partial`, `Omit`, `Readonly`. */
  isOperator(symbol: ts.Symbol): boolean {
    return (symbol.flags & ts.SymbolFlags.TypeAlias) !== 0 && this.packageOf(symbol) === undefined;
  }

  /** Whether two symbols are one name of one package, before and after; what it means is compared once for all its uses. */
  correspond(before: ts.Symbol, after: ts.Symbol): boolean {
    if (before === after) return true;
    const old = this.packageOf(before);
    const now = this.packageOf(after);
    if (old === undefined || now === undefined || old.name !== now.name || before.name !== after.name) return false;
    if (!(before.flags & typeNames) || !(after.flags & typeNames)) return false;
    const known = this.#pairs.get(before) ?? new Set();
    this.#pairs.set(before, known.add(after));
    return true;
  }

  /** Every pair that `correspond` has said yes to so far. */
  pairs(): readonly (readonly [before: ts.Symbol, after: ts.Symbol])[] {
    return [...this.#pairs].flatMap(([before, known]) => [...known].map((after) => [before, after] as const));
  }

  /**
   * Whether two type nodes read the same and every name in them corresponds, so that what differs behind them is found at
   * the names. A node that speaks of a type parameter declared outside it is never the same: who uses it decides.
   */
  isSame(before: ts.Node | undefined, after: ts.Node | undefined): boolean {
    if (before === undefined || after === undefined) return before === after;
    return this.#isSame(before, after, before, after);
  }

  /** The words of a doc comment, tags included, as one text. */
  docOf(symbol: ts.Symbol): string {
    const { checker } = this.#surface;
    const tags = symbol
      .getJsDocTags(checker)
      .filter(({ name }) => name !== "deprecated")
      .map(({ name, text }) => `@${name} ${ts.displayPartsToString(text)}`);
    return [ts.displayPartsToString(symbol.getDocumentationComment(checker)), ...tags].join("\n").replace(/\s+/g, " ");
  }

  /** The text of a tag; `null` where the symbol has no such tag. */
  tagOf(symbol: ts.Symbol, tag: string): string | null {
    // Of overloads one may have a tag that does not speak for the others.
    const signatures = symbol.declarations?.filter(ts.isFunctionLike) ?? [];
    if (!signatures.every((node) => ts.getJSDocTags(node).some(({ tagName }) => tagName.text === tag))) return null;
    const found = symbol.getJsDocTags(this.#surface.checker).find(({ name }) => name === tag);
    return found === undefined ? null : ts.displayPartsToString(found.text);
  }

  #isSame(before: ts.Node, after: ts.Node, outerBefore: ts.Node, outerAfter: ts.Node): boolean {
    if (before.kind !== after.kind) return false;
    if (ts.isIdentifier(before) && ts.isIdentifier(after)) {
      if (before.text !== after.text) return false;
      const old = this.meaningOf(before);
      const now = this.meaningOf(after);
      if (old === undefined || now === undefined) return old === now;
      if (this.isOperator(old)) return false;
      if (old.flags & ts.SymbolFlags.TypeParameter) return isWithin(old, outerBefore) && isWithin(now, outerAfter);
      return old === now || !(old.flags & typeNames) || this.correspond(old, now);
    }
    if (ts.isTypeQueryNode(before) || ts.isImportTypeNode(before)) return false;
    const oldParts = childrenOf(before);
    const newParts = childrenOf(after);
    if (oldParts.length !== newParts.length) return false;
    if (oldParts.length === 0) return before.getText() === after.getText();
    return oldParts.every((part, index) => {
      const other = newParts[index];
      return other !== undefined && this.#isSame(part, other, outerBefore, outerAfter);
    });
  }
}

/** Whether a type is an instance of a generic class, interface or tuple, or the declaration itself of one. */
export function isReference(type: ts.Type): type is ts.TypeReference {
  return isObject(type) && (type.objectFlags & ts.ObjectFlags.Reference) !== 0;
}

/** Whether a type is an object type, functions and arrays included. */
export function isObject(type: ts.Type): type is ts.ObjectType {
  return (type.flags & ts.TypeFlags.Object) !== 0;
}

function childrenOf(node: ts.Node): readonly ts.Node[] {
  const children: ts.Node[] = [];
  ts.forEachChild(node, (child) => {
    children.push(child);
  });
  return children;
}

function isWithin(symbol: ts.Symbol, outer: ts.Node): boolean {
  return symbol.declarations?.every((node) => node.pos >= outer.pos && node.end <= outer.end) === true;
}
