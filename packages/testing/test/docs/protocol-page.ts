// The page docs/protocol.md, made from the list of cases: what stands in the repository is compared with this, so that
// every promise names its case and no case goes unsaid. Written anew by write-protocol-page.ts.

import { type ConformanceCase, concernOf } from "../../src/case.ts";
import { conformanceCases } from "../../src/cases.ts";
import { sectionTitle } from "../../src/sections.ts";
import { ELSEWHERE, INTRODUCTION } from "./protocol-prose.ts";

/** The whole page, ending in a line feed. */
export function protocolPage(cases: readonly ConformanceCase[] = conformanceCases): string {
  const concerns = [...new Set(cases.map(concernOf))];
  const sections = concerns.map((concern) => {
    const own = cases.filter((one) => concernOf(one) === concern);
    return `### ${sectionTitle(concern)}\n\n${table(["promise", "case"], own.map(row))}`;
  });
  const elsewhere = table(
    ["promise", "test"],
    ELSEWHERE.map(([promise, ...paths]) => [promise, paths.map((path) => `[\`${path}\`](../${path})`).join(", ")]),
  );
  return [
    INTRODUCTION.trim(),
    `## The promises and their cases\n\n${cases.length} cases; an id is public API and does not change.`,
    ...sections,
    "### Proven elsewhere\n\nWhat no store alone can show, and the test that shows it.",
    elsewhere,
  ]
    .join("\n\n")
    .concat("\n");
}

function row({ promise, id }: ConformanceCase): readonly string[] {
  return [promise, `\`${id}\``];
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}
