// What a comparison finds. Each finding has one class, from which the size of the release follows, and one reason.

/**
 * What a finding means for those who use the package: `breaking`: a program that compiles may stop to; `addition`: there
 * is more than before, and what compiled still does; `docs`: nothing that a type can say.
 */
export type Change = "breaking" | "addition" | "docs";

/** Why, as a word to rely on; the sentence is in `says`. */
export type Reason =
  // breaking
  | "removed"
  | "renamed"
  | "changed"
  | "narrowed"
  | "widened"
  | "required-member"
  | "required-parameter"
  | "parameter-removed"
  | "maybe-absent"
  | "read-only"
  | "type-parameter"
  | "sealed"
  // additions
  | "added"
  | "takes-more"
  | "gives-less"
  | "optional-parameter"
  | "passes-more"
  | "deprecated"
  // docs
  | "documentation"
  | "parameter-name"
  | "value"
  | "written-anew";

/** One difference between two public surfaces. */
export interface Finding {
  readonly change: Change;
  readonly reason: Reason;
  readonly packageName: string;
  /** What it is about: `MemoryDriver.close(deadlineMs)`, and for exports the door too: `index: MemoryStore`. */
  readonly path: string;
  readonly says: string;
  /** Of what is removed or renamed: the text of its `@deprecated` before, `null` where it had none. */
  readonly deprecated?: string | null;
}

/** Where a comparison stands. */
export interface Place {
  readonly packageName: string;
  readonly path: string;
}

/** A finding of class `breaking` at a place. */
export function breaking(at: Place, reason: Reason, says: string): Finding {
  return { change: "breaking", reason, packageName: at.packageName, path: at.path, says };
}

/** A finding of class `addition` at a place. */
export function addition(at: Place, reason: Reason, says: string): Finding {
  return { change: "addition", reason, packageName: at.packageName, path: at.path, says };
}

/** A finding of class `docs` at a place. */
export function docs(at: Place, reason: Reason, says: string): Finding {
  return { change: "docs", reason, packageName: at.packageName, path: at.path, says };
}

/** Something that went: breaking, and in need of a deprecation before. */
export function removal(at: Place, reason: "removed" | "renamed", says: string, deprecated: string | null): Finding {
  return { ...breaking(at, reason, says), deprecated };
}

/** Whether any of the findings breaks. */
export function breaks(findings: readonly Finding[]): boolean {
  return findings.some(({ change }) => change === "breaking");
}

/** The place of a part of what stands at `at`: `inside(at, ".close")`. */
export function inside(at: Place, part: string): Place {
  return { packageName: at.packageName, path: at.path + part };
}
