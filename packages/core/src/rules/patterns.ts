// The built-in patterns as one function. A quick look over the text says which scanners have anything to look for; prose
// and times end there. The scanners run one after another, each on what the one before left, in an order in which no mask
// can complete a secret for an earlier one: masking twice is masking once. All are linear in the text.

import { findCards, MIN_DIGITS } from "./cards.ts";
import { findEmails } from "./emails.ts";
import { findKeys, MIN_RUN } from "./keys.ts";
import { BLANK_OR_HYPHEN, classOf, DIGIT, MASK, maskSpans, TOKEN, UUID, UUID_LENGTH } from "./spans.ts";

/** The shortest secret: `a@b.cd`. Of those shorter than a card number, addresses are the only ones. */
const MIN_LENGTH = 6;
const MAIL = /@|%40/;
const MAIL_OR_BEARER = /[@%]|bearer[\s:]/i;

// Blanks and the token share no character, so that nothing is tried twice.
const BEARER_TOKEN = /(?<![a-z0-9])(bearer[\s:]+)([a-z0-9._~+/=-]{8,})/gi;

/**
 * The text with every e-mail address, bearer token, JSON web token, API key, long hex and card number replaced by
 * `[redacted]`; the same string where there is none. Linear in the length of the text, whatever it holds.
 */
export function maskPatterns(text: string): string {
  if (text.length < MIN_DIGITS) return text.length < MIN_LENGTH || !MAIL.test(text) ? text : maskEmails(text);
  if (text.length === UUID_LENGTH && UUID.test(text)) return text; // no secret, and what most texts without blanks are
  let masked = text;
  if (MAIL_OR_BEARER.test(text)) masked = maskEmails(masked).replace(BEARER_TOKEN, maskBearer);
  if (hasRun(text, TOKEN, MIN_RUN)) masked = maskSpans(masked, findKeys(masked));
  if (hasRun(text, DIGIT | BLANK_OR_HYPHEN, MIN_DIGITS)) masked = maskSpans(masked, findCards(masked));
  return masked;
}

// Whether `length` units of these classes stand together. Such a run covers one of any `length` units in a row, so that
// most of the text need not be looked at (the skip of Boyer and Moore).
function hasRun(text: string, kinds: number, length: number): boolean {
  let floor = 0;
  let at = length - 1;
  while (at < text.length) {
    if ((classOf(text.charCodeAt(at)) & kinds) === 0) {
      floor = at + 1;
      at += length;
      continue;
    }
    let start = at;
    while (start > floor && (classOf(text.charCodeAt(start - 1)) & kinds) !== 0) start -= 1;
    let end = at + 1;
    while (end < start + length && (classOf(text.charCodeAt(end)) & kinds) !== 0) end += 1;
    if (end === start + length) return true;
    floor = end + 1;
    at = end + length;
  }
  return false;
}

function maskEmails(text: string): string {
  return maskSpans(text, findEmails(text));
}

// `bearer of news` is prose: a token has 16 characters, or 8 and among them one that is neither letter, `-` nor `/`.
function maskBearer(found: string, word: string, rest: string): string {
  const token = rest.replace(/\.+$/, "");
  const isToken = token.length >= 16 || (token.length >= 8 && /[0-9._~+=]/.test(token));
  return isToken ? word + MASK + rest.slice(token.length) : found;
}
