// Card numbers: 14 to 19 digits with an issuer's prefix and a Luhn check that holds, written in one, or in groups with
// single blanks or hyphens between them. A number is masked whole or not at all: a group of more than 19 digits is no
// card, and none is looked for inside it. Where more groups follow one another than one card has, only the groupings
// that cards are printed in are looked for, since any other list of numbers would pass the check now and then.

import { ALPHANUMERIC, behindEscape, classOf, DIGIT, type Span, UUID, UUID_LENGTH } from "./spans.ts";

/** The shortest card number. */
export const MIN_DIGITS = 14;

const MAX_DIGITS = 19;
const PRINTED: readonly (readonly number[])[] = [
  [4, 4, 4, 4, 3],
  [4, 4, 4, 4, 2],
  [4, 4, 4, 4, 1],
  [4, 4, 4, 4],
  [4, 6, 5],
  [4, 6, 4],
  [4, 4, 4, 3],
  [4, 4, 4, 2],
  [6, 13],
  [8, 8],
];
/** Where in a UUID its groups of this length begin. */
const UUID_OFFSETS: ReadonlyMap<number, readonly number[]> = new Map([
  [8, [0]],
  [4, [9, 14, 19]],
  [12, [24]],
]);

/** Every card number of the text. */
export function findCards(text: string): Span[] {
  const spans: Span[] = [];
  let groups: Span[] = [];
  let at = 0;
  while (at < text.length) {
    if (!isDigit(text, at)) {
      at += 1;
      continue;
    }
    let end = at + 1;
    while (end < text.length && isDigit(text, end)) end += 1;
    const start = behindEscape(text, at, end);
    const last = groups.at(-1);
    if (last !== undefined && !(last[1] + 1 === start && " -".includes(text[last[1]] ?? "."))) {
      resolve(text, groups, spans);
      groups = [];
    }
    if (start < end && isFree(text, start, end)) groups.push([start, end]);
    else if (groups.length > 0) {
      resolve(text, groups, spans);
      groups = [];
    }
    at = end;
  }
  resolve(text, groups, spans);
  return spans;
}

// All groups as one card, however grouped; else the printed ones among them, and what lies between those again as one.
function resolve(text: string, groups: readonly Span[], spans: Span[]): void {
  if (groups.length === 0 || whole(text, groups, 0, groups.length, spans)) return;
  let rest = 0;
  let at = 0;
  while (at < groups.length) {
    const taken = printed(text, groups, at);
    if (taken > 0) {
      whole(text, groups, rest, at, spans);
      spans.push(extent(groups, at, taken));
      rest = at + taken;
    }
    at += Math.max(taken, 1);
  }
  if (rest > 0) whole(text, groups, rest, groups.length, spans);
}

function whole(text: string, groups: readonly Span[], from: number, to: number, spans: Span[]): boolean {
  const count = to - from;
  if (count === 0 || count > MAX_DIGITS) return false;
  const span = extent(groups, from, count);
  if (!isCard(text, span)) return false;
  spans.push(span);
  return true;
}

// How many groups the card has that begins at this one; 0 where none does.
function printed(text: string, groups: readonly Span[], at: number): number {
  const first = lengthOf(groups[at]);
  if (first >= MIN_DIGITS) return isCard(text, extent(groups, at, 1)) ? 1 : 0;
  if (first !== 4 && first !== 6 && first !== 8) return 0;
  for (const lengths of PRINTED) {
    const count = lengths.length;
    let same = 0;
    while (same < count && lengthOf(groups[at + same]) === lengths[same]) same += 1;
    if (same === count && isCard(text, extent(groups, at, count))) return count;
  }
  return 0;
}

// The check digit is the last one; every second digit before it counts double (ISO/IEC 7812-1, annex B).
function isCard(text: string, [start, end]: Span): boolean {
  if (end - start < MIN_DIGITS || end - start >= 2 * MAX_DIGITS) return false;
  let sum = 0;
  let count = 0;
  let four = 0;
  for (let at = end - 1; at >= start; at -= 1) {
    const digit = text.charCodeAt(at) - 48;
    if (digit < 0) continue; // a blank or a hyphen
    const weighed = count % 2 === 0 ? digit : digit * 2;
    sum += weighed > 9 ? weighed - 9 : weighed;
    count += 1;
  }
  if (sum % 10 !== 0 || count < MIN_DIGITS || count > MAX_DIGITS) return false;
  for (let at = start, seen = 0; seen < 4; at += 1) {
    const digit = text.charCodeAt(at) - 48;
    if (digit < 0) continue;
    four = four * 10 + digit;
    seen += 1;
  }
  return hasIssuer(four);
}

// ISO/IEC 7812 prefixes: Visa 4, Mastercard 51-55 and 2221-2720, American Express 34 and 37, Diners 300-305, 309, 36, 38
// and 39, JCB 3528-3589, Mir 2200-2204, Maestro 50 and 56-58; Discover, UnionPay and the rest of Maestro are all of 6.
function hasIssuer(four: number): boolean {
  const two = Math.trunc(four / 100);
  const one = Math.trunc(two / 10);
  if (one === 4 || one === 6) return true;
  if (one === 5) return two <= 58;
  if (one === 2) return (four >= 2221 && four <= 2720) || (four >= 2200 && four <= 2204);
  if (two === 35) return four >= 3528 && four <= 3589;
  if (two === 30) return four <= 3059 || four >= 3090;
  return two === 34 || (two >= 36 && two <= 39);
}

// Digits that belong to a word, a decimal fraction or a UUID are no part of a card.
function isFree(text: string, start: number, end: number): boolean {
  if (isWordUnit(text, end) || (isWordUnit(text, start - 1) && !endsEscape(text, start))) return false;
  if (text[start - 1] === "." && isDigit(text, start - 2)) return false;
  if (text[end] === "." && isDigit(text, end + 1)) return false;
  return !isInUuid(text, start, end - start);
}

function isInUuid(text: string, start: number, length: number): boolean {
  const offsets = UUID_OFFSETS.get(length);
  if (offsets === undefined || (text[start - 1] !== "-" && text[start + length] !== "-")) return false;
  for (const offset of offsets) {
    const from = start - offset;
    const isCut =
      text[from + 8] === "-" && text[from + 13] === "-" && text[from + 18] === "-" && text[from + 23] === "-";
    if (from >= 0 && isCut && UUID.test(text.slice(from, from + UUID_LENGTH))) return true;
  }
  return false;
}

// Whether `\n`, `%3D` or the like ends here.
function endsEscape(text: string, end: number): boolean {
  return behindEscape(text, end - 1, end) === end || behindEscape(text, end - 2, end) === end;
}

function extent(groups: readonly Span[], from: number, count: number): Span {
  return [groups[from]?.[0] ?? 0, groups[from + count - 1]?.[1] ?? 0];
}

function lengthOf(group: Span | undefined): number {
  return group === undefined ? 0 : group[1] - group[0];
}

function isDigit(text: string, at: number): boolean {
  return (classOf(text.charCodeAt(at)) & DIGIT) !== 0;
}

function isWordUnit(text: string, at: number): boolean {
  return (classOf(text.charCodeAt(at)) & ALPHANUMERIC) !== 0;
}
