// Erasures: their receipts count every record once, forecasts are exact, artefacts are purged when they must be and never
// without.

import { artefactsOf } from "./artefacts.ts";
import { type Call, type Ledger, memoryKindOf } from "./ledger.ts";
import type { Findings } from "./violation.ts";

// Kinds in which every record that was ever written counts, so that the receipts of a run have a sum.
const COUNTED = ["profile", "episodic"] as const;

/** Judges the erasures of a run that ended with the erasure of everything. */
export function checkErasures(ledger: Ledger, findings: Findings): void {
  for (const [store, calls] of Map.groupBy(ledger.calls, (call) => call.store)) {
    const erasures = calls.filter(({ op, args }) => op === "erase" && args.dryRun !== true);
    const isEnded = erasures.some((one) => ledger.isAudit(one) && one.outcome === "ok");
    for (const kind of COUNTED) checkSum(ledger, findings, store, kind, erasures, isEnded);
    checkForecasts(ledger, findings, calls, erasures);
    checkPurges(ledger, findings, store, erasures);
  }
}

function checkSum(
  ledger: Ledger,
  findings: Findings,
  store: string,
  kind: (typeof COUNTED)[number],
  erasures: readonly Call[],
  isEnded: boolean,
): void {
  const items = [...ledger.items.values()].filter(({ place }) => place.store === store && memoryKindOf(place) === kind);
  const sum = erasures.reduce((total, { answer }) => total + (answer.counts?.[kind] ?? 0), 0);
  const most = items.reduce((total, { writes }) => total + writes.length, 0);
  const least = items.filter(({ writes }) => writes.some(({ outcome }) => outcome === "ok")).length;
  if (sum > most) findings.add("counts", undefined, `${store}: ${sum} ${kind} records erased, ${most} written`);
  // An answer that was lost took its count along.
  const isWhole = isEnded && erasures.every(({ outcome }) => outcome === "ok" || outcome === "refused");
  if (isWhole && sum < least) findings.add("counts", undefined, `${store}: ${sum} of ${least} ${kind} records counted`);
}

function checkForecasts(ledger: Ledger, findings: Findings, calls: readonly Call[], erasures: readonly Call[]): void {
  // A record that was evicted may still be named, and then is forecast, too (docs/redis.md, Eviction).
  if (ledger.losses.some(({ loosens, stores }) => loosens && stores.includes(calls[0]?.store ?? ""))) return;
  const audits = calls.filter((one) => ledger.isAudit(one) && one.op === "erase");
  for (const forecast of audits.filter(({ args }) => args.dryRun === true)) {
    const real = audits.find((one) => one.at >= forecast.end && one.args.scope === forecast.args.scope);
    if (real === undefined || forecast.outcome !== "ok" || real.outcome !== "ok") continue;
    // What an erasure that died had noted is counted by the next one, and no forecast knows of it.
    if (erasures.some(({ outcome, answer }) => outcome === "unknown" || answer.complete === false)) continue;
    const [expected, actual] = [forecast.answer.counts, real.answer.counts].map((counts) =>
      JSON.stringify(Object.entries(counts ?? {}).sort()),
    );
    if (expected !== actual) findings.add("forecast", real.id, `forecast ${expected}, erased ${actual}`);
  }
}

function checkPurges(ledger: Ledger, findings: Findings, store: string, erasures: readonly Call[]): void {
  const purged = new Map<string, number>();
  for (const one of ledger.purges.filter((line) => line.store === store)) {
    for (const artefact of one.artefacts) purged.set(artefact, Math.min(one.at, purged.get(artefact) ?? one.at));
  }
  for (const { item, place, writes } of artefactsOf(ledger, store)) {
    const at = purged.get(item);
    const [write] = writes;
    if (at !== undefined && !place.erasures.mayRemove({ at: write?.at ?? at }, at)) {
      findings.add("purged", write?.id, "an artefact was purged that no erasure meant");
    }
    if (at !== undefined || write?.outcome !== "ok" || ledger.isLost(place, write, Number.POSITIVE_INFINITY)) continue;
    const gone = place.erasures.goneUpTo(Number.POSITIVE_INFINITY);
    if (write.end < gone && erasures.every(({ answer }) => answer.complete !== false)) {
      findings.add("unpurged", write.id, "an artefact was not purged, and its scope was erased");
    }
  }
}
