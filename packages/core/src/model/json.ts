// JSON as a value, and the few questions that every other file asks of texts and values: their order, size, equality.
// Order and size are those of UTF-8 bytes, because that is what the servers sort and measure by.

import { Buffer } from "node:buffer";

/** Anything that JSON can say. */
export type JsonValue =
  | null
  | boolean
  | number
  | string
  | readonly JsonValue[]
  | { readonly [name: string]: JsonValue };

/** What metadata and filters hold. */
export type Scalar = string | number | boolean;

/**
 * The order of two texts by their UTF-8 bytes (which is code point order): negative, 0 or positive. It is the order of
 * `COLLATE "C"` in PostgreSQL and of sorted sets in Redis, and differs from `<` only beyond U+FFFF.
 */
export function compareText(a: string, b: string): number {
  if (a === b) return 0;
  const shared = Math.min(a.length, b.length);
  for (let at = 0; at < shared; at += 1) {
    const left = a.charCodeAt(at);
    const right = b.charCodeAt(at);
    if (left !== right) return left < 0xd800 && right < 0xd800 ? left - right : rank(left) - rank(right);
  }
  return a.length - b.length;
}

/** How many bytes the text takes in UTF-8; a lone surrogate counts as the three bytes of U+FFFD. */
export function utf8Bytes(text: string): number {
  return Buffer.byteLength(text, "utf8");
}

/** Whether every server can hold the text as it is: no NUL (PostgreSQL refuses it) and no lone surrogate. */
export function isWellFormedText(text: string): boolean {
  return text.isWellFormed() && !text.includes("\0");
}

/** Whether both are the same JSON: members in any order, `-0` equal to `0`. Recurses as deep as the values nest. */
export function sameJson(a: JsonValue, b: JsonValue): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (isArray(a) || isArray(b)) return isArray(a) && isArray(b) && sameElements(a, b);
  const names = Object.keys(a);
  if (names.length !== Object.keys(b).length) return false;
  return names.every((name) => Object.hasOwn(b, name) && sameMember(a[name], b[name]));
}

// UTF-16 puts surrogates (astral characters) below U+E000..U+FFFF; UTF-8 puts them above.
function rank(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}

// Array.isArray does not narrow readonly arrays out of a union.
function isArray(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value);
}

function sameElements(a: readonly JsonValue[], b: readonly JsonValue[]): boolean {
  return a.length === b.length && a.every((element, index) => sameMember(element, b[index]));
}

function sameMember(a: JsonValue | undefined, b: JsonValue | undefined): boolean {
  return a !== undefined && b !== undefined && sameJson(a, b);
}
