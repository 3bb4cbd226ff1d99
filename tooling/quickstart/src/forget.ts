// Erasure, and the proof of it: what the members foretell, what the receipt says and what an export finds afterwards have
// to agree to the record.

import { type ErasureReceipt, exportScope, type MemoryScope } from "@memory/core";
import type { Stage } from "./replay.ts";

/** What an erasure said. */
export interface Forgotten {
  /** What a dry run on each of the members foretold. */
  readonly foretold: Pick<ErasureReceipt, "records" | "counts" | "artefacts">;
  readonly receipt: ErasureReceipt;
  /** The receipt of a second run. */
  readonly again: ErasureReceipt;
}

/** Erases everything under a scope, with everything derived from it. */
export async function forget(stage: Stage, scope: MemoryScope, artefacts: number): Promise<Forgotten> {
  const { store, checks } = stage;
  const there = await countRecords(stage, scope);
  const where = scope.userId ?? scope.tenantId;
  const foretold = await foretell(stage, scope);
  checks.same(
    `${where}: what dry runs of the erasure foretell`,
    [foretold.counts, foretold.artefacts],
    [there, artefacts],
  );
  checks.same(`${where}: a dry run erases nothing`, await countRecords(stage, scope), there);
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

// Stores that share no transaction promise no forecast together; while nobody else writes, theirs add up to one.
async function foretell({ members }: Stage, scope: MemoryScope): Promise<Forgotten["foretold"]> {
  const parts = await Promise.all(
    [...new Set(Object.values(members))].map((store) => store.erase(scope, { dryRun: true })),
  );
  const sum = (of: (part: ErasureReceipt) => number): number => parts.reduce((total, part) => total + of(part), 0);
  return {
    records: sum(({ records }) => records),
    // Each kind is in one of them only.
    counts: Object.assign({}, ...parts.map(({ counts }) => counts)),
    artefacts: sum(({ artefacts }) => artefacts),
  };
}

// By exporting it: not by the way of counting that is checked here. A kind without any record is absent.
async function countRecords({ store }: Stage, scope: MemoryScope): Promise<Readonly<Record<string, number>>> {
  const counts: Record<string, number> = {};
  for await (const { record } of exportScope(store, scope)) {
    counts[record.kind] = (counts[record.kind] ?? 0) + 1;
  }
  return counts;
}
