// A change of the public API needs a changeset of the right size. The API reports as they were at the last release
// (none, before the first) are compared with what stands in the working tree. Before 1.0 a minor plays the major's part.
// Once the changesets were turned into a version, the step of the version since that release speaks for them.

/** One API report of a package, then and now; `before` is empty where the door is new. */
export interface ReportChange {
  readonly packageName: string;
  readonly releasedVersion: string;
  readonly version: string;
  readonly path: string;
  readonly before: string;
  readonly after: string;
}

/** The size of a pending change. */
export type ChangeSize = "none" | "patch" | "minor" | "major";

const sizes: readonly ChangeSize[] = ["none", "patch", "minor", "major"];

/** Names every package whose API changed by more than its changesets announce. */
export function checkChanges(changes: readonly ReportChange[], changesets: readonly string[]): readonly string[] {
  const announced = readChangesets(changesets);
  return changes.flatMap((change) => {
    const needed = neededSize(change);
    const found = larger(announced.get(change.packageName) ?? "none", versionStep(change));
    if (larger(found, needed) === found) return [];
    return [
      `${change.path}: the public API changed, ${change.packageName} needs a ${needed} changeset and has ${found}`,
    ];
  });
}

/** The largest size each package is given by the changesets' front matter. */
export function readChangesets(changesets: readonly string[]): ReadonlyMap<string, ChangeSize> {
  const announced = new Map<string, ChangeSize>();
  for (const text of changesets) {
    const frontMatter = /^---\r?\n([\s\S]*?)\r?\n---/.exec(text)?.[1] ?? "";
    for (const match of frontMatter.matchAll(/^["']?([^"'\n]+?)["']?:\s*(patch|minor|major)\s*$/gm)) {
      const [, name = "", word] = match;
      const size = sizes.find((candidate) => candidate === word) ?? "none";
      announced.set(name, larger(announced.get(name) ?? "none", size));
    }
  }
  return announced;
}

/** Additions need a minor; a line of the report that went or changed needs a major (before 1.0: a minor). */
function neededSize(change: ReportChange): ChangeSize {
  const before = declarationsOf(change.before);
  const after = declarationsOf(change.after);
  if (isEqual(before, after)) return "none";
  const isRemoval = [...before].some(([line, count]) => (after.get(line) ?? 0) < count);
  return isRemoval && !change.releasedVersion.startsWith("0.") ? "major" : "minor";
}

function versionStep({ releasedVersion, version }: ReportChange): ChangeSize {
  const before = releasedVersion.split(".").map(Number);
  const part = version.split(".").findIndex((text, index) => Number(text) !== before[index]);
  if (part === -1) return "none";
  return [...sizes].reverse()[part] ?? "none";
}

/** The larger of two sizes, the first where they are equal. */
function larger(left: ChangeSize, right: ChangeSize): ChangeSize {
  return sizes.indexOf(right) > sizes.indexOf(left) ? right : left;
}

function declarationsOf(report: string): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  const code = /```ts\n([\s\S]*?)```/.exec(report)?.[1] ?? "";
  for (const line of code.split("\n").map((text) => text.trim())) {
    if (line !== "" && !line.startsWith("//")) counts.set(line, (counts.get(line) ?? 0) + 1);
  }
  return counts;
}

function isEqual(left: ReadonlyMap<string, number>, right: ReadonlyMap<string, number>): boolean {
  return left.size === right.size && [...left].every(([line, count]) => right.get(line) === count);
}
