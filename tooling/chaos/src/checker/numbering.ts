// Positions and versions: what callers were told is without gap or repeat, and is what they insisted on.

import type { Call, Ledger, PlaceLedger } from "./ledger.ts";
import type { Findings } from "./violation.ts";

/** Judges the numbers that the writers of a place were told. */
export function checkNumbers(ledger: Ledger, findings: Findings, place: PlaceLedger): void {
  if (place.kind !== "sequence" && place.kind !== "fact" && place.kind !== "branch") return;
  const told = place.writes.filter(({ outcome, answer }) => outcome === "ok" && answer.at !== undefined);
  for (const [index, write] of told.entries()) {
    const at = write.answer.at ?? 0;
    const most = place.writes.filter((one) => one.at <= write.end).length;
    if (at < 1 || at > most) findings.add("gap", write.id, `it was told ${at} where ${most} had begun`);
    const insisted = write.args.after ?? write.args.expectedVersion;
    if (insisted !== undefined && at !== insisted + 1 && place.kind !== "branch") {
      findings.add("insisted", write.id, `it insisted on ${insisted} and was told ${at}`);
    }
    for (const other of told.slice(index + 1)) checkPair(ledger, findings, place, write, other);
  }
}

function checkPair(ledger: Ledger, findings: Findings, place: PlaceLedger, one: Call, other: Call): void {
  const [a, b] = [one.answer.at ?? 0, other.answer.at ?? 0];
  const isBefore = one.end < other.at;
  if (a !== b && !(isBefore && b < a)) return;
  const both = { at: one.at, end: Math.max(one.end, other.end) };
  if (place.erasures.mayRemove(both, both.end)) return;
  if (ledger.isLost(place, one, both.end) || ledger.isLost(place, other, both.end)) return;
  if (a === b) findings.add("repeat", other.id, `it was told ${b}, and so was ${one.id}`);
  else findings.add("backwards", other.id, `it was told ${b}, and ${one.id} before it ${a}`);
}
