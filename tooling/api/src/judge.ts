// Whether a change may be released: each package's findings need a changeset of their size, and what is removed needs to
// have been deprecated in a release before, and not be promised for longer.

import { announcedSizes, type ChangeSize, larger, nextVersion, stepBetween } from "./changesets.ts";
import { type Classification, releasedVersion, sizeOf } from "./classify.ts";
import type { Finding } from "./compare/findings.ts";
import type { Family } from "./families.ts";

/** What a check is made on: the two surfaces, what differs, and the texts of the pending changesets. */
export interface Release {
  readonly before: Family;
  readonly after: Family;
  readonly classification: Classification;
  readonly changesets: readonly string[];
}

/** Names everything that stands in the way of a release, one finding a line; none is a pass. */
export function judgeRelease({ before, after, classification, changesets }: Release): readonly string[] {
  const announced = announcedSizes(changesets);
  const steps = new Map(
    [...new Set(classification.findings.map(({ packageName }) => packageName))].map((name) => {
      const released = releasedVersion(before, name);
      const version = after.find((member) => member.name === name)?.version ?? released;
      return [name, larger(announced.get(name) ?? "none", stepBetween(released, version))];
    }),
  );
  // The packages are released together, at the version that the largest step leads to.
  const largest = [...announced.values(), ...steps.values()].reduce(larger, "none");
  return classification.findings.flatMap((finding) => {
    const released = releasedVersion(before, finding.packageName);
    const found = steps.get(finding.packageName) ?? "none";
    return [...judgeSize(finding, released, found), ...judgeRemoval(finding, released, nextVersion(released, largest))];
  });
}

function judgeSize(finding: Finding, released: string, found: ChangeSize): readonly string[] {
  const needed = sizeOf(finding.change, released);
  if (larger(found, needed) === found) return [];
  return [`${sayFinding(finding)}: ${finding.packageName} needs a ${needed} changeset and has ${found}`];
}

function judgeRemoval(finding: Finding, released: string, next: string): readonly string[] {
  const { deprecated } = finding;
  if (deprecated === undefined) return [];
  if (deprecated === null) {
    return [`${sayFinding(finding)}: it was not @deprecated in ${released}; deprecate it in a minor, then remove it`];
  }
  const promised = /removed in v?(\d+\.\d+(?:\.\d+)?)/.exec(deprecated)?.[1];
  if (promised === undefined || !isBefore(next, promised)) return [];
  return [`${sayFinding(finding)}: its deprecation promises it until ${promised}, and this would be ${next}`];
}

/** A finding as one line. */
function sayFinding({ packageName, path, reason, says }: Finding): string {
  return `${packageName}: ${path} ${says} (${reason})`;
}

function isBefore(version: string, other: string): boolean {
  const left = version.split(".").map(Number);
  const right = other.split(".").map(Number);
  const at = [0, 1, 2].find((index) => (left[index] ?? 0) !== (right[index] ?? 0));
  return at !== undefined && (left[at] ?? 0) < (right[at] ?? 0);
}
