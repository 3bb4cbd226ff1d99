// docs/deprecations.md, made from what the sources say: a check compares it, `npm run check -- --write` writes it.

import type { Deprecations } from "./deprecations.ts";

const HEADINGS = ["code", "deprecated", "write instead", "since", "removed in"] as const;

/** Where the page stands, from the root. */
export const deprecationsPath = "docs/deprecations.md";

/** The page as it has to be: by code, then what is only a type, by name. */
export function renderDeprecations({ notices, tags }: Deprecations): string {
  const warned = new Set(notices.map(({ subject }) => subject.replaceAll("`", "")));
  const rows = [
    ...[...notices].sort((a, b) => order(a.code, b.code)).map((notice) => ({ ...notice, code: `\`${notice.code}\`` })),
    ...tags
      .filter(({ subject }) => !warned.has(subject))
      .sort((a, b) => order(a.subject, b.subject))
      .map((tag) => ({ ...tag, code: "none: a type" })),
  ].map(({ code, subject, replacement, since, removal }) => [code, quote(subject), quote(replacement), since, removal]);
  return [
    "# Deprecations",
    "",
    "Generated from the `@deprecated` tags and the `deprecate({ ... })` calls of the packages; `npm run check -- --write` writes it.",
    "A deprecated member works until it is removed, and warns once a process: see [stability](stability.md#deprecations).",
    "",
    ...(rows.length === 0 ? ["Nothing is deprecated."] : table([HEADINGS, ...rows])),
    "",
  ].join("\n");
}

// Columns of one width, as the formatter wants them.
function table(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = HEADINGS.map((_, column) => Math.max(...rows.map((row) => (row[column] ?? "").length)));
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  const [head, ...rest] = rows.map((row) => line(row.map((cell, column) => cell.padEnd(widths[column] ?? 0))));
  return [head ?? "", line(widths.map((width) => "-".repeat(width))), ...rest];
}

function quote(text: string): string {
  return text.includes("`") ? text : `\`${text}\``;
}

function order(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}
