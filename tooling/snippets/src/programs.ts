// The programs that a page's code blocks make. The rule that every page goes by: its `ts` blocks are one program, in order;
// a block marked `ts standalone` is a program of its own; one marked `ts server` is too, but needs a live server, so that
// it is type-checked and not run. A block marked `ts file NAME` is run under its own test runner by tooling/runners, which
// holds the one page that may have them. Nothing else is taken: no mark switches a check off.

import { readFences } from "./markdown.ts";

const RUN_AS_FILES = "docs/conformance.md";

/** One program of a page. */
export interface Program {
  /** The page, and the line of the first block. */
  readonly name: string;
  /** Every line stands where it stands in the page, so that errors name the page's own lines. */
  readonly source: string;
  readonly runs: boolean;
}

/** The programs of a page, the page's own first. @throws {Error} A block is in another dialect, or has an unknown mark. */
export function programsOf(page: string, markdown: string): readonly Program[] {
  const height = markdown.split("\n").length;
  const shared: string[] = [];
  const alone: Program[] = [];
  let first = 0;
  for (const { language, marks, line, text } of readFences(markdown)) {
    if (/^(?:js|javascript|typescript|tsx|jsx|mjs|mts|cts)$/i.test(language)) {
      throw new Error(`${page}:${line}: a code block is \`ts\`, so that it is checked`);
    }
    if (language !== "ts") continue;
    const mark = marks.join(" ");
    if (marks[0] === "file" && page === RUN_AS_FILES) continue;
    if (mark === "") {
      first ||= line;
      place(shared, line, text);
    } else if (mark === "standalone" || mark === "server") {
      const lines: string[] = [];
      place(lines, line, text);
      alone.push({ name: `${page}:${line}`, source: sourceOf(lines, height), runs: mark === "standalone" });
    } else {
      throw new Error(`${page}:${line}: \`ts ${mark}\` is unknown; there are \`ts standalone\` and \`ts server\``);
    }
  }
  if (first === 0) return alone;
  return [{ name: `${page}:${first}`, source: sourceOf(shared, height), runs: true }, ...alone];
}

/** The scripts of `package.json` that a page's `sh` blocks run through npm. */
export function npmScriptsOf(markdown: string): readonly string[] {
  return readFences(markdown)
    .filter(({ language }) => /^(?:sh|bash|shell|console)$/.test(language))
    .flatMap(({ text }) => [...text.matchAll(/\bnpm (?:run )?(?:--\S+ )*([a-z]+)/g)].map((match) => match[1] ?? ""))
    .filter((name) => name !== "run" && name !== "install");
}

function place(lines: string[], line: number, text: string): void {
  for (const [index, one] of text.split("\n").entries()) lines[line - 1 + index] = one;
}

// A module even where nothing is imported.
function sourceOf(lines: readonly string[], height: number): string {
  return `${Array.from({ length: height }, (_, index) => lines[index] ?? "").join("\n")}\nexport {};\n`;
}
