// docs/deprecations.md, made from the `deprecate({ ... })` calls in the packages' sources: the page cannot forget one, and
// cannot tell of one that is gone.

import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./pages.ts";

/** Where the page stands. */
export const deprecationsPath: string = join(root, "docs", "deprecations.md");

const HEADINGS = ["code", "deprecated", "write instead", "since", "removed in"] as const;
const FIELDS = ["code", "subject", "replacement", "since", "removal"] as const;

/** What one call says. */
export type Notice = Readonly<Record<(typeof FIELDS)[number], string>>;

/** The page as it has to be. */
export function deprecationsPage(): string {
  const sources = globSync("packages/*/src/**/*.ts", { cwd: root }).filter((path) => !path.endsWith(".test.ts"));
  return renderNotices(sources.sort().flatMap((path) => readNotices(path, readFileSync(join(root, path), "utf8"))));
}

/** The notices of one source file. @throws {Error} A field is missing or is not a plain text. */
export function readNotices(path: string, source: string): readonly Notice[] {
  const code = source.replace(/^\s*(?:\/\/|\*|\/\*).*$/gm, "");
  return [...code.matchAll(/\bdeprecate\(\{([^{}]*)\}\)/g)].map((call) => {
    const field = (name: string): string => {
      const text = new RegExp(`\\b${name}:\\s*(["'])((?:(?!\\1)[^\\\\\\n])*)\\1`).exec(call[1] ?? "")?.[2];
      if (text === undefined) throw new Error(`${path}: deprecate({ ... }) has no ${name} that is a plain text`);
      return text;
    };
    return {
      code: field("code"),
      subject: field("subject"),
      replacement: field("replacement"),
      since: field("since"),
      removal: field("removal"),
    };
  });
}

/** The page that tells of these notices. @throws {Error} A code is given twice. */
export function renderNotices(notices: readonly Notice[]): string {
  const sorted = [...notices].sort((a, b) => (a.code < b.code ? -1 : 1));
  const twice = sorted.find(({ code }, index) => code === sorted[index + 1]?.code);
  if (twice !== undefined) throw new Error(`the deprecation code ${twice.code} is given twice`);
  const rows = sorted.map(({ code, subject, replacement, since, removal }) => [
    `\`${code}\``,
    `\`${subject}\``,
    `\`${replacement}\``,
    since,
    removal,
  ]);
  const list = rows.length === 0 ? ["Nothing is deprecated."] : table([HEADINGS, ...rows]);
  return [
    "# Deprecations",
    "",
    "Generated from the `deprecate({ ... })` calls in the packages' sources; `pnpm --dir tooling/snippets docs` writes it.",
    "A deprecated member works until it is removed, and warns once a process: see [stability](stability.md#deprecations).",
    "",
    ...list,
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
