// How much a fact still counts as it ages. Decay weighs and never deletes: a record of weight 0 is not recalled, but it is
// listed in `Belief.decayed` and in the history.

import { MemorySettingsError } from "../model/errors.ts";
import type { EpochMs, MemoryRecord } from "../model/record.ts";

/** Weighs a live record at an instant. */
export interface DecayPolicy {
  /** 0..1; 0 is not recalled. Values outside are clamped; one that is no number counts as 1. */
  weigh(record: MemoryRecord, at: EpochMs): number;
}

/** Halves the weight with every `halfLifeMs` since `validFrom`; below `floor` it is 0. A fact of the future weighs 1. */
export class HalfLife implements DecayPolicy {
  readonly #halfLifeMs: number;
  readonly #floor: number;

  /** @throws {MemorySettingsError} `halfLifeMs` is not a positive number, or `floor` not within 0..1. */
  constructor(options: { readonly halfLifeMs: number; readonly floor?: number }) {
    const { halfLifeMs, floor = 0 } = options;
    if (!(Number.isFinite(halfLifeMs) && halfLifeMs > 0)) {
      throw new MemorySettingsError("halfLifeMs is not a positive number of milliseconds", { setting: "halfLifeMs" });
    }
    if (!isShare(floor)) {
      throw new MemorySettingsError("floor is not a number from 0 to 1", { setting: "floor" });
    }
    this.#halfLifeMs = halfLifeMs;
    this.#floor = floor;
  }

  weigh(record: MemoryRecord, at: EpochMs): number {
    const ageMs = Math.max(0, at - (record.validFrom ?? at));
    const weight = 0.5 ** (ageMs / this.#halfLifeMs);
    return weight < this.#floor ? 0 : weight;
  }
}

/** Recalls only what was recorded with at least `minimum` confidence; the weight is the confidence. */
export class ConfidenceFloor implements DecayPolicy {
  readonly #minimum: number;

  /** @throws {MemorySettingsError} `minimum` is not within 0..1. */
  constructor(options: { readonly minimum: number }) {
    const { minimum } = options;
    if (!isShare(minimum)) {
      throw new MemorySettingsError("minimum is not a number from 0 to 1", { setting: "minimum" });
    }
    this.#minimum = minimum;
  }

  weigh(record: MemoryRecord): number {
    return record.confidence < this.#minimum ? 0 : record.confidence;
  }
}

function isShare(value: unknown): value is number {
  return typeof value === "number" && value >= 0 && value <= 1;
}

/** The weight by a policy (1 without one), made safe: within 0..1, and no broken policy hides a fact. */
export function weigh(policy: DecayPolicy | undefined, record: MemoryRecord, at: EpochMs): number {
  if (policy === undefined) return 1;
  const weight = policy.weigh(record, at);
  return Number.isFinite(weight) ? Math.min(1, Math.max(0, weight)) : 1;
}
