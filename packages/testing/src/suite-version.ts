// Which version of the suite brought a case, and whether a target is held to it: a new case must not turn the build of an
// adapter red that was written before it.

import type { ConformanceCase } from "./case.ts";

/** The version whose cases name none. */
const FIRST_RELEASE = "0.1.0";

/** The version of the suite that brought the case. */
export function sinceOf(one: Pick<ConformanceCase, "since">): string {
  return one.since ?? FIRST_RELEASE;
}

/**
 * Whether a target that is held to this version of the suite (default: the one that runs) fails where it fails the case.
 *
 * @throws {RangeError} One of the versions is not `x.y.z`.
 */
export function isHeldTo(one: Pick<ConformanceCase, "since">, heldTo: string | undefined): boolean {
  return heldTo === undefined || compareVersions(sinceOf(one), heldTo) <= 0;
}

/**
 * Orders two versions `x.y.z` as semver does; below 0 where the first is the older.
 *
 * @throws {RangeError} One of them is no such version; those of pre-releases are not.
 */
export function compareVersions(left: string, right: string): number {
  const [lefts, rights] = [partsOf(left), partsOf(right)];
  for (const [index, part] of lefts.entries()) {
    const difference = part - (rights[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

function partsOf(version: string): readonly number[] {
  if (!/^(?:0|[1-9]\d*)(?:\.(?:0|[1-9]\d*)){2}$/.test(version)) {
    throw new RangeError(`"${version}" is no version of the suite: write it as x.y.z`);
  }
  return version.split(".").map(Number);
}
