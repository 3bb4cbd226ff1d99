// What this tool reads in a page of Markdown: its fenced blocks, its links and its anchors. No parser: the pages keep to
// the plain forms that stand here (backtick fences, `#` headings, inline links), and a test holds them to it.

/** A fenced block. */
export interface Fence {
  /** The first word behind the fence: `ts`, `sh`, or nothing. */
  readonly language: string;
  /** The other words: `standalone`. */
  readonly marks: readonly string[];
  /** The line of its first line of text, counting from 1. */
  readonly line: number;
  readonly text: string;
}

/** A link as it is written. */
export interface Link {
  readonly target: string;
  /** Counting from 1. */
  readonly line: number;
}

/** The fenced blocks of a page, in order. @throws {Error} One is not closed. */
export function readFences(markdown: string): readonly Fence[] {
  const fences: Fence[] = [];
  let open: { readonly info: readonly string[]; readonly line: number; readonly text: string[] } | undefined;
  for (const [index, line] of markdown.split("\n").entries()) {
    const fence = /^\s*```(.*)$/.exec(line);
    if (fence === null) {
      open?.text.push(line);
    } else if (open === undefined) {
      open = { info: (fence[1] ?? "").trim().split(/\s+/), line: index + 2, text: [] };
    } else {
      const [language = "", ...marks] = open.info;
      fences.push({ language, marks, line: open.line, text: open.text.join("\n") });
      open = undefined;
    }
  }
  if (open !== undefined) throw new Error(`the block of line ${open.line} is not closed`);
  return fences;
}

/** The links of a page outside of code. */
export function readLinks(markdown: string): readonly Link[] {
  return proseLines(markdown).flatMap(({ text, line }) =>
    [...text.replace(/`[^`]*`/g, "`").matchAll(/\]\(([^()\s]+)\)/g)].map((match) => ({ target: match[1] ?? "", line })),
  );
}

/** The anchors of a page's headings, as GitHub makes them. */
export function readAnchors(markdown: string): ReadonlySet<string> {
  const anchors = new Set<string>();
  for (const { text } of proseLines(markdown)) {
    const heading = /^#{1,6}\s+(.*)$/.exec(text)?.[1];
    if (heading === undefined) continue;
    const slug = heading
      .trim()
      .toLowerCase()
      .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
      .replace(/[^\p{L}\p{N}\s_-]/gu, "")
      .replace(/\s/g, "-");
    let anchor = slug;
    for (let count = 1; anchors.has(anchor); count += 1) anchor = `${slug}-${count}`;
    anchors.add(anchor);
  }
  return anchors;
}

function proseLines(markdown: string): readonly { readonly text: string; readonly line: number }[] {
  let isCode = false;
  return markdown.split("\n").flatMap((text, index) => {
    const isFence = /^\s*```/.test(text);
    if (isFence) isCode = !isCode;
    return isFence || isCode ? [] : [{ text, line: index + 1 }];
  });
}
