// What a store does to content before it keeps or compares it: mask what is secret, and admit nothing but JSON. Both
// happen in one walk over the value, which gives a copy that nobody else holds, its JSON text and where it was masked.

import { MemoryRecordError, MemorySettingsError } from "../model/errors.ts";
import type { JsonValue, Scalar } from "../model/json.ts";
import { Admission, maskText } from "./admission.ts";
import { joinPath, memberNames, setMember } from "./members.ts";
import { maskPatterns } from "./patterns.ts";
import { MASK, maskSpans, type Span } from "./spans.ts";

/** Masks what must not be remembered in a text. */
export interface MemoryRedactor {
  /**
   * Gives the text with its secrets masked, and the very text where there are none. Must be pure and synchronous:
   * contents are compared after masking, so the same text has to come out the same way every time. What it throws
   * fails the write, and nothing is stored.
   */
  redact(text: string): string;
}

/** What a {@link PatternRedactor} masks beyond the built-in patterns. */
export interface PatternRedactorOptions {
  /**
   * More to mask: every match, wherever it stands (`g` is implied, `y` ignored, `lastIndex` neither read nor moved).
   * Empty matches mask nothing. Their time is the caller's responsibility: a pattern that backtracks makes every write
   * slow.
   */
  readonly extraPatterns?: readonly RegExp[];
}

/** A value that was found to be JSON. */
export interface Admitted {
  /** A copy, masked, which shares no object with the caller. */
  readonly value: JsonValue;
  /** The copy as JSON text, lone surrogates escaped. */
  readonly text: string;
  /** The dotted path of every masked string and member name, in the order of the walk. */
  readonly redacted: readonly string[];
}

/** How often extra patterns look again at a text in which masking has put other things side by side. */
const MAX_ROUNDS = 8;

/**
 * Replaces by `[redacted]`, within the text, e-mail addresses, API keys with a known prefix, bearer tokens, JSON web
 * tokens, hex of 32 digits and more, and card numbers of 14 to 19 digits (also in groups with blanks or hyphens, with an
 * issuer's prefix and a Luhn check that holds). UUIDs, ISO times and plain numbers stay. Masking twice is masking once.
 * Linear in the length of the text, whatever it holds.
 */
export class PatternRedactor implements MemoryRedactor {
  readonly #extra: readonly RegExp[];

  /** @throws {MemorySettingsError} An extra pattern is not a RegExp. */
  constructor(options: PatternRedactorOptions = {}) {
    const given: unknown = options.extraPatterns ?? [];
    if (!Array.isArray(given)) throw noPatterns();
    this.#extra = given.map(everyMatch);
  }

  redact(text: string): string {
    if (this.#extra.length === 0) return maskPatterns(text);
    let masked = text;
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      const before = masked;
      for (const pattern of this.#extra) masked = maskSpans(masked, findMatches(masked, pattern));
      masked = maskPatterns(masked);
      if (masked === before) break;
    }
    return masked;
  }
}

/**
 * The value as a store with this redactor keeps it: strings and member names masked at every depth, numbers untouched.
 * Embed `redact(text)` and the vector is that of what is stored.
 *
 * @param redactor The store's own; the built-in patterns by default.
 * @throws {MemoryRecordError} The value is not JSON.
 * @throws {MemoryLimitError} It holds the same objects so often that it takes more than 16 MiB.
 * @example `const embedding = await embed(redact(note)); await store.index(scope, { ...record, value: note, embedding });`
 */
export function redact<T extends JsonValue>(value: T, redactor?: MemoryRedactor): T;
export function redact(value: JsonValue, redactor: MemoryRedactor = new PatternRedactor()): JsonValue {
  return new Admission(redactor, "value").admit(value);
}

/**
 * Admits a value: refuses what is not JSON, copies it and masks strings and member names, in one walk. `__proto__` is
 * a member name like any other, `-0` becomes `0`, members keep their order. A masked name that another member of its
 * object has is told apart by a number: `[redacted]`, `[redacted]_2`.
 *
 * @param path The path of the value itself, as paths are to begin (`value`).
 * @param maxBytes What the caller takes; the text is still to be measured. Default 16 MiB.
 * @throws {MemoryRecordError} Something in it is not JSON, or nests deeper than 1,000; `path` says where.
 * @throws {MemoryLimitError} It is so much larger than `maxBytes` that its size was not counted to the end.
 */
export function admit(value: unknown, redactor: MemoryRedactor | null, path: string, maxBytes?: number): Admitted {
  const admission = new Admission(redactor, path, maxBytes);
  const copy = admission.admit(value);
  return { value: copy, text: textOf(copy, admission), redacted: Object.freeze(admission.redacted) };
}

function textOf(value: JsonValue, admission: Admission): string {
  try {
    return JSON.stringify(value);
  } catch {
    // All of it is JSON, so that only its length can be wrong: no text is longer than half a gigabyte.
    return admission.tooLarge();
  }
}

/** Masks a text that is part of a record, and notes `path` in `into` where anything was masked. */
export function admitText(text: string, redactor: MemoryRedactor | null, path: string, into: string[]): string {
  if (redactor === null) return text;
  const kept = masked(text, redactor, path);
  if (kept !== text) into.push(path);
  return kept;
}

/** Masks names and strings of validated metadata into a copy, and notes the masked paths (`metadata.x`) in `into`. */
export function admitMetadata(
  metadata: Readonly<Record<string, Scalar>>,
  redactor: MemoryRedactor | null,
  into: string[],
): Readonly<Record<string, Scalar>> {
  if (redactor === null) return { ...metadata };
  const copy: Record<string, Scalar> = {};
  const originals = Object.keys(metadata);
  const names = memberNames(originals, (name) => masked(name, redactor, "metadata"));
  originals.forEach((original, index) => {
    const name = names[index] ?? original;
    const value = metadata[original] ?? "";
    const kept = typeof value === "string" ? masked(value, redactor, joinPath("metadata", [name])) : value;
    if (name !== original || kept !== value) into.push(joinPath("metadata", [name]));
    setMember(copy, name, kept);
  });
  return copy;
}

function masked(text: string, redactor: MemoryRedactor, path: string): string {
  const kept = maskText(redactor, text);
  if (kept !== undefined) return kept;
  throw new MemoryRecordError("the redactor gave something other than a text; nothing was stored", { path });
}

function everyMatch(pattern: unknown): RegExp {
  if (!(pattern instanceof RegExp)) throw noPatterns();
  return new RegExp(pattern.source, `${pattern.flags.replace(/[gy]/g, "")}g`);
}

function noPatterns(): MemorySettingsError {
  return new MemorySettingsError("`extraPatterns` has to be a list of RegExp", { setting: "extraPatterns" });
}

// A match that touches what is masked already takes it in whole, so that a pattern that fits the mask itself (`/\w+/`)
// leaves it as it is. Both lists are in order, and each is gone through once.
function findMatches(text: string, pattern: RegExp): Span[] {
  const spans: Span[] = [];
  let mark = text.indexOf(MASK);
  for (const match of text.matchAll(pattern)) {
    if (match[0] === "") continue;
    let start = match.index;
    let end = start + match[0].length;
    while (mark !== -1 && mark + MASK.length <= start) mark = text.indexOf(MASK, mark + MASK.length);
    while (mark !== -1 && mark < end) {
      start = Math.min(start, mark);
      end = Math.max(end, mark + MASK.length);
      mark = text.indexOf(MASK, mark + MASK.length);
    }
    const last = spans.at(-1);
    if (last !== undefined && start < last[1]) spans[spans.length - 1] = [last[0], Math.max(end, last[1])];
    else spans.push([start, end]);
  }
  return spans;
}
