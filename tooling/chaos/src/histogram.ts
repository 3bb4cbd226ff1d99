// Durations counted in buckets of equal ratio: quantiles to within 5 %, in a few numbers that can be added up.

/** Each bucket is so much longer than the one before. */
const RATIO = 1.05;
const LEAST_MS = 0.05;

/** Durations, counted. */
export class Histogram {
  readonly #counts: Map<number, number> = new Map();
  #total = 0;

  /** How many there are. */
  get total(): number {
    return this.#total;
  }

  add(ms: number, count = 1): void {
    const bucket = Math.max(0, Math.ceil(Math.log(Math.max(ms, LEAST_MS) / LEAST_MS) / Math.log(RATIO)));
    this.#counts.set(bucket, (this.#counts.get(bucket) ?? 0) + count);
    this.#total += count;
  }

  /** Adds what another counted. */
  merge(entries: readonly (readonly [ms: number, count: number])[]): void {
    for (const [ms, count] of entries) this.add(ms, count);
  }

  /** Bucket by bucket: a duration in it, and how many there are. */
  entries(): readonly (readonly [ms: number, count: number])[] {
    return [...this.#counts].sort(([a], [b]) => a - b).map(([bucket, count]) => [msOf(bucket), count]);
  }

  /** The duration that so great a part does not exceed, in milliseconds; 0 where there is none. */
  quantile(part: number): number {
    let rest = Math.ceil(this.#total * part);
    for (const [ms, count] of this.entries()) {
      rest -= count;
      if (rest <= 0) return ms;
    }
    return 0;
  }
}

// Just inside of the bucket's end, so that it counts into the same one again.
function msOf(bucket: number): number {
  return LEAST_MS * RATIO ** (bucket - 0.01);
}
