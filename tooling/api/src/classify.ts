// The classification of a change, from two folders of packages to findings and a size.

import { type ChangeSize, larger } from "./changesets.ts";
import { compareFamilies } from "./compare/exports.ts";
import type { Change, Finding } from "./compare/findings.ts";
import type { Family } from "./families.ts";
import { readSurface, type Surface } from "./surface.ts";

/** What a change of the public surface is. */
export interface Classification {
  /** The gravest class there is; `none` where nothing differs. */
  readonly change: Change | "none";
  /** The size of changeset that it needs, over all packages. */
  readonly size: ChangeSize;
  /** The same for each package that has a finding. */
  readonly sizes: Readonly<Record<string, ChangeSize>>;
  readonly findings: readonly Finding[];
}

/**
 * Compares two families by their types. An empty `before` is what nothing was released from: all of it is new. A `surface`
 * that holds both already saves the second or so that reading them takes.
 *
 * @throws {FamilyError} A declaration of either does not compile.
 */
export function classify(
  before: Family,
  after: Family,
  surface: Surface = readSurface([before, after]),
): Classification {
  const findings = compareFamilies(surface, before, after);
  const sizes: Record<string, ChangeSize> = {};
  for (const { packageName, change } of findings) {
    const size = sizeOf(change, releasedVersion(before, packageName));
    sizes[packageName] = larger(sizes[packageName] ?? "none", size);
  }
  return {
    change: findings[0]?.change ?? "none",
    size: Object.values(sizes).reduce(larger, "none"),
    sizes,
    findings,
  };
}

/** The version of a package at the last release; `0.0.0` where it was not part of one. */
export function releasedVersion(before: Family, packageName: string): string {
  return before.find(({ name }) => name === packageName)?.version ?? before[0]?.version ?? "0.0.0";
}

/** The size that a class of change needs. Before 1.0 a minor plays the major's part. */
export function sizeOf(change: Change, released: string): ChangeSize {
  if (change === "docs") return "patch";
  return change === "breaking" && !released.startsWith("0.") ? "major" : "minor";
}
