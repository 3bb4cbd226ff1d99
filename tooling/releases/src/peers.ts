// Which versions of core a package is published with as its peer: from the oldest released one that has every name that the
// package imports from core's doors, to the next major. Before 1.0 that is `>=0.n.0 <1`, so that core and adapters can be
// upgraded in any order and one at a time. The floor only ever rises; one that was raised by hand stays.

/** A released core: its version, and per door (`@memory/core/driver`) the names that it exports. */
export interface ReleasedCore {
  readonly version: string;
  readonly names: ReadonlyMap<string, ReadonlySet<string>>;
}

/**
 * The range of a package that imports `imported`, when it is released as `version`. `range` is the one of before.
 *
 * @throws {Error} `range` does not read `>=a.b.0 <c`.
 */
export function peerRange(
  range: string,
  version: string,
  imported: ReadonlyMap<string, ReadonlySet<string>>,
  released: readonly ReleasedCore[],
): string {
  const before = floorOf(range);
  const [major = 0] = partsOf(version);
  const candidates = released
    .filter((core) => partsOf(core.version)[0] === major && partsOf(core.version)[2] === 0)
    .filter((core) => compareVersions(core.version, before) >= 0)
    .sort((left, right) => compareVersions(left.version, right.version));
  const floor = candidates.find((core) => hasAll(core, imported))?.version ?? version;
  return `>=${floor} <${major + 1}`;
}

// The oldest version that a range of this shape takes.
function floorOf(range: string): string {
  const floor = /^>=(\d+\.\d+\.\d+) <\d+(?:\.0\.0)?$/.exec(range)?.[1];
  if (floor === undefined) throw new Error(`the peer range "${range}" does not read ">=a.b.0 <c"`);
  return floor;
}

/** Per door of core, the names that a source imports or re-exports; types too, as the declarations need them. */
export function importedNames(source: string): ReadonlyMap<string, ReadonlySet<string>> {
  const code = source.replaceAll(/\/\*[\s\S]*?\*\/|^[ \t]*\/\/.*$/gm, "");
  const found = new Map<string, Set<string>>();
  for (const match of code.matchAll(
    /\b(?:import|export)\b(?:\s+type\b)?\s*\{([^}]*)\}\s*from\s*"(@memory\/core[^"]*)"/g,
  )) {
    const [, list = "", door = ""] = match;
    const names = list.split(",").map(
      (item) =>
        item
          .trim()
          .replace(/^type\s+/, "")
          .split(/\s+as\s+/)[0] ?? "",
    );
    const known = found.get(door) ?? new Set<string>();
    for (const name of names) if (name !== "") known.add(name);
    found.set(door, known);
  }
  return found;
}

/** The names that an API report lists as exported. */
export function exportedNames(report: string): ReadonlySet<string> {
  const declared = [...report.matchAll(/^export .*?\b(?:class|const|enum|function|interface|type) (\w+)/gm)];
  const listed = [...report.matchAll(/^export \{ (\w+)(?: as (\w+))? \}/gm)];
  return new Set([...declared.map((match) => match[1] ?? ""), ...listed.map((match) => match[2] ?? match[1] ?? "")]);
}

function hasAll({ names }: ReleasedCore, imported: ReadonlyMap<string, ReadonlySet<string>>): boolean {
  return [...imported].every(([door, wanted]) => [...wanted].every((name) => names.get(door)?.has(name) === true));
}

function compareVersions(left: string, right: string): number {
  const other = partsOf(right);
  return partsOf(left).reduce((found, part, index) => found || part - (other[index] ?? 0), 0);
}

function partsOf(version: string): readonly number[] {
  return version.split(".").map(Number);
}
