// A table of searches as a person reads it.

import { printRows } from "../report.ts";
import type { SearchTable } from "./race.ts";

/** Prints a table of searches. */
export function printSearchTable({ title, queries, figures, verdicts }: SearchTable): void {
  console.log(`\n${title} (${queries} queries)`);
  printRows([
    ["", "p50", "p99", "rows", "recall", "in order"],
    ...figures.map(({ name, p50, p99, rows, recall, inOrder }) => [
      name,
      `${(p50 / 1_000).toFixed(2)} ms`,
      `${(p99 / 1_000).toFixed(2)} ms`,
      `${(rows * 100).toFixed(1)} %`,
      recall.toFixed(4),
      `${(inOrder * 100).toFixed(1)} %`,
    ]),
  ]);
  printRows(
    verdicts.map(({ what, value, isMet }) => [isMet ? "met" : "NOT MET", value.toFixed(3), what]),
    [2],
  );
}
