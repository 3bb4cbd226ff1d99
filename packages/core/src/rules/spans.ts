// What the pattern scanners share: the classes of ASCII characters, and the one way in which found spans are masked.

/** What stands in the place of everything masked. */
export const MASK = "[redacted]";

/** A UUID and nothing else, of any version: never a secret, though its digits can look like a card's. */
export const UUID: RegExp = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
export const UUID_LENGTH = 36;

/** A found piece of text, `[start, end)` in UTF-16 units. */
export type Span = readonly [start: number, end: number];

/** Bits of {@link classOf}. `TOKEN` is what keys are written in: letters, digits, `_`, `-` and `.`. */
export const TOKEN = 1;
export const DIGIT = 2;
export const HEX = 4;
export const ALPHANUMERIC = 8;
export const BLANK_OR_HYPHEN = 16;

const classes: Uint8Array = Uint8Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCharCode(code);
  return (
    (/[A-Za-z0-9_.-]/.test(character) ? TOKEN : 0) |
    (/[0-9]/.test(character) ? DIGIT : 0) |
    (/[0-9A-Fa-f]/.test(character) ? HEX : 0) |
    (/[A-Za-z0-9]/.test(character) ? ALPHANUMERIC : 0) |
    (/[ -]/.test(character) ? BLANK_OR_HYPHEN : 0)
  );
});

/** The class bits of a UTF-16 unit; 0 beyond ASCII. */
export function classOf(unit: number): number {
  return unit < 128 ? (classes[unit] ?? 0) : 0;
}

/** The text with each span masked. The spans are in order and do not overlap. */
export function maskSpans(text: string, spans: readonly Span[]): string {
  if (spans.length === 0) return text;
  let masked = "";
  let from = 0;
  for (const [start, end] of spans) {
    masked += text.slice(from, start) + MASK;
    from = end;
  }
  return masked + text.slice(from);
}

/**
 * Where a word really begins that a maximal run of word characters begins at `start`: behind the letter of a `\n`, `\r`
 * or `\t` and behind the digits of a `%3A` or `%20`, which quoted JSON and URLs put directly before what they quote.
 */
export function behindEscape(text: string, start: number, end: number): number {
  if (start === 0) return start;
  const before = text[start - 1];
  if (before === "\\" && "nrt".includes(text[start] ?? " ")) return start + 1;
  if (before !== "%" || end - start < 2 || !"023".includes(text[start] ?? " ")) return start;
  return (classOf(text.charCodeAt(start + 1)) & HEX) !== 0 ? start + 2 : start;
}
