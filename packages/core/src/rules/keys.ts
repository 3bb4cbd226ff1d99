// Secrets that are written as one run of letters, digits, `_`, `-` and `.`: JSON web tokens, API keys by their prefix,
// long hex. Each maximal run is cut once into segments (by dots) and words (by `_` and `-`); a word's place in its
// segment decides in constant time how long a key beginning there is, so that `sk-sk-sk-...` costs no more than prose.

import { ALPHANUMERIC, behindEscape, classOf, HEX, type Span, TOKEN } from "./spans.ts";

/** The shortest run that can hold one of these. */
export const MIN_RUN = 16;

const MIN_HEX = 32;

/**
 * How a key goes on behind its prefix: `loose`, any `least` characters; `solid`, `least` letters and digits without a
 * break (`npm_config_registry` is none); `mixed`, `least` characters that are not just words in kebab case.
 */
type Tail = readonly [prefix: string, tail: "loose" | "solid" | "mixed", least: number];

const KEYS: readonly Tail[] = [
  ["sk-", "mixed", 16], // OpenAI, Anthropic (sk-ant-), OpenRouter
  ["pk-", "mixed", 16],
  ["rk-", "mixed", 16],
  ["sk_live_", "loose", 10], // Stripe
  ["sk_test_", "loose", 10],
  ["pk_live_", "loose", 10],
  ["pk_test_", "loose", 10],
  ["rk_live_", "loose", 10],
  ["rk_test_", "loose", 10],
  ["whsec_", "loose", 16],
  ["sk_", "solid", 20], // ElevenLabs
  ["SK", "solid", 32], // Twilio
  ["ghp_", "solid", 16], // GitHub
  ["gho_", "solid", 16],
  ["ghs_", "solid", 16],
  ["ghu_", "solid", 16],
  ["ghr_", "solid", 16],
  ["github_pat_", "loose", 16],
  ["glpat-", "loose", 16], // GitLab
  ["glrt-", "loose", 16],
  ["gldt-", "loose", 16],
  ["xoxb-", "loose", 10], // Slack
  ["xoxp-", "loose", 10],
  ["xoxa-", "loose", 10],
  ["xoxr-", "loose", 10],
  ["xoxs-", "loose", 10],
  ["xoxe-", "loose", 10],
  ["xapp-", "loose", 10],
  ["AKIA", "solid", 16], // AWS
  ["ASIA", "solid", 16],
  ["ABIA", "solid", 16],
  ["ACCA", "solid", 16],
  ["AIza", "loose", 20], // Google
  ["GOCSPX-", "loose", 16],
  ["npm_", "solid", 20],
  ["pypi-", "mixed", 16],
  ["hf_", "solid", 16], // Hugging Face
  ["r8_", "solid", 16], // Replicate
  ["gsk_", "solid", 20], // Groq
  ["xai-", "solid", 20],
  ["pplx-", "solid", 20],
  ["nvapi-", "mixed", 20],
  ["dop_v1_", "loose", 20], // DigitalOcean
  ["shpat_", "loose", 16], // Shopify
  ["shpss_", "loose", 16],
  ["sq0atp-", "loose", 16], // Square
  ["sq0csp-", "loose", 16],
  ["lin_api_", "loose", 16],
  ["dckr_pat_", "loose", 16],
];

/** Keys whose parts are told apart by dots: the first part, and how long those behind it are at least. */
const DOTTED: readonly (readonly [first: string, least: readonly number[]])[] = [
  ["SG", [16, 16]], // SendGrid
  ["ya29", [20]], // Google OAuth
];

const byFirst: ReadonlyMap<number, readonly Tail[]> = groupByFirst();

// Not `Map.groupBy`: a Node without it is to get as far as the message about its version.
function groupByFirst(): ReadonlyMap<number, readonly Tail[]> {
  const groups = new Map<number, Tail[]>();
  for (const key of KEYS) {
    const first = key[0].charCodeAt(0);
    const group = groups.get(first);
    if (group === undefined) groups.set(first, [key]);
    else group.push(key);
  }
  return groups;
}

/** Every token, key and long hex of the text. */
export function findKeys(text: string): Span[] {
  const spans: Span[] = [];
  let at = 0;
  while (at < text.length) {
    const start = at;
    while (at < text.length && (classOf(text.charCodeAt(at)) & TOKEN) !== 0) at += 1;
    if (at - start >= MIN_RUN) scanRun(text.slice(start, at), behindEscape(text, start, at) - start, start, spans);
    at += 1;
  }
  return spans;
}

function scanRun(run: string, from: number, offset: number, spans: Span[]): void {
  let end = run.length;
  while (end > from && run[end - 1] === ".") end -= 1;
  const token = webToken(run, from, end);
  let start = from;
  while (start < token) {
    const dot = run.indexOf(".", start);
    const segmentEnd = dot === -1 || dot > token ? token : dot;
    start = scanSegment(run, start, segmentEnd, token, offset, spans) + 1;
  }
  if (token < end) spans.push([offset + token, offset + end]);
}

// Where a JSON web token begins, which goes on to the end of the run; `end` where there is none. Its first part is the
// base64url of `{"`; with two dots or more it is signed or encrypted, with one and another `{"` behind it unsigned.
function webToken(run: string, from: number, end: number): number {
  let at = run.indexOf("eyJ", from);
  while (at > from && isAlphanumeric(run, at - 1)) at = run.indexOf("eyJ", at + 1);
  if (at === -1) return end;
  const dot = run.indexOf(".", at);
  if (dot === -1 || dot >= end) return end;
  const second = run.indexOf(".", dot + 1);
  return (second !== -1 && second < end) || run.startsWith("eyJ", dot + 1) ? at : end;
}

// Scans the words of one segment; gives the end of what was scanned (further than the segment for a dotted key).
function scanSegment(run: string, from: number, to: number, limit: number, offset: number, spans: Span[]): number {
  const plain = { isProven: false };
  let word = from;
  while (word < to) {
    const end = keyEnd(run, word, to, plain) ?? dottedEnd(run, word, to, limit);
    if (end !== undefined) {
      spans.push([offset + word, offset + end]);
      return end;
    }
    let hex = 0;
    let at = word;
    while (at < to && isAlphanumeric(run, at)) {
      if ((classOf(run.charCodeAt(at)) & HEX) !== 0) hex += 1;
      at += 1;
    }
    const isPrefixed = run.startsWith("0x", word);
    if (hex >= MIN_HEX + (isPrefixed ? 1 : 0) && hex === at - word - (isPrefixed ? 1 : 0)) {
      spans.push([offset + word, offset + at]);
    }
    word = at + 1;
  }
  return to;
}

function keyEnd(run: string, word: number, to: number, plain: { isProven: boolean }): number | undefined {
  const candidates = byFirst.get(run.charCodeAt(word));
  if (candidates === undefined) return undefined;
  for (const [prefix, tail, least] of candidates) {
    const from = word + prefix.length;
    if (to - from < least || !run.startsWith(prefix, word)) continue;
    if (tail === "loose") return to;
    if (tail === "solid") {
      if (solidEnd(run, from, to) - from >= least) return to;
    } else if (!plain.isProven) {
      if (!isPlain(run, from, to)) return to;
      plain.isProven = true; // and so is every later tail of this segment: each is a part of this one
    }
  }
  return undefined;
}

function dottedEnd(run: string, word: number, to: number, limit: number): number | undefined {
  for (const [first, least] of DOTTED) {
    if (to - word !== first.length || !run.startsWith(first, word)) continue;
    let end = to;
    for (const length of least) {
      const start = end + 1;
      const dot = run.indexOf(".", start);
      end = dot === -1 || dot > limit ? limit : dot;
      if (end - start < length) return undefined;
    }
    return end;
  }
  return undefined;
}

// Lower-case words in kebab or snake case: no digit, no capital, no 16 letters without a break.
function isPlain(run: string, from: number, to: number): boolean {
  let unbroken = 0;
  for (let at = from; at < to; at += 1) {
    const unit = run.charCodeAt(at);
    if (unit === 45 || unit === 95) unbroken = 0;
    else if (unit < 97 || ++unbroken === 16) return false;
  }
  return true;
}

function solidEnd(run: string, from: number, to: number): number {
  let end = from;
  while (end < to && isAlphanumeric(run, end)) end += 1;
  return end;
}

function isAlphanumeric(run: string, at: number): boolean {
  return (classOf(run.charCodeAt(at)) & ALPHANUMERIC) !== 0;
}
