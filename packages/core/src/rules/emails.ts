// E-mail addresses, found from their sign (`@`, or `%40` in a URL) outwards. The walk to the left never passes the sign
// before, and no sign is a domain character, so that each character is looked at twice at most.

import { ALPHANUMERIC, behindEscape, classOf, type Span } from "./spans.ts";

const SIGN = /@|%40/g;
const MARKS = "!#$%&'*+-/=?^_`{|}~.";
const BLANK = /\s/;
const WORD = /[\p{L}\p{N}\p{M}]/u;

/** Every e-mail address of the text: a local part and a domain with a dot, both also in letters beyond ASCII. */
export function findEmails(text: string): Span[] {
  const spans: Span[] = [];
  let floor = 0;
  for (const sign of text.matchAll(SIGN)) {
    const after = sign.index + sign[0].length;
    const start = localStart(text, sign.index, floor);
    const end = start < sign.index ? domainEnd(text, after) : -1;
    if (end !== -1) spans.push([start, end]);
    floor = Math.max(after, end);
  }
  return spans;
}

function localStart(text: string, sign: number, floor: number): number {
  let start = sign;
  while (start > floor && isLocal(text.charCodeAt(start - 1), text, start - 1)) start -= 1;
  const run = start;
  start = Math.min(behindEscape(text, start, sign), sign);
  while (start < sign && ".'+-%".includes(text[start] ?? " ")) start = behindEscape(text, start + 1, sign);
  if (start < sign) return start;
  const isEscape =
    sign - run >= 3 ? text[sign - 3] === "%" : floor === sign && sign >= 3 && text.startsWith("%40", sign - 3);
  return isEscape ? sign - 3 : oddStart(text, sign, floor);
}

// RFC 5322 lets a local part end in (or be) any of these marks. Before a handle in a URL (`https://x.org/@a.name`) they
// are none.
function oddStart(text: string, sign: number, floor: number): number {
  let start = sign;
  while (start > floor && MARKS.includes(text[start - 1] ?? " ")) start -= 1;
  if (start === sign || text[sign - 1] !== "/") return start;
  let url = start;
  while (url > floor && !BLANK.test(text[url - 1] ?? " ")) url -= 1;
  return text.slice(url, sign).includes("://") ? sign : start;
}

// The end of the longest domain whose last label begins with a letter and has two characters or more, so that neither
// `a@1.2.3` nor the full stop of a sentence counts; -1 where there is none.
function domainEnd(text: string, from: number): number {
  let found = -1;
  let start = from;
  for (;;) {
    let end = start;
    while (end < text.length && isLabel(text.charCodeAt(end), text, end)) end += 1;
    if (end === start) return found;
    if (start > from) found = topLevelEnd(text, start, end) ?? found;
    if (text[end] !== ".") return found;
    start = end + 1;
  }
}

// A top level that begins in ASCII ends where ASCII does: scripts that write without blanks go on directly behind it.
function topLevelEnd(text: string, start: number, labelEnd: number): number | undefined {
  const isAscii = text.charCodeAt(start) < 128;
  let end = labelEnd;
  if (isAscii) {
    end = start;
    while (end < labelEnd && text.charCodeAt(end) < 128) end += 1;
  }
  while (end > start && text[end - 1] === "-") end -= 1;
  const first = text.charCodeAt(start);
  const beginsWithLetter = !isAscii || (first | 32) >= 97;
  return beginsWithLetter && end - start >= 2 ? end : undefined;
}

function isLocal(unit: number, text: string, at: number): boolean {
  return isLabel(unit, text, at) || unit === 46 || unit === 95 || unit === 43 || unit === 37 || unit === 39; // . _ + % '
}

function isLabel(unit: number, text: string, at: number): boolean {
  if (unit < 128) return (classOf(unit) & ALPHANUMERIC) !== 0 || unit === 45; // -
  return WORD.test(text[at] ?? "");
}
