// What is written about a name: its doc comment, and whether it is deprecated.

import type ts from "typescript-6";
import { addition, docs, type Finding, type Place } from "./findings.ts";
import type { Names } from "./names.ts";

/** Compares the doc comments of one name. A new `@deprecated` is an addition: it is what a later removal rests on. */
export function compareNotes(names: Names, before: ts.Symbol, after: ts.Symbol, at: Place): readonly Finding[] {
  if (before === after || names.packageOf(before) === undefined) return [];
  const old = names.tagOf(before, "deprecated");
  const now = names.tagOf(after, "deprecated");
  if (old === null && now !== null) return [addition(at, "deprecated", `is deprecated: ${now}`)];
  const isSame = old === now && names.docOf(before) === names.docOf(after);
  return isSame ? [] : [docs(at, "documentation", "is described in other words")];
}
