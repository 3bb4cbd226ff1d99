// Which way a search goes, and when its answer is one: proven to be the exact one, or the exact one itself. What is not
// proven is looked for deeper, and in the end by looking at every record.

import type { NearestRequest, NearestRow } from "@memory/core/driver";
import { RECORD_COLUMNS, type Row, readRecord, type Statement } from "@memory/core/sql";
import type { Collection } from "./collection.ts";
import { scoreOf } from "./metric.ts";
import { FACT_COLUMNS, type SearchStatements } from "./search-statements.ts";
import { MOST_HALVES } from "./sketch.ts";

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
  readonly highest: number | undefined;
  readonly third: number | undefined;
}

/** Searches a collection by these statements. */
export async function search(
  { dimensions, metric }: Collection,
  statements: SearchStatements,
  request: NearestRequest,
  run: (statement: Statement) => Promise<readonly Row[]>,
): Promise<readonly NearestRow[]> {
  const { limit, filter } = request;
  const isFiltered = filter !== undefined && Object.keys(filter).length > 0;
  const ask = async (statement: Statement): Promise<Answer> => readAnswer(await run(statement));
  const hits = (answer: Answer): readonly NearestRow[] =>
    answer.rows.map((row) => ({
      record: readRecord(request.scope.tenantId, row, FACT_COLUMNS),
      score: scoreOf(distanceOf(row)),
    }));
  if (isFiltered) {
    const answer = await ask(statements.filtered(request));
    if (answer.isWhole) return hits(answer);
  }
  const isHalf = dimensions <= MOST_HALVES;
  const deep = (times: number) => Math.min(Math.max(times * limit, LEAST_DEEP), MOST_DEEP);
  const first = isHalf ? [limit + FIRST, deep(DEEPER)] : [deep(DEEPER)];
  for (const depth of isFiltered ? [deep(DEEPER_UNDER_A_FILTER)] : first) {
    const answer = await ask(statements.ranked(request, depth));
    const comparable = (distance: number) => (metric === "l2" ? Math.sign(distance) * distance * distance : distance);
    if (answer.isWhole || (isHalf ? isProven(request, answer, comparable) : isSure(request, answer)))
      return hits(answer);
  }
  return hits(await ask(statements.exact(request)));
}

// Whether no record that was not looked at can be closer than the last of the answer. What the first pass ranks by is never
// above a record's distance, so those that it ranked lower than all that were looked at are at least that far.
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

// Signs prove nothing. But where what is closest thins out long before the last of what was looked at, hardly anything close
// lies beyond it; where signs tell nothing, everything has one rank and this is not so.
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
  };
}

function distanceOf(row: Row): number {
  return readBits(row[FACT_COLUMNS + RECORD_COLUMNS.length]) ?? Number.NaN;
}

function rankOf(row: Row): number | undefined {
  return readBits(row[FACT_COLUMNS + RECORD_COLUMNS.length + 1]);
}

function readBits(text: string | null | undefined): number | undefined {
  return text === null || text === undefined ? undefined : Buffer.from(text, "hex").readDoubleBE();
}
