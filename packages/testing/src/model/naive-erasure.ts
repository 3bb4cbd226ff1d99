// Erasure and derived artefacts, as section 9 says them, over plain arrays: what is meant goes at once, then the derived
// indices are asked, and what could not be reached stays for the next run.

import {
  type Derivation,
  type DerivedIndex,
  type EpochMs,
  type EraseOptions,
  type ErasureReceipt,
  type MemoryKind,
  type MemoryScope,
  PartialErasureError,
} from "@memory/core";
import { byBytes, byScope, type Row, within } from "./naive-row.ts";

/** A registration. */
export interface Registration {
  readonly derivation: Derivation;
  /** Its source is erased; its artefact is still to be purged. */
  condemned: boolean;
  gone: boolean;
}

/** The order in which registrations are listed. */
export function byArtefact(a: Registration, b: Registration): number {
  const [left, right] = [a.derivation, b.derivation];
  return (
    byBytes(left.adapter, right.adapter) ||
    byBytes(left.artefactId, right.artefactId) ||
    byScope(left.scope, right.scope) ||
    byBytes(left.sourceKind, right.sourceKind) ||
    byBytes(left.sourceId, right.sourceId)
  );
}

/** Whether both name the same artefact, source and scope. */
export function sameRegistration(a: Derivation, b: Derivation): boolean {
  return (
    byScope(a.scope, b.scope) === 0 &&
    a.adapter === b.adapter &&
    a.artefactId === b.artefactId &&
    a.sourceKind === b.sourceKind &&
    a.sourceId === b.sourceId
  );
}

/**
 * Erases, or (a dry run) counts.
 *
 * @throws {PartialErasureError} A derived index is not configured or rejects; the rest was done.
 */
export async function eraseNaively(
  scope: MemoryScope,
  options: EraseOptions,
  rows: readonly Row[],
  registrations: readonly Registration[],
  indices: readonly DerivedIndex[],
  now: EpochMs,
): Promise<ErasureReceipt> {
  const { kinds, keys, reach = "under", dryRun = false } = options;
  const meant = rows.filter(
    (row) =>
      !row.gone &&
      within(scope, row.scope, reach) &&
      (kinds === undefined || kinds.includes(row.kind)) &&
      (keys === undefined || keys.includes(row.key)),
  );
  const counts: Partial<Record<MemoryKind, number>> = {};
  for (const row of meant) counts[row.kind] = (counts[row.kind] ?? 0) + 1;
  const here = registrations.filter((one) => !one.gone && within(scope, one.derivation.scope, reach));
  const condemned = here.filter((one) => one.condemned || isMeant(one.derivation, kinds, keys, meant));
  const others = registrations.filter((one) => !one.gone && !one.condemned && !condemned.includes(one));
  const shared = condemned.filter((one) => isShared(one, others, registrations));
  const owned = condemned.filter((one) => !shared.includes(one));
  const base = { counts, records: meant.length, sharedArtefacts: distinct(shared), dryRun };
  if (dryRun) {
    const none = { adapters: [], outstanding: [], completedAt: null, complete: false };
    return { ...base, artefacts: distinct(owned), ...none };
  }
  for (const row of meant) row.gone = true;
  for (const one of condemned) one.condemned = true;
  for (const one of shared) one.gone = true;
  const named = [...new Set(owned.map((one) => one.derivation.adapter))].sort(byBytes);
  const outstanding: string[] = [];
  for (const name of named) {
    const index = indices.find((one) => one.name === name);
    const its = owned.filter((one) => one.derivation.adapter === name);
    if (index !== undefined && (await purge(index, its))) for (const one of its) one.gone = true;
    else outstanding.push(name);
  }
  const receipt = {
    ...base,
    artefacts: distinct(owned.filter((one) => one.gone)),
    // An index that is not configured cannot be asked.
    adapters: named.filter((name) => indices.some((one) => one.name === name)),
    outstanding,
    completedAt: outstanding.length === 0 ? now : null,
    complete: outstanding.length === 0,
  };
  const [first] = outstanding;
  if (first !== undefined) throw new PartialErasureError("not reached", { adapter: first, receipt });
  return receipt;
}

function isMeant(
  one: Derivation,
  kinds: readonly MemoryKind[] | undefined,
  keys: readonly string[] | undefined,
  meant: readonly Row[],
): boolean {
  if (kinds !== undefined && !kinds.includes(one.sourceKind)) return false;
  return (
    keys === undefined ||
    meant.some((row) => row.kind === one.sourceKind && row.id === one.sourceId && byScope(row.scope, one.scope) === 0)
  );
}

function isShared(one: Registration, others: readonly Registration[], all: readonly Registration[]): boolean {
  const same = (other: Registration) =>
    other.derivation.scope.tenantId === one.derivation.scope.tenantId &&
    other.derivation.adapter === one.derivation.adapter &&
    other.derivation.artefactId === one.derivation.artefactId;
  const mixes = all.some((other) => !other.gone && same(other) && other.derivation.mixes);
  return !mixes && others.some((other) => same(other) && byScope(other.derivation.scope, one.derivation.scope) !== 0);
}

function distinct(registrations: readonly Registration[]): number {
  return new Set(registrations.map(({ derivation }) => JSON.stringify([derivation.adapter, derivation.artefactId])))
    .size;
}

async function purge(index: DerivedIndex, registrations: readonly Registration[]): Promise<boolean> {
  const scopes = registrations.map((one) => one.derivation.scope);
  const places = scopes.filter((scope, at) => scopes.findIndex((other) => byScope(other, scope) === 0) === at);
  let isDone = true;
  for (const scope of places) {
    const its = registrations.filter((one) => byScope(one.derivation.scope, scope) === 0);
    try {
      const ids = [...new Set(its.map((one) => one.derivation.artefactId))];
      await index.purge(scope, ids, { signal: new AbortController().signal });
    } catch {
      isDone = false;
    }
  }
  return isDone;
}
