// From families to findings: packages, their doors, what a door exports, and then every named type that was met on the way,
// each once, in the roles it plays.

import ts from "typescript-6";
import type { DoorFile, Family } from "../families.ts";
import type { Surface } from "../surface.ts";
import { Comparison } from "./comparison.ts";
import { compareDeclared, compareValues, describe } from "./declarations.ts";
import { addition, type Finding, type Place, removal } from "./findings.ts";
import { Names } from "./names.ts";
import { bothRoles, type Role, rolesOf } from "./roles.ts";

interface Exported {
  readonly symbol: ts.Symbol;
  readonly isValue: boolean;
  readonly isType: boolean;
}

type Door = ReadonlyMap<string, Exported>;

/** Everything that differs between two families that `surface` holds, each finding once, the gravest first. */
export function compareFamilies(surface: Surface, before: Family, after: Family): readonly Finding[] {
  const names = new Names(surface, before, after);
  const comparison = new Comparison(surface.checker, names);
  const old = doorsOf(surface, names, before);
  const now = doorsOf(surface, names, after);
  const findings: Finding[] = [];
  const pairs = new Map<ts.Symbol, ts.Symbol>();

  for (const [packageName, doors] of now) {
    for (const [door, exports] of doors) {
      if (old.get(packageName)?.has(door) !== true) findings.push(...sayNew(packageName, door, exports));
    }
  }
  for (const [packageName, doors] of old) {
    for (const [door, exports] of doors) {
      const others: Door = now.get(packageName)?.get(door) ?? new Map();
      findings.push(...compareDoor(comparison, packageName, door, exports, others, pairs));
    }
  }
  const all = [...old.values()].flatMap((doors) => [...doors.values()].flatMap((door) => [...door.values()]));
  const roles = rolesOf(
    names,
    all.map(({ symbol }) => symbol),
  );
  findings.push(...compareNamed(comparison, roles, typesOf(pairs)));
  return sorted([...findings, ...describe(names, findings, [...names.pairs(), ...pairs])]);
}

function doorsOf(surface: Surface, names: Names, family: Family): ReadonlyMap<string, ReadonlyMap<string, Door>> {
  return new Map(
    family.map(({ name, doors }) => [name, new Map(doors.map((door) => [door.name, readDoor(surface, names, door)]))]),
  );
}

function readDoor({ program, checker }: Surface, names: Names, { path }: DoorFile): Door {
  const file = program.getSourceFile(path);
  const module = file === undefined ? undefined : checker.getSymbolAtLocation(file);
  const symbols = module === undefined ? [] : checker.getExportsOfModule(module);
  return new Map(
    symbols.map((symbol) => {
      const meaning = names.resolve(symbol);
      const isValue = (meaning.flags & ts.SymbolFlags.Value) !== 0 && !isTypeOnly(checker, symbol);
      return [symbol.name, { symbol: meaning, isValue, isType: (meaning.flags & ts.SymbolFlags.Type) !== 0 }];
    }),
  );
}

function isTypeOnly(checker: ts.TypeChecker, symbol: ts.Symbol): boolean {
  let step: ts.Symbol | undefined = symbol;
  while (step !== undefined && step.flags & ts.SymbolFlags.Alias) {
    if (step.declarations?.some(ts.isTypeOnlyImportOrExportDeclaration) === true) return true;
    step = checker.getImmediateAliasedSymbol(step);
  }
  return false;
}

function sayNew(packageName: string, door: string, exports: Door): readonly Finding[] {
  return [...exports.keys()].map((name) => addition(placeAt(packageName, door, name), "added", "is exported"));
}

function placeAt(packageName: string, door: string, name: string): Place {
  return { packageName, path: `${door}: ${name}` };
}

function compareDoor(
  comparison: Comparison,
  packageName: string,
  door: string,
  before: Door,
  after: Door,
  pairs: Map<ts.Symbol, ts.Symbol>,
): readonly Finding[] {
  const added = [...after].filter(([name]) => !before.has(name));
  const renamed = new Set<string>();
  const findings: Finding[] = [];
  for (const [name, old] of before) {
    const at = placeAt(packageName, door, name);
    const now = after.get(name);
    const deprecated = comparison.names.tagOf(old.symbol, "deprecated");
    if (now === undefined) {
      const candidates = added.filter(([, candidate]) => isRenamed(comparison, old, candidate, at));
      const [successor] = candidates.length === 1 ? candidates : [];
      if (successor !== undefined) renamed.add(successor[0]);
      const says = successor === undefined ? "is not exported any more" : `is called ${successor[0]} now`;
      findings.push(removal(at, successor === undefined ? "removed" : "renamed", says, deprecated));
      continue;
    }
    if (old.isValue && !now.isValue) findings.push(removal(at, "removed", "is only a type now", deprecated));
    else if (!old.isValue && now.isValue) findings.push(addition(at, "added", "is a value too"));
    if (old.isType && !now.isType) findings.push(removal(at, "removed", "is no type any more", deprecated));
    else if (!old.isType && now.isType) findings.push(addition(at, "added", "is a type too"));
    findings.push(...compareExport(comparison, old, now, { packageName, path: name }));
    pairs.set(old.symbol, now.symbol);
  }
  for (const [name] of added) {
    if (!renamed.has(name)) findings.push(addition(placeAt(packageName, door, name), "added", "is exported"));
  }
  return findings;
}

function compareExport(comparison: Comparison, before: Exported, after: Exported, at: Place): readonly Finding[] {
  return before.isValue && after.isValue ? compareValues(comparison, before.symbol, after.symbol, at) : [];
}

/** An export that went, and a new one that is the same in both directions: one thing under another name. */
function isRenamed(comparison: Comparison, before: Exported, after: Exported, at: Place): boolean {
  if (before.isValue !== after.isValue || before.isType !== after.isType) return false;
  const findings = [
    ...compareExport(comparison, before, after, at),
    ...(before.isType
      ? bothRoles.flatMap((role) => compareDeclared(comparison, before.symbol, after.symbol, role, at))
      : []),
    ...(before.isValue ? compareExport(comparison, after, before, at) : []),
  ];
  return findings.every(({ change }) => change === "docs");
}

function typesOf(pairs: ReadonlyMap<ts.Symbol, ts.Symbol>): ReadonlyMap<ts.Symbol, ts.Symbol> {
  return new Map([...pairs].filter((pair) => pair.every(({ flags }) => flags & ts.SymbolFlags.Type)));
}

function compareNamed(
  comparison: Comparison,
  roles: ReadonlyMap<ts.Symbol, ReadonlySet<Role>>,
  exported: ReadonlyMap<ts.Symbol, ts.Symbol>,
): readonly Finding[] {
  const done = new Map<ts.Symbol, Map<ts.Symbol, Set<Role>>>();
  const findings: Finding[] = [];
  const compare = (before: ts.Symbol, after: ts.Symbol, role: Role) => {
    const byAfter = done.get(before) ?? new Map<ts.Symbol, Set<Role>>();
    const known = byAfter.get(after) ?? new Set<Role>();
    if (known.has(role)) return;
    done.set(before, byAfter.set(after, known.add(role)));
    const packageName = comparison.names.packageOf(before)?.name;
    if (packageName === undefined) return;
    findings.push(...compareDeclared(comparison, before, after, role, { packageName, path: before.name }));
  };
  for (const [before, after] of exported) comparison.names.correspond(before, after);
  // Comparing one pair meets others; a pair that nothing of the old surface speaks of could be used in both ways.
  for (let count = -1; count !== countOf(done); ) {
    count = countOf(done);
    for (const { before, after, role } of comparison.takeMet()) compare(before, after, role);
    for (const [before, after] of [...exported, ...comparison.names.pairs()]) {
      for (const role of roles.get(before) ?? bothRoles) compare(before, after, role);
    }
  }
  return findings;
}

function countOf(done: ReadonlyMap<ts.Symbol, ReadonlyMap<ts.Symbol, ReadonlySet<Role>>>): number {
  return [...done.values()].flatMap((byAfter) => [...byAfter.values()]).reduce((sum, { size }) => sum + size, 0);
}

function sorted(findings: readonly Finding[]): readonly Finding[] {
  const order = ["breaking", "addition", "docs"];
  const keyOf = ({ change, packageName, path, reason, says }: Finding) =>
    [order.indexOf(change), packageName, path, reason, says].join("\0");
  const unique = new Map(findings.map((finding) => [keyOf(finding), finding]));
  return [...unique].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, finding]) => finding);
}
