// Erasure, in two phases and resumable: first everything meant becomes unreadable in one step, then derived artefacts are
// purged, then the rows go. What the second phase needs outlives the first, so that an erasure that died or could not
// reach an index is finished by running it again, and each record and artefact is counted in exactly one receipt. Over
// several members each phase is done in all of them before the next, and one that fails keeps no other from being done.

import type {
  CondemnedDerivation,
  DerivationPosition,
  DriverMember,
  ErasureForecast,
  ErasureSection,
  ErasureTally,
  ErasureTarget,
} from "../model/driver.ts";
import type { DerivedIndex, ErasureReceipt } from "../model/erasure.ts";
import { compareText } from "../model/json.ts";
import { MEMORY_KINDS, type MemoryKind } from "../model/record.ts";
import type { MemoryScope } from "../model/scope.ts";
import type { OperationCall } from "./guard.ts";
import { encodeKey, placeOf } from "./key.ts";

/** How many derivations a page of the second phase holds; also the most ids that one `purge` gets. */
const CHUNK = 1_000;

/** What an erasure needs beside the drivers. */
export interface ErasureContext {
  /** Its `attempts` tell of a sweep whose first answer may have been lost. */
  readonly call: OperationCall;
  readonly indices: readonly DerivedIndex[];
  readonly now: () => number;
  /** Purges under the attempt's deadline. */
  readonly purge: (index: DerivedIndex, scope: MemoryScope, artefactIds: readonly string[]) => Promise<void>;
}

/** A receipt, and what stood in the way of the first that is outstanding. */
export interface ErasureResult {
  readonly receipt: ErasureReceipt;
  readonly cause: unknown;
  /** Every member hides what was meant. */
  readonly isHidden: boolean;
}

/** The receipt of a dry run. Never `complete`. */
export function forecastReceipt({ counts, artefacts, sharedArtefacts }: ErasureForecast): ErasureReceipt {
  return receipt(counts, { artefacts, sharedArtefacts, adapters: [], outstanding: [] }, null, true);
}

/**
 * Carries an erasure out, as far as the members and the derived indices let it.
 *
 * @throws What the only member throws; what the first throws where none could hide anything; the caller's own reason.
 */
export async function eraseTarget(
  members: readonly DriverMember[],
  target: ErasureTarget,
  context: ErasureContext,
): Promise<ErasureResult> {
  // By member, not by name: compositions of compositions may have two of one name.
  const failures = new Map<DriverMember, unknown>();
  const attempt = async (member: DriverMember, step: () => Promise<void>): Promise<void> => {
    if (failures.has(member)) return;
    try {
      await step();
    } catch (error) {
      if (members.length === 1 || context.call.callerSignal?.aborted) throw error;
      failures.set(member, error);
    }
  };

  const noted = new Map<DriverMember, ErasureTally>();
  const hide = (member: DriverMember) =>
    attempt(member, async () => {
      noted.set(member, await member.erasure.tombstone(target, context.call));
    });
  await Promise.all(members.slice(0, -1).map(hide));
  await Promise.all(members.slice(-1).map(hide));
  const isHidden = failures.size === 0;
  if (noted.size === 0) throw [...failures.values()][0];

  const purge = new Purge(target, context);
  for (const member of members) await attempt(member, () => purge.run(member.erasure));

  const counts: Partial<Record<MemoryKind, number>> = {};
  for (const member of members) {
    await attempt(member, async () => {
      const tally = await sweep(member.erasure, target, noted.get(member) ?? {}, context.call);
      for (const kind of MEMORY_KINDS) counts[kind] = (counts[kind] ?? 0) + (tally[kind] ?? 0);
    });
  }

  const causes = new Map([...purge.failures, ...[...failures].map(([{ name }, error]) => [name, error] as const)]);
  const outstanding = [...causes.keys()].sort(compareText);
  const done = outstanding.length === 0 ? context.now() : null;
  return {
    receipt: receipt(counts, { ...purge.purged(), outstanding }, done, false),
    cause: causes.get(outstanding[0] ?? ""),
    isHidden,
  };
}

async function sweep(
  section: ErasureSection,
  target: ErasureTarget,
  noted: ErasureTally,
  call: OperationCall,
): Promise<ErasureTally> {
  // One object for all of its calls: a driver may keep by it where it stands.
  const request = { scope: target.scope, reach: target.reach };
  for (;;) {
    const before = call.attempts;
    const swept = await section.sweep(request, call);
    // An empty answer to a repeated call: the first one took the notes away and its answer was lost.
    if (swept !== null) return call.attempts > before + 1 && total(swept) === 0 ? noted : swept;
  }
}

interface Purged {
  readonly artefacts: number;
  readonly sharedArtefacts: number;
  readonly adapters: readonly string[];
  readonly outstanding: readonly string[];
}

/** Purges what is condemned. An index that failed is not asked again. */
class Purge {
  readonly failures: Map<string, unknown> = new Map();
  readonly #target: ErasureTarget;
  readonly #context: ErasureContext;
  readonly #indices: ReadonlyMap<string, DerivedIndex>;
  readonly #asked: Set<string> = new Set();
  readonly #purged: Tally = new Tally();
  readonly #kept: Tally = new Tally();

  constructor(target: ErasureTarget, context: ErasureContext) {
    this.#target = target;
    this.#context = context;
    this.#indices = new Map(context.indices.map((index) => [index.name, index]));
  }

  async run(section: ErasureSection): Promise<void> {
    const { scope, reach } = this.#target;
    const { call } = this.#context;
    let after: DerivationPosition | undefined;
    do {
      const page = await section.condemned({ scope, reach, after, limit: CHUNK }, call);
      for (const place of groupByPlace(page)) await this.#ask(place);
      const settled = page.filter(({ shared, derivation }) => shared || !this.failures.has(derivation.adapter));
      const registrations = settled.map((row) => row.derivation);
      if (registrations.length > 0) await section.forget(registrations, call);
      for (const row of settled) (row.shared ? this.#kept : this.#purged).add(row);
      after = page.length < CHUNK ? undefined : page.at(-1)?.derivation;
    } while (after !== undefined);
  }

  purged(): Omit<Purged, "outstanding"> {
    const adapters = [...this.#asked].sort(compareText);
    return { artefacts: this.#purged.size, sharedArtefacts: this.#kept.size, adapters };
  }

  async #ask({ adapter, scope, artefactIds }: Place): Promise<void> {
    if (this.failures.has(adapter)) return;
    const index = this.#indices.get(adapter);
    try {
      if (index === undefined) throw new Error("the derived index is not configured");
      this.#asked.add(adapter);
      await this.#context.purge(index, scope, [...artefactIds]);
    } catch (error) {
      this.failures.set(adapter, error);
    }
  }
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
