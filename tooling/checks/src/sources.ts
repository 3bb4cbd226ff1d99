// What every source file has and has not: a header comment first, no work left for later, no compiler check
// switched off, no default export but where a tool reads one.

import type { Member, SourceFile } from "./repository.ts";

const refused: readonly (readonly [RegExp, string])[] = [
  [new RegExp(`\\b(?:${"TO"}DO|FIX${"ME"})\\b`), "work left for later"],
  [/@ts-(?:ignore|nocheck|expect-error)/, "a compiler check switched off"],
  [/^export default\b/m, "a default export"],
];

/** Names every source file without a header comment, and every line that does not belong in one. */
export function checkSources(members: readonly Member[]): readonly string[] {
  return members.flatMap((member) => member.sources.flatMap(checkSource));
}

function checkSource({ path, text }: SourceFile): readonly string[] {
  const problems: string[] = [];
  const isDoorOfNothing = text.trim() === "export {};";
  if (!isDoorOfNothing && !/^(?:#![^\n]*\n)?\/[/*]/.test(text)) problems.push("no header comment");
  for (const [pattern, problem] of refused) {
    const isToolSettings = problem === "a default export" && path.endsWith(".config.ts");
    // The list of what is refused, and its tests, have to name it.
    if (path.startsWith("tooling/checks/src/sources") || isToolSettings) continue;
    if (pattern.test(text)) problems.push(problem);
  }
  return problems.map((problem) => `${path}: ${problem}`);
}
