// What a profile answers: beliefs, contradictions, and what a write did. Types only; how they come about is in rules.

import type { MemoryRecord } from "./record.ts";
import type { MemoryScope } from "./scope.ts";

/** What is held about one key at one instant. */
export interface Belief {
  readonly scope: MemoryScope;
  readonly key: string;
  /** The one live record that is recalled; `null` where there is none, or where several disagree. */
  readonly record: MemoryRecord | null;
  /** The record's weight by the store's decay policy, 0..1; 0 where `record` is `null`. */
  readonly weight: number;
  /** The live records that disagree, or `null`. */
  readonly contradiction: Contradiction | null;
  /** Live records that have decayed to weight 0: kept, but not recalled. */
  readonly decayed: readonly MemoryRecord[];
}

/** A page of beliefs. */
export interface BeliefPage {
  readonly beliefs: readonly Belief[];
  readonly cursor: string | null;
}

/** Facts under one key that are live at the same time. */
export interface Contradiction {
  /** Whom they speak about, when it is one subject. */
  readonly subject: string | null;
  /** Every predicate that any of them names, once each, in byte order. */
  readonly aspects: readonly string[];
  /** The records, in the order of their lineages. */
  readonly holds: readonly MemoryRecord[];
}

/** What a belief write did. */
export interface Supersession {
  /** The record as stored: masked, numbered, dated. */
  readonly record: MemoryRecord;
  /** The version that held at the new `validFrom` and now ends there, or `null`. */
  readonly superseded: MemoryRecord | null;
  /** Whether it continued a lineage, started another beside those there, or started the key. */
  readonly resolution: "supersede" | "branch" | "started";
  /** What disagrees now that it is written, or `null`. */
  readonly contradiction: Contradiction | null;
}
