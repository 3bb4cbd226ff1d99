// Which section of the protocol a case belongs to: the heading under which docs/protocol.md prints its promise, so that
// a failure and a report can say where the promise stands.

const TITLES: Readonly<Record<string, string>> = {
  scope: "Scope",
  record: "Records",
  json: "Values",
  working: "Working",
  profile: "Profile",
  beliefs: "Beliefs",
  episodic: "Episodic",
  semantic: "Semantic",
  redaction: "Redaction",
  erasure: "Erasure",
  derivations: "Derived artefacts",
  portability: "Portability",
  cursors: "Pages and cursors",
  capabilities: "Capabilities",
  errors: "Errors",
  events: "Events",
  availability: "Availability",
};

const PAGE = "https://github.com/memory-protocol/memory/blob/main/docs/protocol.md";

/** The heading of a concern in docs/protocol.md; a concern of somebody else's cases is its own heading. */
export function sectionTitle(concern: string): string {
  return TITLES[concern] ?? concern;
}

/** Where the promises of a concern stand: the page's address with the heading's anchor. */
export function sectionAddress(concern: string): string {
  return `${PAGE}#${sectionTitle(concern).toLowerCase().replaceAll(" ", "-")}`;
}
