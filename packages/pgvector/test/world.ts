// Vectors that gather in topics, from a seed; and the exact answer to a search of them, by the plainest means there are.

import type { MemoryHit, Metric } from "@memory/core";

/** A record as a test knows it. */
export interface Point {
  readonly key: string;
  readonly vector: readonly number[];
}

/** Numbers from 0 to 1, the same for the same seed (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Vectors of these topics, of lengths between 0.5 and 2. */
export function vectorsOf(
  width: number,
  count: number,
  topics: readonly number[],
  seed: number,
): readonly (readonly number[])[] {
  const random = randomOf(seed);
  const centres = topics.map((topic) => {
    const own = randomOf(1_000 + topic);
    return Array.from({ length: width }, () => own() - 0.5);
  });
  return Array.from({ length: count }, () => {
    const centre = centres[Math.floor(random() * centres.length)] ?? [];
    const raw = centre.map((value) => value + (random() - 0.5) * 0.8);
    const length = (0.5 + 1.5 * random()) / Math.hypot(...raw);
    return raw.map((value) => Math.fround(value * length));
  });
}

/** The score of one vector for another. */
function scoreBy(metric: Metric, a: readonly number[], b: readonly number[]): number {
  let [product, square] = [0, 0];
  for (const [index, value] of a.entries()) {
    const other = b[index] ?? 0;
    product += value * other;
    square += (value - other) ** 2;
  }
  if (metric === "inner") return 1 + product;
  return metric === "l2" ? 1 - Math.sqrt(square) : product / (Math.hypot(...a) * Math.hypot(...b));
}

/** What is wrong with an answer, the exact one being known: too few, or something at a place whose score is not that place's. */
export function faultsOf(
  hits: readonly MemoryHit[],
  points: readonly Point[],
  query: readonly number[],
  metric: Metric,
  limit: number,
): readonly string[] {
  const exact = points
    .map(({ key, vector }) => ({ key, score: scoreBy(metric, vector, query) }))
    .sort((a, b) => b.score - a.score || (a.key < b.key ? -1 : 1))
    .slice(0, limit);
  const own = new Map(points.map(({ key, vector }) => [key, vector]));
  const count = hits.length === exact.length ? [] : [`${hits.length} rows of ${exact.length}`];
  return [
    ...count,
    ...hits.flatMap((hit, place) => {
      // As closely as sums of float32 tell.
      const score = scoreBy(metric, own.get(hit.record.key) ?? [], query);
      const noise = 1e-5 * Math.max(1, Math.abs(score));
      const isRight = Math.abs(score - (exact[place]?.score ?? 0)) <= noise && Math.abs(score - hit.score) <= noise;
      return isRight ? [] : [`place ${place}: ${hit.record.key} scores ${score}, not ${exact[place]?.score}`];
    }),
  ];
}

/** How many of the exact answer's places are taken by what scores less than its last, or by nothing. */
export function missedBy(
  hits: readonly MemoryHit[],
  points: readonly Point[],
  query: readonly number[],
  metric: Metric,
  limit: number,
): number {
  const scores = points.map(({ vector }) => scoreBy(metric, vector, query)).sort((a, b) => b - a);
  const least = (scores[Math.min(limit, scores.length) - 1] ?? 0) - 1e-5;
  return Math.min(limit, scores.length) - hits.filter(({ score }) => score >= least).length;
}
