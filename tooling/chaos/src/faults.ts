// Every fault of the plans: what it is done to, how long it lasts, and what is promised under it. Where a promise is less
// than the whole, it is what the documentation of the store says, and the checker excuses that and nothing else.

import type { Dice } from "./dice.ts";

/** What a fault is done to; faults of one lane come one after the other, those of different lanes at the same time. */
export type Lane = "redis" | "postgres" | "client";

/** What is promised under a fault beside what always is (typed errors, whole effects, no other scope's data). */
export type Mode =
  /** Nothing acknowledged is lost. */
  | "whole"
  /** Asynchronous replication: what had not reached the replicas is lost, erasures too (docs/redis.md, Failovers). */
  | "replicated"
  /** Eviction: working records may be absent, never un-erased (docs/redis.md, Eviction). */
  | "evicted";

/** A kind of fault. */
export interface FaultKind {
  /** How long it lasts, in milliseconds, at least and at most. */
  readonly ms: readonly [number, number];
  /** How often it is chosen, beside the others of its lane. */
  readonly weight: number;
  readonly mode: Mode;
  /** It can be done once in a run: nobody follows the one that was promoted. */
  readonly isOnce?: true;
}

const brief: readonly [number, number] = [50, 500];
// Longer than an attempt may take, so that attempts are given up.
const long: readonly [number, number] = [200, 2_500];

const network: Readonly<Record<string, FaultKind>> = {
  delay: { ms: long, weight: 1, mode: "whole" },
  cut: { ms: brief, weight: 1, mode: "whole" },
  reset: { ms: brief, weight: 1, mode: "whole" },
  "half-close": { ms: brief, weight: 1, mode: "whole" },
  silence: { ms: long, weight: 1, mode: "whole" },
  "black-hole": { ms: long, weight: 1, mode: "whole" },
  refuse: { ms: long, weight: 1, mode: "whole" },
  swallow: { ms: long, weight: 1.5, mode: "whole" },
};

const processes: Readonly<Record<string, FaultKind>> = {
  kill: { ms: long, weight: 1, mode: "whole" },
  restart: { ms: brief, weight: 1, mode: "whole" },
  pause: { ms: long, weight: 1, mode: "whole" },
};

/** Every kind, by what it is done to. */
export const FAULTS: Readonly<Record<Lane, Readonly<Record<string, FaultKind>>>> = {
  redis: {
    ...network,
    ...processes,
    "lose-replies": { ms: long, weight: 2, mode: "whole" },
    "lose-requests": { ms: long, weight: 1, mode: "whole" },
    "forget-scripts": { ms: [0, 0], weight: 0.5, mode: "whole" },
    oom: { ms: brief, weight: 1, mode: "whole" },
    crowd: { ms: brief, weight: 1, mode: "whole" },
    busy: { ms: [300, 1_200], weight: 0.5, mode: "whole" },
    evict: { ms: brief, weight: 0.7, mode: "evicted" },
    mute: { ms: long, weight: 1, mode: "whole" },
    failover: { ms: brief, weight: 2, mode: "replicated" },
    split: { ms: brief, weight: 1, mode: "replicated" },
  },
  postgres: {
    ...network,
    ...processes,
    terminate: { ms: brief, weight: 1, mode: "whole" },
    cancel: { ms: brief, weight: 0.5, mode: "whole" },
    lock: { ms: long, weight: 1, mode: "whole" },
    crowd: { ms: brief, weight: 0.7, mode: "whole" },
    "disk-full": { ms: [300, 1_500], weight: 2, mode: "whole" },
    pooler: { ms: brief, weight: 1.5, mode: "whole" },
    promote: { ms: brief, weight: 1.5, mode: "whole", isOnce: true },
  },
  client: {
    "kill-client": { ms: [0, 300], weight: 1, mode: "whole" },
    "pause-client": { ms: [100, 1_200], weight: 0.7, mode: "whole" },
    "clock-back": { ms: [200, 2_000], weight: 1, mode: "whole" },
    "clock-forth": { ms: [200, 2_000], weight: 1, mode: "whole" },
    "index-down": { ms: [200, 2_000], weight: 1, mode: "whole" },
  },
};

/** A fault of a plan: after `waitMs` without one in its lane, this kind for `ms`. */
export interface PlannedFault {
  readonly lane: Lane;
  readonly kind: string;
  readonly waitMs: number;
  readonly ms: number;
  /** Chooses among what it can be done to. */
  readonly number: number;
}

/** Draws one fault of this kind. */
export function drawFault(dice: Dice, lane: Lane, kind: string): PlannedFault {
  const [least, most] = FAULTS[lane][kind]?.ms ?? brief;
  return { lane, kind, waitMs: dice.between(100, 700), ms: dice.between(least, most), number: dice.below(1 << 16) };
}
