// What a read that sees all of a place must see: everything acknowledged before it that nothing took away since; the newest
// of what replaces; nothing whose time has passed; batches whole.

import type { Call, Item, Ledger, PlaceLedger, Span } from "./ledger.ts";
import type { Findings } from "./violation.ts";

/** How late a server may be to let a key expire, and its answer to arrive, in milliseconds. */
const EXPIRY_SLACK_MS = 250;

/** Judges a read that saw a whole place, and saw these items there. */
export function checkPresence(ledger: Ledger, findings: Findings, read: Call, place: PlaceLedger): void {
  const seen = (read.answer.seen ?? []).filter((one) => one.scope === place.scope && one.key === place.key);
  const names = new Set(seen.map(({ item }) => item));
  if (place.kind === "register" || place.kind === "brief" || place.kind === "vector") {
    checkNewest(ledger, findings, read, place, names);
    return;
  }
  if (read.op === "profile" || read.op === "belief") {
    if (place.kind === "fact") checkLatest(findings, read, place, seen[0]?.at);
    return;
  }
  for (const item of place.items) {
    if (!names.has(item.item) && isThere(ledger, item, read))
      findings.add("lost", read.id, `${item.item} was there, and is not`);
  }
}

/** Judges a listing of keys: every place where something must be is named, and none that was erased. */
export function checkKeys(ledger: Ledger, findings: Findings, read: Call): void {
  const scopes = new Set(ledger.reachedBy(read));
  const named = new Set((read.answer.keys ?? []).map(({ scope, key }) => `${read.store} ${scope} ${key}`));
  for (const { scope, key } of read.answer.keys ?? []) {
    const place = ledger.place(read.store, scope, key);
    if (!scopes.has(scope)) findings.add("foreign", read.id, `it names ${key} of another scope`);
    if (!place.writes.some(({ at }) => at < read.end))
      findings.add("foreign", read.id, `it names ${key}, never written`);
    const gone = place.erasures.goneUpTo(read.at);
    const last = Math.max(...place.items.map((item) => ledger.lastEffect(item)));
    if (last < gone) findings.add("un-erased", read.id, `it names ${key}, which was erased`);
  }
  if (read.answer.complete !== true) return;
  for (const place of ledger.places.values()) {
    const isMeant = place.store === read.store && scopes.has(place.scope) && /^[rxq]/.test(place.key);
    if (!isMeant || named.has(`${place.store} ${place.scope} ${place.key}`)) continue;
    if (place.expires.some(({ at }) => at <= read.end)) continue;
    if (place.items.some((item) => isThere(ledger, item, read))) {
      findings.add("lost", read.id, `it does not name ${place.key} in scope ${place.scope}`);
    }
  }
}

/** Judges a batch: a read of all of its places sees all of it or nothing. */
export function checkBatch(ledger: Ledger, findings: Findings, read: Call, batch: Call): void {
  const items = (batch.args.items ?? []).flatMap(({ item }) => ledger.items.get(item) ?? []);
  const isSettled = batch.end < read.at && (batch.outcome === "ok" || read.answer.pages === 1);
  const [first] = items;
  if (!isSettled || first === undefined || items.some(({ writes }) => writes.length > 1)) return;
  const seen = new Set((read.answer.seen ?? []).map(({ item }) => item));
  const count = items.filter(({ item }) => seen.has(item)).length;
  if (count === 0 || count === items.length) return;
  // Pages are read one after the other: an erasure may come between them.
  if (!first.place.erasures.mayRemove({ at: read.at }, read.end)) {
    findings.add("half", read.id, `${count} of ${items.length} records of ${batch.id} are there`);
  }
}

/** Whether the item must be there when the read looks, whatever else was written. */
function isThere(ledger: Ledger, item: Item, read: Call): boolean {
  return certificates(item, read).some((span) => {
    return !item.place.erasures.mayRemove(span, read.end) && !ledger.isLost(item.place, span, read.end);
  });
}

/** Spans in which the item was there, each before the read: its acknowledged writes, and the last read that saw it. */
function certificates({ writes, sights }: Item, read: Call): readonly Span[] {
  const acknowledged = writes.filter(({ outcome, end }) => outcome === "ok" && end < read.at);
  const seen = sights.findLast(({ end }) => end < read.at);
  return seen === undefined ? acknowledged : [...acknowledged, seen];
}

function checkNewest(
  ledger: Ledger,
  findings: Findings,
  read: Call,
  place: PlaceLedger,
  names: ReadonlySet<string>,
): void {
  const expires = place.expires.filter(({ at }) => at <= read.end);
  const [name] = names;
  if (name === undefined) {
    if (expires.length > 0) return;
    const lost = place.items.find((item) => isThere(ledger, item, read));
    if (lost !== undefined) findings.add("lost", read.id, `nothing is there, and ${lost.item} was`);
    return;
  }
  const item = ledger.items.get(name);
  if (item === undefined) return;
  const last = ledger.lastEffect(item);
  const newer = place.writes.find((one) => {
    const isOther = !item.writes.includes(one) && one.outcome === "ok";
    return isOther && one.at > last && one.end < read.at && !ledger.isLost(place, one, read.end);
  });
  if (newer !== undefined) findings.add("stale", read.id, `${name} is there, and ${newer.id} replaced it`);
  checkExpired(ledger, findings, read, expires, item);
}

function checkExpired(ledger: Ledger, findings: Findings, read: Call, expires: readonly Call[], item: Item): void {
  const passed = expires.every(({ end, args }) => end + (args.ttlMs ?? 0) + EXPIRY_SLACK_MS < read.at);
  const last = ledger.lastEffect(item);
  const meant = expires.some((one) => one.answer.was === true && one.at > last && !ledger.isUndone(one));
  if (passed && meant) findings.add("expired", read.id, `${item.item} is there after its time`);
}

function checkLatest(findings: Findings, read: Call, place: PlaceLedger, version: number | undefined): void {
  for (const write of place.writes) {
    const told = write.answer.at;
    if (write.outcome !== "ok" || write.end >= read.at || told === undefined) continue;
    if (version !== undefined && version >= told) continue;
    if (place.erasures.mayRemove(write, read.end)) continue;
    findings.add("lost", read.id, `version ${told} was acknowledged, and ${version ?? "nothing"} is live`);
  }
}
