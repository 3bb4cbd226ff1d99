// The register of cases, etc/cases.json: which version of the suite brought which. What is released in it never changes:
// an id stays, and so does its version; what is new names a minor that is not released yet.

import type { ConformanceCase } from "../../src/case.ts";
import { compareVersions, sinceOf } from "../../src/suite-version.ts";

/** The ids of the cases, by the version that brought them. */
export type CaseRegister = Readonly<Record<string, readonly string[]>>;

/** The register that these cases make, versions and ids in order. */
export function registerOf(cases: readonly Pick<ConformanceCase, "id" | "since">[]): CaseRegister {
  const versions = [...new Set(cases.map(sinceOf))].sort(compareVersions);
  return Object.fromEntries(
    versions.map((version) => [
      version,
      cases
        .filter((one) => sinceOf(one) === version)
        .map(({ id }) => id)
        .sort(),
    ]),
  );
}

/** What is wrong with going from one register to another, where `released` is the newest version that users have. */
export function registerProblems(before: CaseRegister, after: CaseRegister, released: string): readonly string[] {
  const [old, now] = [sincesOf(before), sincesOf(after)];
  const isReleased = (since: string) => compareVersions(since, released) <= 0;
  const lost = [...old].flatMap(([id, since]) => {
    if (!isReleased(since) || now.get(id) === since) return [];
    const found = now.get(id);
    return [found === undefined ? `${id} is gone, and its id is public API` : `${id} is of ${since}, not of ${found}`];
  });
  const added = [...now].flatMap(([id, since]) => {
    if (old.has(id)) return [];
    if (isReleased(since)) return [`${id} is new: name the next minor in its "since", for ${since} is released`];
    return since.endsWith(".0") ? [] : [`${id} is new, and a new case is a minor: ${since} is a patch`];
  });
  return [...lost, ...added];
}

/** The ids that came after the first release and are named in none of these notes: changesets and the changelog. */
export function unannounced(register: CaseRegister, notes: readonly string[]): readonly string[] {
  const [, ...later] = Object.keys(register).sort(compareVersions);
  const told = new Set(notes.flatMap((note) => note.match(/[a-z-]+\/[a-z0-9-]+/g) ?? []));
  return later.flatMap((version) => register[version] ?? []).filter((id) => !told.has(id));
}

function sincesOf(register: CaseRegister): ReadonlyMap<string, string> {
  return new Map(Object.entries(register).flatMap(([version, ids]) => ids.map((id) => [id, version] as const)));
}
