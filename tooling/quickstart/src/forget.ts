// Erasure, and the proof of it: what a dry run foretells, what the receipt says and what an export finds afterwards have
// to agree to the record.

import { type ErasureReceipt, exportScope, type MemoryScope } from "@memory/core";
import type { Stage } from "./replay.ts";

/** What an erasure said. */
export interface Forgotten {
  /** What the dry run foretold; `null` where the store offers none. */
  readonly foretold: ErasureReceipt | null;
  readonly receipt: ErasureReceipt;
  /** The receipt of a second run. */
  readonly again: ErasureReceipt;
}

/** Erases everything under a scope, with everything derived from it. */
export async function forget(stage: Stage, scope: MemoryScope, artefacts: number): Promise<Forgotten> {
  const { store, checks } = stage;
  const there = await countRecords(stage, scope);
  const where = scope.userId ?? scope.tenantId;
  let foretold: ErasureReceipt | null = null;
  if (store.capabilities.erasureNarrowing) {
    foretold = await store.erase(scope, { dryRun: true });
    const said = [foretold.counts, foretold.artefacts, foretold.dryRun, foretold.complete];
    checks.same(`${where}: what a dry run of the erasure foretells`, said, [there, artefacts, true, false]);
    checks.same(`${where}: a dry run erases nothing`, await countRecords(stage, scope), there);
  }
  const receipt = await store.erase(scope);
  checks.same(
    `${where}: the receipt of the erasure`,
    [receipt.counts, receipt.artefacts, receipt.outstanding, receipt.dryRun, receipt.complete],
    [there, artefacts, [], false, true],
  );
  checks.same(`${where}: nothing is left`, await countRecords(stage, scope), {});
  const again = await store.erase(scope);
  checks.same(
    `${where}: a second erasure finds nothing`,
    [again.records, again.artefacts, again.complete],
    [0, 0, true],
  );
  return { foretold, receipt, again };
}

// By exporting it: not by the way of counting that is checked here. A kind without any record is absent.
async function countRecords({ store }: Stage, scope: MemoryScope): Promise<Readonly<Record<string, number>>> {
  const counts: Record<string, number> = {};
  for await (const { record } of exportScope(store, scope)) {
    counts[record.kind] = (counts[record.kind] ?? 0) + 1;
  }
  return counts;
}
