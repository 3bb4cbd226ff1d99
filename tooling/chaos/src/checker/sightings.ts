// What every sight of an item must be, whichever read it was in: of its own place, written by a call that was not refused
// and had begun, at its own position, not erased; and each once.

import type { Sight } from "../history.ts";
import type { Call, Item, Ledger } from "./ledger.ts";
import type { Findings } from "./violation.ts";

/** Judges each item that a read saw. Reads come in the order of their ends, so that sights are noted in it. */
export function checkSights(ledger: Ledger, findings: Findings, read: Call): void {
  const times = new Map<string, number>();
  const scopes = new Set(read.args.reach === "under" ? ledger.reachedBy(read) : [read.args.scope]);
  for (const sight of read.answer.seen ?? []) {
    const item = ledger.items.get(sight.item);
    if (item === undefined || item.place.store !== read.store) {
      findings.add("foreign", read.id, `${sight.item} was written by no call to ${read.store}`);
      continue;
    }
    times.set(sight.item, (times.get(sight.item) ?? 0) + 1);
    if (!isOwn(item, sight) || !scopes.has(sight.scope) || (read.args.key ?? sight.key) !== sight.key) {
      findings.add("foreign", read.id, `${sight.item} was read in another scope or under another key`);
    }
    checkOrigin(findings, read, item);
    checkPosition(findings, read, item, sight);
    checkErased(ledger, findings, read, item);
    item.sights.push(read);
  }
  for (const [name, count] of times) {
    // What was erased and written again while pages were turned may be met twice.
    if (count > 1 && (ledger.items.get(name)?.writes.length ?? 0) < 2) {
      findings.add("twice", read.id, `${name} is there ${count} times`);
    }
  }
}

function isOwn({ place }: Item, sight: Sight): boolean {
  return place.scope === sight.scope && place.key === sight.key;
}

function checkOrigin(findings: Findings, read: Call, { item, writes }: Item): void {
  const [first] = writes;
  if (first === undefined) findings.add("refused", read.id, `${item} is there, and was refused`);
  else if (!writes.some(({ at }) => at < read.end)) findings.add("foreign", read.id, `${item} was not written yet`);
}

function checkPosition(findings: Findings, read: Call, { item, writes, place }: Item, { at }: Sight): void {
  if (at === undefined || place.kind === "register") return;
  for (const write of writes) {
    const told = write.answer.at;
    if (write.outcome === "ok" && told !== undefined && told !== at) {
      findings.add("position", read.id, `${item} is at ${at}, and ${write.id} was told ${told}`);
    }
  }
}

function checkErased(ledger: Ledger, findings: Findings, read: Call, item: Item): void {
  const gone = item.place.erasures.goneUpTo(read.at);
  if (gone === Number.NEGATIVE_INFINITY) return;
  let last = ledger.lastEffect(item);
  const isOnce = item.place.kind !== "register" && item.place.kind !== "brief" && item.place.kind !== "vector";
  // What lands once and was seen had landed by then, whatever its caller knows.
  const [first] = item.sights;
  if (isOnce && item.writes.length === 1 && first !== undefined) last = Math.min(last, first.end);
  if (last < gone) findings.add("un-erased", read.id, `${item.item} is there after it was erased`);
}
