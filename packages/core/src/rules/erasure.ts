// Erasure, in two phases and resumable: first everything meant becomes unreadable in one step, then derived artefacts are
// purged, then the rows go. What the second phase needs outlives the first, so that an erasure that died or could not
// reach an index is finished by running it again, and each record and artefact is counted in exactly one receipt.

import type {
  CondemnedDerivation,
  DerivationPosition,
  DriverCall,
  ErasureForecast,
  ErasureSection,
  ErasureTally,
  ErasureTarget,
} from "../model/driver.ts";
import type { DerivedIndex, ErasureReceipt } from "../model/erasure.ts";
import { compareText } from "../model/json.ts";
import { MEMORY_KINDS } from "../model/record.ts";
import type { MemoryScope } from "../model/scope.ts";
import { encodeKey, placeOf } from "./key.ts";

/** How many derivations a page of the second phase holds; also the most ids that one `purge` gets. */
const CHUNK = 1_000;

/** What an erasure needs beside the driver. */
export interface ErasureContext {
  readonly call: DriverCall;
  readonly indices: readonly DerivedIndex[];
  readonly now: () => number;
  /** Purges under the attempt's deadline. */
  readonly purge: (index: DerivedIndex, scope: MemoryScope, artefactIds: readonly string[]) => Promise<void>;
  /** Attempts so far; two in one call mean that the answer to the first may have been lost. */
  readonly attempts: () => number;
}

/** A receipt, and what stood in the way of the first index that could not be reached. */
export interface ErasureResult {
  readonly receipt: ErasureReceipt;
  readonly cause: unknown;
}

/** The receipt of a dry run. Never `complete`. */
export function forecastReceipt({ counts, artefacts, sharedArtefacts }: ErasureForecast): ErasureReceipt {
  return receipt(counts, { artefacts, sharedArtefacts, adapters: [], outstanding: [] }, null, true);
}

/** Carries an erasure out, as far as the derived indices let it. */
export async function eraseTarget(
  section: ErasureSection,
  target: ErasureTarget,
  context: ErasureContext,
): Promise<ErasureResult> {
  const { call } = context;
  const noted = await section.tombstone(target, call);
  const purged = await purgeCondemned(section, target, context);
  let swept: ErasureTally | null = null;
  let before = 0;
  // One object for all of them: a driver may keep by it where it stands.
  const request = { scope: target.scope, reach: target.reach };
  while (swept === null) {
    before = context.attempts();
    swept = await section.sweep(request, call);
  }
  // An empty answer to a repeated call: the first one took the notes away and its answer was lost.
  const counts = context.attempts() > before + 1 && total(swept) === 0 ? noted : swept;
  const done = purged.outstanding.length === 0;
  return { receipt: receipt(counts, purged, done ? context.now() : null, false), cause: purged.cause };
}

interface Purged {
  readonly artefacts: number;
  readonly sharedArtefacts: number;
  readonly adapters: readonly string[];
  readonly outstanding: readonly string[];
  readonly cause?: unknown;
}

async function purgeCondemned(
  section: ErasureSection,
  target: ErasureTarget,
  context: ErasureContext,
): Promise<Purged> {
  const indices = new Map(context.indices.map((index) => [index.name, index]));
  const asked = new Set<string>();
  const failures = new Map<string, unknown>();
  const purged = new Tally();
  const kept = new Tally();
  let after: DerivationPosition | undefined;
  for (;;) {
    const page = await section.condemned(
      { scope: target.scope, reach: target.reach, after, limit: CHUNK },
      context.call,
    );
    for (const { adapter, scope, artefactIds } of groupByPlace(page)) {
      if (failures.has(adapter)) continue;
      const index = indices.get(adapter);
      try {
        if (index === undefined) throw new Error("the derived index is not configured");
        asked.add(adapter);
        await context.purge(index, scope, [...artefactIds]);
      } catch (error) {
        failures.set(adapter, error);
      }
    }
    const settled = page.filter(({ shared, derivation }) => shared || !failures.has(derivation.adapter));
    if (settled.length > 0)
      await section.forget(
        settled.map((row) => row.derivation),
        context.call,
      );
    for (const row of settled) (row.shared ? kept : purged).add(row);
    if (page.length < CHUNK) break;
    after = page.at(-1)?.derivation;
  }
  const outstanding = [...failures.keys()].sort(compareText);
  return {
    artefacts: purged.size,
    sharedArtefacts: kept.size,
    adapters: [...asked].sort(compareText),
    outstanding,
    cause: failures.get(outstanding[0] ?? ""),
  };
}

// Distinct (adapter, artefact), in memory that does not grow with their number: they come in that order.
class Tally {
  size = 0;
  #last: string | undefined;

  add({ derivation }: CondemnedDerivation): void {
    const name = encodeKey([derivation.adapter, derivation.artefactId]);
    if (name !== this.#last) this.size += 1;
    this.#last = name;
  }
}

interface Place {
  readonly adapter: string;
  readonly scope: MemoryScope;
  readonly artefactIds: Set<string>;
}

function groupByPlace(page: readonly CondemnedDerivation[]): Iterable<Place> {
  const places = new Map<string, Place>();
  for (const { shared, derivation } of page) {
    if (shared) continue;
    const { adapter, scope, artefactId } = derivation;
    const name = placeOf(scope, adapter);
    const place = places.get(name) ?? { adapter, scope, artefactIds: new Set() };
    place.artefactIds.add(artefactId);
    places.set(name, place);
  }
  return places.values();
}

function receipt(
  tally: ErasureTally,
  { artefacts, sharedArtefacts, adapters, outstanding }: Purged,
  completedAt: number | null,
  dryRun: boolean,
): ErasureReceipt {
  const counted = MEMORY_KINDS.filter((kind) => (tally[kind] ?? 0) > 0).map((kind) => [kind, tally[kind] ?? 0]);
  return Object.freeze({
    counts: Object.freeze(Object.fromEntries(counted)),
    records: total(tally),
    artefacts,
    sharedArtefacts,
    adapters,
    outstanding,
    completedAt,
    complete: completedAt !== null,
    dryRun,
  });
}

function total(tally: ErasureTally): number {
  return MEMORY_KINDS.reduce((sum, kind) => sum + (tally[kind] ?? 0), 0);
}
