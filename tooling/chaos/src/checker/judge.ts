// The judgement of a history: every promise of the protocol that can be seen in what callers were told.

import type { Line } from "../history.ts";
import { operationNamed } from "../operations/all.ts";
import { mayBe } from "../outcome.ts";
import { CALL_BUDGET_MS } from "../stores.ts";
import { checkErasures } from "./erasures.ts";
import { type Call, Ledger, type PlaceLedger } from "./ledger.ts";
import { checkNumbers } from "./numbering.ts";
import { checkBatch, checkKeys, checkPresence } from "./presence.ts";
import { checkSights } from "./sightings.ts";
import { Findings, type Violation } from "./violation.ts";

/** What a busy machine may add to a budget, in milliseconds. */
const GRACE_MS = 400;

/** What a history came to. */
export interface Judgement {
  readonly violations: readonly Violation[];
  /** By rule; `violations` holds the first few of each. */
  readonly counts: Readonly<Record<string, number>>;
  readonly calls: number;
  readonly acknowledged: number;
  /** Calls that were refused or whose outcome is unknown, by code. */
  readonly refused: Readonly<Record<string, number>>;
  /** Calls left without an answer by clients that were killed. */
  readonly unanswered: number;
}

/** Judges a history. `canary` is what its run had in all of its names. */
export function judge(lines: readonly Line[], canary: string): Judgement {
  const ledger = new Ledger(lines, canary);
  const findings = new Findings();
  for (const flaw of ledger.flaws) findings.add(flaw.what, undefined, flaw.detail);
  for (const call of ledger.calls) checkCall(ledger, findings, call);
  const reads = ledger.calls.filter(({ outcome, answer }) => outcome === "ok" && (answer.seen ?? answer.keys));
  const batches = Map.groupBy(
    ledger.calls.filter(({ op, outcome }) => op === "logAll" && outcome !== "refused"),
    ({ store, args }) => `${store} ${args.scope}`,
  );
  for (const read of [...reads].sort((a, b) => a.end - b.end)) {
    checkSights(ledger, findings, read);
    if (read.answer.keys !== undefined) checkKeys(ledger, findings, read);
    for (const place of wholePlaces(ledger, read)) checkPresence(ledger, findings, read, place);
    if (read.op !== "walk") continue;
    for (const scope of ledger.reachedBy(read)) {
      for (const batch of batches.get(`${read.store} ${scope}`) ?? []) checkBatch(ledger, findings, read, batch);
    }
  }
  for (const place of ledger.places.values()) checkNumbers(ledger, findings, place);
  checkErasures(ledger, findings);
  return { violations: findings.all, counts: findings.counts, ...countsOf(ledger) };
}

/** The places that a read saw whole. */
function wholePlaces(ledger: Ledger, read: Call): readonly PlaceLedger[] {
  const { op, store, args, answer } = read;
  const at = (key: string): PlaceLedger => ledger.place(store, args.scope, key);
  if (["read", "recall", "history", "profile", "belief"].includes(op)) {
    return args.last === undefined ? [at(args.key ?? "")] : [];
  }
  if (answer.complete !== true) return [];
  if (op === "derivations") return [at("a")];
  const letter = op === "walk" ? "e" : op === "search" ? "v" : undefined;
  if (letter === undefined) return [];
  const scopes = new Set(ledger.reachedBy(read));
  return [...ledger.places.values()].filter(
    (place) => place.store === store && scopes.has(place.scope) && place.key.startsWith(letter),
  );
}

function checkCall(ledger: Ledger, findings: Findings, call: Call): void {
  const { id, op, args, code, outcome, answer } = call;
  const client = ledger.clientOf(call);
  for (const flaw of answer.flaws ?? []) findings.add("flawed", id, flaw);
  const insists =
    args.after !== undefined || args.expectedVersion !== undefined || (code !== undefined && isTaken(ledger, call));
  if (code !== undefined && !mayBe(code, op, insists)) findings.add("untyped", id, `${op} was refused with ${code}`);
  if (ledger.isAudit(call) && outcome !== "ok") findings.add("not healed", id, `${op} failed at the end with ${code}`);
  if (op === "clash" && outcome === "ok") checkClash(ledger, findings, call);
  const { calls } = operationNamed(op);
  // Of the last look it is asked what it saw, and not how soon.
  if (ledger.isAudit(call)) return;
  if (call.end === Number.POSITIVE_INFINITY) {
    if (!ledger.killed.has(client)) findings.add("unsettled", id, `${op} was never answered`);
    return;
  }
  const budgetMs = args.abortMs ?? calls * CALL_BUDGET_MS;
  const tookMs = call.end - call.at - ledger.lagOf(call);
  if (tookMs > budgetMs + GRACE_MS) {
    findings.add("unsettled", id, `${op} took ${Math.round(tookMs)} ms, its budget is ${budgetMs} ms`);
  }
}

// A repeat whose id another content may have taken, after an erasure.
function isTaken(ledger: Ledger, { op, args, end }: Call): boolean {
  const names = new Set(op === "relog" ? args.items?.map(({ item }) => item) : []);
  return ledger.calls.some(
    (one) => one.op === "clash" && one.outcome !== "refused" && names.has(one.args.as ?? "") && one.at < end,
  );
}

// Another content under an id that is taken: a conflict, unless what had it was erased.
function checkClash(ledger: Ledger, findings: Findings, call: Call): void {
  const taken = ledger.items.get(call.args.as ?? "");
  const there = taken?.writes.filter(({ outcome, end }) => outcome === "ok" && end < call.at) ?? [];
  for (const write of there) {
    if (taken?.place.erasures.mayRemove(write, call.end)) continue;
    findings.add("dropped", call.id, `it took the id of ${call.args.as}, which is there`);
  }
}

function countsOf(ledger: Ledger): Pick<Judgement, "calls" | "acknowledged" | "refused" | "unanswered"> {
  const refused: Record<string, number> = {};
  let acknowledged = 0;
  let unanswered = 0;
  for (const { outcome, code, end } of ledger.calls) {
    if (code !== undefined) {
      const name =
        code === "MEMORY_UNAVAILABLE" ? `${code} ${outcome === "unknown" ? "unknown" : "not-applied"}` : code;
      refused[name] = (refused[name] ?? 0) + 1;
    } else if (outcome === "ok") acknowledged += 1;
    else if (end === Number.POSITIVE_INFINITY) unanswered += 1;
  }
  return { calls: ledger.calls.length, acknowledged, refused, unanswered };
}
