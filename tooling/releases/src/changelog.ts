// How changesets writes a CHANGELOG.md: the text of each changeset as its author wrote it for the person who upgrades, without
// the commit's digest, and without lines about dependencies that a range already covers. The configuration of changesets
// names this file; what it calls are the two exports.

/** A changeset, as far as its line needs it. */
interface Note {
  readonly summary: string;
}

/** Another package of ours that is released with this one, and that this one's range did not cover. */
interface Companion {
  readonly name: string;
  readonly newVersion: string;
}

/** One entry: the changeset's text as a list item, its later lines under it. */
export function getReleaseLine({ summary }: Note): Promise<string> {
  const [first = "", ...later] = summary.trim().split(/\r?\n/);
  return Promise.resolve([`- ${first}`, ...later.map((line) => (line === "" ? "" : `  ${line}`))].join("\n"));
}

/** Which versions of our other packages this release needs, where it needs other ones than before; else nothing. */
export function getDependencyReleaseLine(_notes: readonly Note[], companions: readonly Companion[]): Promise<string> {
  const list = companions.map(({ name, newVersion }) => `\`${name}\` ${newVersion} or newer`);
  return Promise.resolve(list.length === 0 ? "" : `- Needs ${list.join(", ")}.`);
}
