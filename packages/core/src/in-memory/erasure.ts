// Erasure over the kinds of one driver. Deleting is one synchronous step, so phase one leaves nothing for phase two to
// remove: what outlives it are the notes of how much was erased, and the condemned derivations, until core has answered
// for both.

import type {
  CondemnedDerivation,
  DerivationPosition,
  ErasureForecast,
  ErasureSection,
  ErasureTally,
  ErasureTarget,
  StoredRecord,
} from "../model/driver.ts";
import type { Derivation } from "../model/erasure.ts";
import { compareText } from "../model/json.ts";
import type { EpochMs, MemoryKind } from "../model/record.ts";
import { containsScope, type MemoryReach, type MemoryScope, sameScope } from "../model/scope.ts";
import { encodeKey, placeOf } from "../rules/key.ts";
import { take } from "./ordered.ts";
import { Scoped } from "./scoped.ts";

/** A section of the in-memory driver, and what erasure asks of its kind. */
export interface Kept<Section> {
  readonly kind: MemoryKind;
  readonly section: Section;
  /** Every record (each version) that the target means and that is there now. The target's `kinds` are not looked at. */
  meant(target: ErasureTarget, now: EpochMs): readonly StoredRecord[];
  /** Removes them, and what has expired among them. */
  erase(target: ErasureTarget): void;
}

interface Registration {
  /** All but `mixes`, as one text that sorts as derivations do. */
  readonly name: string;
  readonly scope: MemoryScope;
  readonly derivation: Derivation;
}

interface Note {
  readonly scope: MemoryScope;
  readonly tally: Map<MemoryKind, number>;
}

/** The erasure section over these kinds. An erasure costs what it erases, and a walk where the scope names its parts with gaps. */
export function erasureOf(kinds: readonly Omit<Kept<unknown>, "section">[]): ErasureSection {
  const kept = new Scoped<Registration>(compareNames);
  const condemned = new Scoped<Registration>(compareNames);
  const notes = new Map<string, Note>();

  return {
    narrowing: true,

    async count(target, call): Promise<ErasureForecast> {
      const { tally, sources } = survey(target, call.now);
      const doomed = [...condemned.ascending(target.scope, target.reach), ...implicated(target, sources)];
      const names = new Set(doomed.map(({ name }) => name));
      const isKept = new Map<string, boolean>();
      for (const registration of doomed) {
        const artefact = artefactOf(registration.derivation);
        const isShared = hasOtherHolder(registration, (other) => !names.has(other.name));
        isKept.set(artefact, isShared && (isKept.get(artefact) ?? true));
      }
      const sharedArtefacts = [...isKept.values()].filter((shared) => shared).length;
      return { counts: Object.fromEntries(tally), artefacts: isKept.size - sharedArtefacts, sharedArtefacts };
    },

    async tombstone(target, call): Promise<ErasureTally> {
      const { tally, sources } = survey(target, call.now);
      for (const kind of selected(target)) kind.erase(target);
      for (const registration of implicated(target, sources)) {
        kept.delete(registration);
        condemned.add(registration);
      }
      if (tally.size > 0) note(target.scope, tally);
      return sumOf(notesOf(target.scope, target.reach));
    },

    async condemned({ scope, reach, after, limit }): Promise<readonly CondemnedDerivation[]> {
      return take(condemned.ascending(scope, reach, notAfter(after)), limit).map((registration) => ({
        derivation: registration.derivation,
        shared: hasOtherHolder(registration, () => true),
      }));
    },

    async forget(positions): Promise<void> {
      for (const position of positions) condemned.delete(registrationOf({ ...position, mixes: false }));
    },

    async sweep({ scope, reach }): Promise<ErasureTally | null> {
      const taken = notesOf(scope, reach);
      for (const { scope: noted } of taken) notes.delete(placeOf(noted, ""));
      return sumOf(taken);
    },

    async register(derivation): Promise<void> {
      const registration = registrationOf(derivation);
      condemned.delete(registration);
      kept.delete(registration);
      kept.add(registration);
    },

    async derivations({ scope, reach, after, limit }): Promise<readonly Derivation[]> {
      return take(kept.ascending(scope, reach, notAfter(after)), limit).map(({ derivation }) => derivation);
    },
  };

  function selected({ kinds: named }: ErasureTarget): readonly Omit<Kept<unknown>, "section">[] {
    return named === undefined ? kinds : kinds.filter(({ kind }) => named.includes(kind));
  }

  // How many records the target means, and which they are (as sources of derivations).
  function survey(target: ErasureTarget, now: EpochMs): { tally: Map<MemoryKind, number>; sources: Set<string> } {
    const tally = new Map<MemoryKind, number>();
    const sources = new Set<string>();
    for (const kind of selected(target)) {
      const records = kind.meant(target, now);
      if (records.length > 0) tally.set(kind.kind, records.length);
      if (target.keys !== undefined) for (const { scope, id } of records) sources.add(sourceOf(kind.kind, scope, id));
    }
    return { tally, sources };
  }

  // The registrations that fall with the target. With keys, only those whose source is among the records erased.
  function implicated({ scope, reach, kinds: named, keys }: ErasureTarget, sources: Set<string>): Registration[] {
    return [...kept.ascending(scope, reach)].filter(({ derivation: { sourceKind, sourceId, scope: owner } }) => {
      if (named !== undefined && !named.includes(sourceKind)) return false;
      return keys === undefined || sources.has(sourceOf(sourceKind, owner, sourceId));
    });
  }

  // Whether another scope of the tenant keeps the artefact, and no registration (condemned ones too) mixes it.
  function hasOtherHolder({ scope, derivation }: Registration, survives: (other: Registration) => boolean): boolean {
    const artefact = artefactOf(derivation);
    const tenant = { tenantId: scope.tenantId };
    const isBefore = ({ name }: Registration): boolean => compareText(name, artefact) < 0;
    let isHeld = false;
    for (const list of [kept, condemned]) {
      for (const other of list.ascending(tenant, "under", isBefore)) {
        if (artefactOf(other.derivation) !== artefact) break;
        if (other.derivation.mixes) return false;
        if (list === kept && survives(other) && !sameScope(other.scope, scope)) isHeld = true;
      }
    }
    return isHeld;
  }

  function note(scope: MemoryScope, tally: Map<MemoryKind, number>): void {
    const place = placeOf(scope, "");
    const there = notes.get(place) ?? { scope, tally: new Map<MemoryKind, number>() };
    for (const [kind, count] of tally) there.tally.set(kind, (there.tally.get(kind) ?? 0) + count);
    notes.set(place, there);
  }

  // There are as many notes as erasures under way.
  function notesOf(scope: MemoryScope, reach: MemoryReach): Note[] {
    return [...notes.values()].filter(({ scope: noted }) =>
      reach === "exact" ? sameScope(scope, noted) : containsScope(scope, noted),
    );
  }
}

function sumOf(notes: readonly Note[]): ErasureTally {
  const sum: Partial<Record<MemoryKind, number>> = {};
  for (const { tally } of notes) for (const [kind, count] of tally) sum[kind] = (sum[kind] ?? 0) + count;
  return sum;
}

function registrationOf(derivation: Derivation): Registration {
  return { name: nameOf(derivation), scope: derivation.scope, derivation };
}

function nameOf({ adapter, artefactId, scope, sourceKind, sourceId }: DerivationPosition): string {
  const { tenantId, userId, sessionId, agent } = scope;
  return encodeKey([adapter, artefactId, tenantId, userId, sessionId, agent, sourceKind, sourceId]);
}

function artefactOf({ adapter, artefactId }: Derivation): string {
  return encodeKey([adapter, artefactId, ""]);
}

function sourceOf(kind: MemoryKind, scope: MemoryScope, id: string): string {
  return encodeKey([kind, placeOf(scope, id)]);
}

function compareNames(a: Registration, b: Registration): number {
  return compareText(a.name, b.name);
}

// What a page skips: everything up to the position.
function notAfter(position: DerivationPosition | undefined): (registration: Registration) => boolean {
  if (position === undefined) return () => false;
  const last = nameOf(position);
  return ({ name }) => compareText(name, last) <= 0;
}
