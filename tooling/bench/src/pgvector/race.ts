// Columns of a search side by side: in every turn each column answers one query, so that what disturbs the machine disturbs them
// all; and no two of them the same one, if there are as many queries as columns, or a column would find in the processor's caches
// what another has just read of an index that both go by. In the end every column has answered every query. Each answer is
// judged against the truth.

import { printRows } from "../report.ts";
import { type Figure, median, type Table, type Verdict } from "../rounds.ts";
import { randomOf } from "../vectors.ts";
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

/** Queries that go unmeasured through each column first, a fifth at the most: what a scope's part of an index has is cold before. */
const WARM = 100;
/** In how many parts the queries count as rounds. */
const ROUNDS = 10;
const LEAST_RECALL = 0.99;
const MOST_OF_FASTEST = 1.15;

/** A sort of query: the columns are the same for all sorts that are raced together. */
export interface Heat {
  readonly title: string;
  readonly asks: readonly Ask[];
}

/**
 * Runs the columns; a table for each heat. The targets: all rows, recall, order, and a p50 beside the fastest raw column that
 * qualifies in every heat.
 */
export async function race(racers: readonly Racer[], heats: readonly Heat[]): Promise<readonly SearchTable[]> {
  const runs: (readonly Run[])[] = [];
  for (const { asks } of heats) runs.push(await runAll(racers, asks));
  const figures = runs.map((of) => of.map((run) => figureOf(run, of[0])));
  const isFit = racers.map(({ isOurs }, index) => isOurs !== true && figures.every((of) => qualifies(of[index])));
  return heats.map(({ title, asks }, heat) => ({
    title,
    rounds: ROUNDS,
    queries: asks.length,
    figures: figures[heat] ?? [],
    verdicts: verdicts(racers, runs[heat] ?? [], figures[heat] ?? [], isFit),
  }));
}

/** Prints every target of these tables that was not met, and how many were. */
export function printSummary(tables: readonly Table[]): void {
  const all = tables.flatMap(({ title, verdicts: of }) => of.map((verdict) => ({ title, ...verdict })));
  if (all.length === 0) return;
  const missed = all.filter(({ isMet }) => !isMet);
  console.log(`\n${all.length - missed.length} of ${all.length} targets met; not met:`);
  printRows(
    missed.length === 0 ? [["none"]] : missed.map(({ title, what, value }) => [title, value.toFixed(3), what]),
    [2],
  );
}

interface Run {
  readonly name: string;
  readonly times: number[];
  readonly rows: number[];
  readonly recall: number[];
  readonly isInOrder: boolean[];
}

async function runAll(racers: readonly Racer[], asks: readonly Ask[]): Promise<readonly Run[]> {
  for (const ask of asks.slice(0, Math.min(WARM, Math.ceil(asks.length / 5))))
    for (const racer of racers) await racer.search(ask);
  const entries = racers.map((racer, column) => ({ racer, run: emptyRun(racer.name), column }));
  const apart = Math.max(1, Math.floor(asks.length / entries.length));
  const random = randomOf(asks.length);
  for (const turn of asks.keys()) {
    for (const { racer, run, column } of shuffled(entries, random)) {
      const ask = asks[(turn + column * apart) % asks.length];
      if (ask === undefined) continue;
      const start = performance.now();
      const answer = await racer.search(ask);
      run.times.push((performance.now() - start) * 1_000);
      const { rows, recall, isInOrder } = judge(ask, answer);
      run.rows.push(ask.count === 0 ? 1 : rows / ask.count);
      run.recall.push(recall);
      run.isInOrder.push(isInOrder);
    }
  }
  return entries.map(({ run }) => run);
}

// Nobody comes after the same one each time.
function shuffled<T>(values: readonly T[], random: () => number): readonly T[] {
  return values
    .map((value) => ({ value, place: random() }))
    .sort((a, b) => a.place - b.place)
    .map(({ value }) => value);
}

function emptyRun(name: string): Run {
  return { name, times: [], rows: [], recall: [], isInOrder: [] };
}

function figureOf({ name, times, rows, recall, isInOrder }: Run, first: Run | undefined): SearchFigure {
  return {
    name,
    p50: median(times),
    p99: at(times, 0.99),
    perSecond: 1_000_000 / mean(times),
    ratio: ratio(times, first?.times ?? []),
    rows: mean(rows),
    leastRows: Math.min(...rows),
    recall: mean(recall),
    inOrder: isInOrder.filter(Boolean).length / isInOrder.length,
  };
}

// Whether a column gives every row, and recall enough.
function qualifies(figure: SearchFigure | undefined): boolean {
  return figure !== undefined && figure.leastRows >= 1 && figure.recall >= LEAST_RECALL;
}

function verdicts(
  racers: readonly Racer[],
  runs: readonly Run[],
  figures: readonly SearchFigure[],
  isFit: readonly boolean[],
): readonly Verdict[] {
  const [fastest] = figures.filter((_, index) => isFit[index]).sort((a, b) => a.p50 - b.p50);
  const against = runs.find(({ name }) => name === fastest?.name);
  return figures.flatMap(({ name, leastRows, recall, inOrder }, index): Verdict[] => {
    if (racers[index]?.isOurs !== true) return [];
    const own = [
      { what: `${name}: every row that there is`, value: leastRows, isMet: leastRows === 1 },
      { what: `${name}: recall at least ${LEAST_RECALL}`, value: recall, isMet: recall >= LEAST_RECALL },
      { what: `${name}: the exact order`, value: inOrder, isMet: inOrder === 1 },
    ];
    if (against === undefined) return own;
    const value = ratio(runs[index]?.times ?? [], against.times);
    const what = `${name}: p50 at most ${MOST_OF_FASTEST} x the fastest that qualifies, ${against.name}`;
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
