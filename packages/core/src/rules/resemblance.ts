// How alike two vectors are, for a driver that ranks in this process. The scores are those of pgvector's operators, so that
// every store ranks alike.

import type { Metric } from "../model/driver.ts";

/** A vector as it is stored, ready to be compared many times. */
export interface Vector {
  /** Whole float32 values. */
  readonly floats: Float32Array;
  /** The Euclidean length. */
  readonly norm: number;
}

/** A vector of these components, each rounded to a float32. */
export function vectorOf(components: readonly number[] | Float32Array): Vector {
  const floats = components instanceof Float32Array ? components : Float32Array.from(components);
  return { floats, norm: Math.sqrt(inner(floats, floats)) };
}

/**
 * The score by this metric, for vectors of one width: 1 minus pgvector's distance, which is one minus the cosine, the
 * Euclidean distance, or the negative inner product. Greater is closer; only a cosine is bounded. A vector of length zero
 * has the cosine 0 with every other. Costs one pass over the components.
 *
 * @see https://github.com/pgvector/pgvector#querying
 */
export function resemblance(metric: Metric): (a: Vector, b: Vector) => number {
  return SCORES[metric];
}

const SCORES: Readonly<Record<Metric, (a: Vector, b: Vector) => number>> = {
  cosine: (a, b) => {
    const norms = a.norm * b.norm;
    // Rounding may carry a cosine beyond 1.
    return norms === 0 ? 0 : Math.max(-1, Math.min(1, inner(a.floats, b.floats) / norms));
  },
  l2: (a, b) => 1 - distance(a.floats, b.floats),
  inner: (a, b) => 1 + inner(a.floats, b.floats),
};

function distance(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let at = 0; at < a.length; at += 1) {
    const gap = (a[at] ?? 0) - (b[at] ?? 0);
    sum += gap * gap;
  }
  return Math.sqrt(sum);
}

function inner(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let at = 0; at < a.length; at += 1) sum += (a[at] ?? 0) * (b[at] ?? 0);
  return sum;
}
