// Which way a search goes, and when its answer is one: proven to be the exact one, or the exact one itself. What is not
// proven is looked for deeper, and in the end by looking at every record.

import type { NearestRequest, NearestRow } from "@memory/core/driver";
import { RECORD_COLUMNS, type Row, readRecord, type Statement } from "@memory/core/sql";
import type { Collection } from "./collection.ts";
import { scoreOf } from "./metric.ts";
import { hasFilter } from "./placeholders.ts";
import { FACT_COLUMNS, SMALL_SCOPE } from "./search-statements.ts";
import type { Sizes } from "./sizes.ts";
import { MOST_HALVES } from "./sketch.ts";
import type { VectorStatements } from "./statements.ts";

/** How many times the limit is looked at again where a few more were not enough; and within which bounds. */
const DEEPER = 20;
const DEEPER_UNDER_A_FILTER = 40;
const LEAST_DEEP = 200;
const MOST_DEEP = 5_000;
/** How many more than the limit are looked at first. */
const FIRST = 10;

/** What a search statement answered. */
interface Answer {
  readonly rows: readonly Row[];
  /** Nothing was left out that was not looked at. */
  readonly isWhole: boolean;
  /**
   * Of the first pass, what nothing else is closer than, or by signs is likely to be; of a graph, how much farther its answer is
   * than hits among themselves.
   */
  readonly highest: number | undefined;
  readonly third: number | undefined;
  /** Whether it was found out that the scope holds more than {@link SMALL_SCOPE}. */
  readonly isLarge: boolean;
}

/** From how many records on a graph is quicker than the first pass by half precision, and than that by signs. */
const LARGE_BY_HALVES = 2_500;
const LARGE_BY_SIGNS = 1_000;
/** Of a graph over everything a scope is found where it is no less than one in so many; and this is enough at any rate. */
const LEAST_SHARE = 50;
const LARGE_AT_ANY_RATE = 50_000;
/**
 * How many a graph is asked for: the first of these that is twice the limit. They are part of the statement, so they are few:
 * the planner takes a number that it does not know for a tenth of the table, and plans anew each time.
 */
const BY_GRAPH = 2;
const GRAPH_DEPTHS = [20, 50, 100, 200, 500, 1_000, 2_000] as const;
/**
 * How many times as far from what was asked as from each other the hits of a graph may be. Where something like it is known
 * they were 0.3 to 1.3 times as far (by l2, with lengths of all sorts, up to 1.65), elsewhere 1.5 to 5 times, in any number of
 * dimensions; and there a graph misses up to half of them.
 */
const MOST_FARTHER = 1.5;

/** Searches a collection by these statements. */
export async function search(
  { dimensions, metric }: Collection,
  { search: statements, place }: VectorStatements,
  sizes: Sizes,
  request: NearestRequest,
  run: (statement: Statement) => Promise<readonly Row[]>,
): Promise<readonly NearestRow[]> {
  const { limit, scope, reach } = request;
  const isFiltered = hasFilter(request);
  const ask = async (statement: Statement): Promise<Answer> => readAnswer(await run(statement));
  const hits = (answer: Answer): readonly NearestRow[] =>
    answer.rows.map((row) => ({
      record: readRecord(scope.tenantId, row, FACT_COLUMNS),
      score: scoreOf(distanceOf(row)),
    }));
  const isHalf = dimensions <= MOST_HALVES;
  if (isFiltered) {
    // That it was large need not be found out again; the answer is the right one if it is no more. If it was small it may be
    // anything by now, and to look at every record would be too much.
    const isKnown = sizes.isAtLeast(request, SMALL_SCOPE + 1) === true;
    const answer = await ask(statements.filtered(request, isKnown));
    if (answer.isLarge) sizes.remember(request, SMALL_SCOPE + 1, true);
    if (answer.isWhole) return hits(answer);
  }
  const hasOwnGraph = reach === "exact" && place.graphs.has(scope);
  const hasGraph = hasOwnGraph || (!place.isPartitioned && place.graphs.has(undefined) && (await isLarge()));
  if (hasGraph) {
    const many = GRAPH_DEPTHS.find((depth) => depth >= BY_GRAPH * limit) ?? GRAPH_DEPTHS[6];
    const answer = await ask(statements.byGraph(request, hasOwnGraph ? scope : undefined, many));
    if (answer.isWhole && answer.highest !== undefined && answer.highest < MOST_FARTHER) return hits(answer);
  }
  const deep = (times: number) => Math.min(Math.max(times * limit, LEAST_DEEP), MOST_DEEP);
  const first = isHalf ? [limit + FIRST, deep(DEEPER)] : [deep(DEEPER)];
  for (const depth of isFiltered ? [deep(DEEPER_UNDER_A_FILTER)] : first) {
    const answer = await ask(statements.ranked(request, depth));
    const comparable = (distance: number) => (metric === "l2" ? Math.sign(distance) * distance * distance : distance);
    if (answer.isWhole || (isProven(request, answer, comparable) && (isHalf || isSure(request, answer))))
      return hits(answer);
  }
  return hits(await ask(statements.exact(request)));

  async function isLarge(): Promise<boolean> {
    const least = Math.min(
      LARGE_AT_ANY_RATE,
      Math.max(isHalf ? LARGE_BY_HALVES : LARGE_BY_SIGNS, Math.ceil(place.records / LEAST_SHARE)),
    );
    const known = sizes.isAtLeast(request, least);
    if (known !== undefined) return known;
    const found = Number((await run(statements.size(request, least)))[0]?.[0]) >= least;
    sizes.remember(request, least, found);
    return found;
  }
}

// Whether no record that was not looked at can be closer than the last of the answer. What the first pass ranks by half
// precision is never above a record's distance, so those that it ranked lower than all that were looked at are at least that far.
function isProven(
  { limit, minScore }: NearestRequest,
  { rows, highest }: Answer,
  comparable: (distance: number) => number,
): boolean {
  const last = rows[limit - 1];
  const bound = last !== undefined ? distanceOf(last) : minScore === undefined ? undefined : 1 - minScore;
  // Equal distances are told apart by their keys: a record at the very bound could come first.
  return highest !== undefined && bound !== undefined && Number.isFinite(bound) && comparable(bound) < highest;
}

// Signs prove nothing: what no other is closer than is only likely, and less so where signs go together. But where what is
// closest thins out long before the last of what was looked at, hardly anything close lies beyond it; where signs tell nothing,
// everything has one rank and this is not so.
function isSure({ limit }: NearestRequest, { rows, third }: Answer): boolean {
  return rows.length === limit && third !== undefined && rows.every((row) => (rankOf(row) ?? Number.NaN) < third);
}

function readAnswer(rows: readonly Row[]): Answer {
  const [first = []] = rows;
  return {
    // Where nothing was found one row says so.
    rows: rows.filter((row) => (row[FACT_COLUMNS] ?? null) !== null),
    isWhole: first[0] === "t",
    highest: readBits(first[1]),
    third: readBits(first[2]),
    isLarge: first[3] === "t",
  };
}

function distanceOf(row: Row): number {
  return readBits(row[FACT_COLUMNS + RECORD_COLUMNS.length]) ?? Number.NaN;
}

function rankOf(row: Row): number | undefined {
  return readBits(row[FACT_COLUMNS + RECORD_COLUMNS.length + 1]);
}

// Half the cost of a buffer made of each.
const digits = new DataView(new ArrayBuffer(8));

function readBits(text: string | null | undefined): number | undefined {
  if (text === null || text === undefined) return undefined;
  digits.setUint32(0, Number.parseInt(text.slice(0, 8), 16));
  digits.setUint32(4, Number.parseInt(text.slice(8), 16));
  return digits.getFloat64(0);
}
