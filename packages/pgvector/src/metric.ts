// The metrics as pgvector has them: the operator that gives a distance, and the operator classes of indexes that serve it.

import type { Metric } from "@memory/core/driver";

/** The metrics, by what an operator class is called after. */
export const METRICS: Readonly<Record<Metric, { readonly operator: string; readonly operatorClass: string }>> = {
  cosine: { operator: "<=>", operatorClass: "cosine" },
  l2: { operator: "<->", operatorClass: "l2" },
  inner: { operator: "<#>", operatorClass: "ip" },
};

/** Whether this names a metric. */
export function isMetric(name: unknown): name is Metric {
  return typeof name === "string" && Object.hasOwn(METRICS, name);
}

/**
 * The score of a distance. Sums of float32 beyond its range are infinite, and their differences no number: such a record
 * scores least.
 */
export function scoreOf(distance: number): number {
  return Number.isNaN(distance) ? Number.NEGATIVE_INFINITY : 1 - distance;
}
