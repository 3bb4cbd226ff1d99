// What the series of a soak comes to: whether memory and handles stay, and what callers wait while nothing is wrong, beside
// the time before anything was.

import { Histogram } from "./histogram.ts";
import type { Sample } from "./soak-client.ts";

/** What a second was: before everything, without any fault, during a failover, or between two of them. */
export type Phase = "warm-up" | "calm" | "failing" | "healthy";

/** A second of the series. */
export interface Point extends Sample {
  readonly second: number;
  readonly phase: Phase;
}

/** The figures. */
export interface SoakFigures {
  readonly seconds: number;
  readonly failovers: number;
  readonly acknowledged: number;
  readonly refused: number;
  /** Milliseconds: without faults, between failovers, during failovers. */
  readonly p50Ms: Readonly<Record<"calm" | "healthy" | "failing", number>>;
  readonly p99Ms: Readonly<Record<"calm" | "healthy" | "failing", number>>;
  /** Between failovers, over without faults: to stay under 2. */
  readonly p99Ratio: number;
  /** The last quarter over the second one, medians: to stay about 1. */
  readonly rssRatio: number;
  readonly heapRatio: number;
  readonly handlesRatio: number;
  readonly flaws: readonly string[];
}

/** What must hold, and does not. */
export function failuresOf(figures: SoakFigures): readonly string[] {
  return [
    ...(figures.p99Ratio > 2 ? [`p99 while healthy is ${figures.p99Ratio.toFixed(2)} times that without faults`] : []),
    ...(figures.rssRatio > 1.1 ? [`resident memory grew to ${figures.rssRatio.toFixed(2)} times`] : []),
    ...(figures.heapRatio > 1.25 ? [`the heap grew to ${figures.heapRatio.toFixed(2)} times`] : []),
    ...(figures.handlesRatio > 1.1 ? [`handles grew to ${figures.handlesRatio.toFixed(2)} times`] : []),
    ...figures.flaws,
  ];
}

/** Adds a series up. */
export function figuresOf(points: readonly Point[], failovers: number): SoakFigures {
  const of = (phase: Phase, part: number): number => {
    const all = new Histogram();
    for (const point of points) if (point.phase === phase) all.merge(point.durations);
    return all.quantile(part);
  };
  const inPhases = (part: number) => ({
    calm: of("calm", part),
    healthy: of("healthy", part),
    failing: of("failing", part),
  });
  const quarter = (number: number): readonly Point[] =>
    points.slice(Math.floor((points.length * number) / 4), Math.floor((points.length * (number + 1)) / 4));
  const ratio = (what: (point: Point) => number): number => median(quarter(3).map(what)) / median(quarter(1).map(what));
  const p99Ms = inPhases(0.99);
  return {
    seconds: points.length,
    failovers,
    acknowledged: points.reduce((sum, point) => sum + point.acknowledged, 0),
    refused: points.reduce((sum, point) => sum + point.refused, 0),
    p50Ms: inPhases(0.5),
    p99Ms,
    p99Ratio: p99Ms.healthy / p99Ms.calm,
    rssRatio: ratio(({ rssBytes }) => rssBytes),
    heapRatio: ratio(({ heapBytes }) => heapBytes),
    handlesRatio: ratio(({ handles }) => handles),
    flaws: [...new Set(points.flatMap(({ flaws }) => flaws))],
  };
}

/** A quantile of one second. */
export function quantileOf({ durations }: Sample, part: number): number {
  const all = new Histogram();
  all.merge(durations);
  return all.quantile(part);
}

// The middle one.
function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
