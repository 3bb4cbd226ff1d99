// Columns side by side: each round runs every column once, in turn, so that what disturbs the machine disturbs them all.
// The timing of a column is tinybench's; what is ours is the interleaving and the medians.

import { Bench } from "tinybench";

/** One way of doing the work. */
export interface Column {
  readonly name: string;
  /** The work, once. Repeated as often as fits the round. */
  readonly run: () => unknown;
  /** How many operations one `run` is (64 callers at once: 64); default 1. */
  readonly operations?: number;
}

/** What a column took: microseconds an operation. */
export interface Figure {
  readonly name: string;
  /** The median over the rounds of the rounds' median. */
  readonly p50: number;
  /** The median over the rounds of the rounds' 99th percentile. */
  readonly p99: number;
  /** Operations a second, the median over the rounds. */
  readonly perSecond: number;
  /** The median of (this column / first column), round by round, of the p50. */
  readonly ratio: number;
}

/** A table of figures, as it is printed and kept. */
export interface Table {
  readonly title: string;
  readonly rounds: number;
  readonly figures: readonly Figure[];
}

/** Runs the columns interleaved; the first one is what the others are compared with. */
export async function compare(
  title: string,
  columns: readonly Column[],
  options: { readonly rounds?: number; readonly roundMs?: number } = {},
): Promise<Table> {
  const { rounds = 7, roundMs = 200 } = options;
  const samples = columns.map((): Sample[] => []);
  for (let round = 0; round < rounds; round += 1) {
    for (const [index, column] of columns.entries()) samples[index]?.push(await sample(column, roundMs));
  }
  const base = samples[0] ?? [];
  const figures = columns.map(({ name }, index): Figure => {
    const own = samples[index] ?? [];
    return {
      name,
      p50: median(own.map((one) => one.p50)),
      p99: median(own.map((one) => one.p99)),
      perSecond: median(own.map((one) => one.perSecond)),
      ratio: median(own.map((one, round) => one.p50 / (base[round]?.p50 ?? Number.NaN))),
    };
  });
  return { title, rounds, figures };
}

/** The middle value (the upper one of two). */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

interface Sample {
  readonly p50: number;
  readonly p99: number;
  readonly perSecond: number;
}

async function sample({ name, run, operations = 1 }: Column, roundMs: number): Promise<Sample> {
  const bench = new Bench({ time: roundMs, warmupTime: roundMs / 5, iterations: 16 });
  bench.add(name, async () => {
    await run();
  });
  const [task] = await bench.run();
  const result = task?.result;
  if (result?.state !== "completed") throw new Error(`the column ${name} did not complete`, { cause: result });
  const { latency, throughput } = result;
  return {
    p50: (latency.p50 * 1_000) / operations,
    p99: (latency.p99 * 1_000) / operations,
    perSecond: throughput.p50 * operations,
  };
}
