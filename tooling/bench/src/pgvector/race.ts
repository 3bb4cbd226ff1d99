// Columns of a search side by side: every query goes through every column before the next one does, so that what disturbs the
// machine disturbs them all. Each answer is judged against the truth.

import { type Figure, median, type Table, type Verdict } from "../rounds.ts";
import type { Ask } from "./truth.ts";
import { judge } from "./truth.ts";

/** A way of searching, ready: it gives the names of what comes back, closest first. */
export interface Racer {
  readonly name: string;
  readonly search: (ask: Ask) => Promise<readonly string[]>;
  /** Whether its p50 is held against that of the fastest raw column that qualifies. */
  readonly isOurs?: true;
}

/** What a column came to; microseconds. */
export interface SearchFigure extends Figure {
  /** Rows back of those that were to come, on average, and at the least. */
  readonly rows: number;
  readonly leastRows: number;
  readonly recall: number;
  /** The part of the answers whose order is the exact one. */
  readonly inOrder: number;
}

/** A table of searches. */
export interface SearchTable extends Table {
  readonly figures: readonly SearchFigure[];
  readonly queries: number;
}

/** Queries that go unmeasured through each column first. */
const WARM = 10;
/** In how many parts the queries count as rounds. */
const ROUNDS = 10;
const LEAST_RECALL = 0.99;
const MOST_OF_FASTEST = 1.15;

/** Runs the columns; the targets are the issue's: all rows, recall, order, and p50 beside the fastest that qualifies. */
export async function race(title: string, racers: readonly Racer[], asks: readonly Ask[]): Promise<SearchTable> {
  for (const ask of asks.slice(0, WARM)) for (const racer of racers) await racer.search(ask);
  const runs = racers.map(() => ({ times: [] as number[], rows: [] as number[], recall: [] as number[], inOrder: 0 }));
  for (const [turn, ask] of asks.entries()) {
    for (let step = 0; step < racers.length; step += 1) {
      const index = (turn + step) % racers.length;
      const run = runs[index];
      const racer = racers[index];
      if (run === undefined || racer === undefined) continue;
      const start = performance.now();
      const answer = await racer.search(ask);
      run.times.push((performance.now() - start) * 1_000);
      const { rows, recall, isInOrder } = judge(ask, answer);
      run.rows.push(ask.count === 0 ? 1 : rows / ask.count);
      run.recall.push(recall);
      if (isInOrder) run.inOrder += 1;
    }
  }
  const figures = racers.map(({ name }, index): SearchFigure => {
    const { times = [], rows = [], recall = [], inOrder = 0 } = runs[index] ?? {};
    return {
      name,
      p50: median(times),
      p99: at(times, 0.99),
      perSecond: 1_000_000 / mean(times),
      ratio: ratio(times, runs[0]?.times ?? []),
      rows: mean(rows),
      leastRows: Math.min(...rows),
      recall: mean(recall),
      inOrder: inOrder / asks.length,
    };
  });
  return { title, rounds: ROUNDS, queries: asks.length, figures, verdicts: verdicts(racers, runs, figures) };
}

// Whether a column gives every row, and recall enough.
function qualifies({ leastRows, recall }: SearchFigure): boolean {
  return leastRows >= 1 && recall >= LEAST_RECALL;
}

function verdicts(
  racers: readonly Racer[],
  runs: readonly { readonly times: readonly number[] }[],
  figures: readonly SearchFigure[],
): readonly Verdict[] {
  const raw = figures.filter((figure, index) => racers[index]?.isOurs !== true && qualifies(figure));
  const fastest = raw.sort((a, b) => a.p50 - b.p50)[0];
  return racers.flatMap(({ name, isOurs }, index): Verdict[] => {
    const figure = figures[index];
    if (isOurs !== true || figure === undefined) return [];
    const { leastRows, recall, inOrder } = figure;
    const own = [
      { what: `${name}: every row that there is`, value: leastRows, isMet: leastRows === 1 },
      { what: `${name}: recall at least ${LEAST_RECALL}`, value: recall, isMet: recall >= LEAST_RECALL },
      { what: `${name}: the exact order`, value: inOrder, isMet: inOrder === 1 },
    ];
    if (fastest === undefined) return own;
    const against = runs[racers.findIndex((racer) => racer.name === fastest.name)]?.times ?? [];
    const value = ratio(runs[index]?.times ?? [], against);
    const what = `${name}: p50 at most ${MOST_OF_FASTEST} x the fastest that qualifies, ${fastest.name}`;
    return [...own, { what, value, isMet: value <= MOST_OF_FASTEST }];
  });
}

// The median of the rounds' own ratios.
function ratio(times: readonly number[], against: readonly number[]): number {
  const size = Math.max(1, Math.floor(times.length / ROUNDS));
  const parts: number[] = [];
  for (let from = 0; from + size <= times.length; from += size) {
    parts.push(median(times.slice(from, from + size)) / median(against.slice(from, from + size)));
  }
  return median(parts);
}

function at(times: readonly number[], part: number): number {
  return [...times].sort((a, b) => a - b)[Math.floor(times.length * part)] ?? Number.NaN;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
