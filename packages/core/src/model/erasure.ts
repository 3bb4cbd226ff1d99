// What an erasure says and what it reaches beyond the store: receipts, derived artefacts and the indices that hold them.

import type { EpochMs, MemoryKind } from "./record.ts";
import type { MemoryScope } from "./scope.ts";

/**
 * What an erasure did, or (a dry run) would do. Counts are of every version, and exact.
 *
 * @sealed a minor may add what it says.
 */
export interface ErasureReceipt {
  /** Records per kind; a kind of which nothing was erased is absent. */
  readonly counts: Readonly<Partial<Record<MemoryKind, number>>>;
  /** The sum of `counts`. */
  readonly records: number;
  /** Derived artefacts purged. */
  readonly artefacts: number;
  /** Derived artefacts kept because another scope of the tenant also registered them and they mix nothing. */
  readonly sharedArtefacts: number;
  /** Every derived index that was asked to purge, in byte order. */
  readonly adapters: readonly string[];
  /** Every derived index (or member store) still to be reached, in byte order. */
  readonly outstanding: readonly string[];
  /** When everything was done, or `null`. */
  readonly completedAt: EpochMs | null;
  readonly complete: boolean;
  readonly dryRun: boolean;
}

/** Something built from a record and kept elsewhere: an embedding, a summary, a cache entry. */
export interface Derivation {
  readonly scope: MemoryScope;
  /** The artefact's id in the derived index. */
  readonly artefactId: string;
  readonly sourceKind: MemoryKind;
  /** The id of the record that it was built from. */
  readonly sourceId: string;
  /** The name of the {@link DerivedIndex} that holds it. */
  readonly adapter: string;
  /** Whether the artefact mixes the content of several scopes, so that no other scope's registration can keep it. */
  readonly mixes: boolean;
}

/** A page of derivations. */
export interface DerivationPage {
  readonly derivations: readonly Derivation[];
  readonly cursor: string | null;
}

/** A place outside the store that holds what was built from its records, and can purge it. */
export interface DerivedIndex {
  /** The name under which artefacts are registered (`Derivation.adapter`). */
  readonly name: string;
  /**
   * Removes the artefacts of this scope. Must be idempotent: an id that is not there is done. Called with at most 1,000
   * ids a time; a rejection, or silence beyond the deadline (`signal` aborts then), leaves the erasure partial.
   */
  purge(scope: MemoryScope, artefactIds: readonly string[], options: { readonly signal: AbortSignal }): Promise<void>;
}
