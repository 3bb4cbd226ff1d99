// Columns side by side: each round runs every column once, in turn, so that what disturbs the machine disturbs them all.
// The timing of a column is tinybench's; what is ours is the interleaving, the medians and the judging of targets.

import { Bench } from "tinybench";

/** One way of doing the work. */
export interface Column {
  readonly name: string;
  /** The work, once. Repeated as often as fits the round, or done once a round (`compareOnce`). */
  readonly run: () => unknown;
  /** How many operations one `run` is (64 callers with 8 each: 512); default 1. */
  readonly operations?: number;
  /** Before each round, outside the timing: brings the data to where the round starts. */
  readonly prepare?: () => Promise<void>;
  /** What this column is to reach. */
  readonly targets?: readonly Target[];
}

/** What a column is to reach, compared with another one round by round. */
export type Target =
  /** Its p50 is at most so many times the other's. */
  | { readonly against: string; readonly most: number }
  /** Its operations a second are at least so many times the other's. */
  | { readonly against: string; readonly least: number };

/** How a target came out. Printed and kept; no figure fails a run. */
export interface Verdict {
  readonly what: string;
  readonly value: number;
  readonly isMet: boolean;
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
  readonly verdicts: readonly Verdict[];
}

/** How long a comparison runs. */
export interface Pace {
  /** Default 7. */
  readonly rounds?: number;
  /** Milliseconds a column gets in a round; default 200. */
  readonly roundMs?: number;
}

/** Runs the columns interleaved; the first one is what the others are compared with. */
export async function compare(title: string, columns: readonly Column[], pace: Pace = {}): Promise<Table> {
  const { rounds = 7, roundMs = 200 } = pace;
  return inRounds(title, columns, rounds, (column) => sample(column, roundMs));
}

/**
 * The same for work that can be done only once on what `prepare` laid out, such as an erasure: one run a round. The
 * rounds are the samples, so that p99 is the worst of them.
 */
export async function compareOnce(title: string, columns: readonly Column[], rounds = 7): Promise<Table> {
  return inRounds(title, columns, rounds, once);
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

async function inRounds(
  title: string,
  columns: readonly Column[],
  rounds: number,
  take: (column: Column) => Promise<Sample>,
): Promise<Table> {
  const samples = new Map(columns.map(({ name }): [string, Sample[]] => [name, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const column of columns) {
      await column.prepare?.();
      samples.get(column.name)?.push(await take(column));
    }
  }
  const first = columns[0]?.name ?? "";
  const ratio = (name: string, against: string, of: "p50" | "perSecond"): number => {
    const base = samples.get(against) ?? [];
    return median((samples.get(name) ?? []).map((one, round) => one[of] / (base[round]?.[of] ?? Number.NaN)));
  };
  return {
    title,
    rounds,
    figures: columns.map(({ name }): Figure => {
      const own = samples.get(name) ?? [];
      return {
        name,
        p50: median(own.map((one) => one.p50)),
        p99: take === once ? Math.max(...own.map((one) => one.p99)) : median(own.map((one) => one.p99)),
        perSecond: median(own.map((one) => one.perSecond)),
        ratio: ratio(name, first, "p50"),
      };
    }),
    verdicts: columns.flatMap(({ name, targets = [] }) =>
      targets.map((target): Verdict => {
        if ("most" in target) {
          const value = ratio(name, target.against, "p50");
          return {
            what: `${name}: p50 at most ${target.most} x ${target.against}`,
            value,
            isMet: value <= target.most,
          };
        }
        const value = ratio(name, target.against, "perSecond");
        const what = `${name}: ops/s at least ${target.least} x ${target.against}`;
        return { what, value, isMet: value >= target.least };
      }),
    ),
  };
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

async function once({ run, operations = 1 }: Column): Promise<Sample> {
  const start = performance.now();
  await run();
  const micros = ((performance.now() - start) * 1_000) / operations;
  return { p50: micros, p99: micros, perSecond: 1_000_000 / micros };
}
