// As scopes grow: one collection with scopes of 100, 1,000, 10,000, ... records, each asked on topic, beside an exact scan, the
// same first pass by hand, and a graph by hand. With a graph what a search costs is to grow no faster than the logarithm once
// past what an exact one serves.

import type { PostgresServer } from "@tooling/servers";
import postgres from "postgres";
import type { Verdict } from "../rounds.ts";
import { World } from "../vectors.ts";
import { connectRaw } from "./connect.ts";
import { copySource, type DataSet, scopeOf } from "./data.ts";
import { type Collection, fillOurs, openOurs, ours } from "./ours.ts";
import { race, type SearchTable } from "./race.ts";
import { recordsSql, type Strategy, strategies } from "./raw.ts";
import { asks } from "./truth.ts";

/** How far scopes grow, and how they are searched. */
export interface Growth {
  readonly largest: number;
  readonly queries: number;
  /** Whether scopes of 10,000 and more have graphs, and there is one by hand. */
  readonly hasGraphs: boolean;
}

const DIMENSIONS = 384;
const COMPARED: readonly string[] = [
  "exact, btree on scope",
  "HNSW, strict order, ef 100",
  "halfvec in a covering btree, 2 x re-ranked",
];
const GRAPHS: readonly string[] = ["HNSW, filter after, ef 40"];
/** From how many records on a scope has a graph of its own: what an exact search, or our first pass, serves. */
const LEAST_GRAPHED = 10_000;
/** Of larger scopes fewer queries are asked. */
const LARGE = 100_000;
const QUERIES_OF_LARGE = 100;

/** A table for each size, from 100 up by tens to the largest. */
export async function growthTables(
  server: PostgresServer,
  { largest, queries, hasGraphs }: Growth,
  show: (table: SearchTable) => void,
): Promise<void> {
  const sizes: number[] = [];
  for (let size = 100; size < largest; size *= 10) sizes.push(size);
  sizes.push(largest);
  const world = new World({ dimensions: DIMENSIONS });
  const vectors = sizes.map((size, scope) => world.ofScope(scope, size));
  const data: DataSet = { world, metric: "cosine", sizes, sessions: sizes.length, windows: false, vectors };
  const graphed = [...sizes.keys()].filter((scope) => hasGraphs && (sizes[scope] ?? 0) >= LEAST_GRAPHED);
  const graphs = graphed.map((scope) => scopeOf(data, scope));
  const collection: Collection = { name: "semantic", dimensions: DIMENSIONS, metric: "cosine", graphs };
  const url = await server.createDatabase("growth");
  const sql = postgres(url, { max: 1, onnotice: () => {}, connection: { maintenance_work_mem: "2GB" } });
  const say = timeline();
  await sql.unsafe("CREATE EXTENSION vector");
  await copySource(sql, data);
  await sql.unsafe(recordsSql(data));
  say("loaded");
  const isWanted = ({ name }: Strategy) => hasGraphs || !/HNSW/.test(name);
  const all = strategies(data).filter(isWanted);
  for (const { name, setup } of all) {
    if (setup === undefined || !(COMPARED.includes(name) || GRAPHS.includes(name))) continue;
    await sql.unsafe(setup(data));
    say(name);
  }
  await sql.unsafe("VACUUM ANALYZE");
  await fillOurs(sql, collection, data);
  say("store");
  await sql.unsafe("DROP TABLE bench.source");
  await sql.end();
  await using store = openOurs(url, collection);
  const raw = all.filter(({ name }) => COMPARED.includes(name));
  let base: number | undefined;
  for (const [scope, size] of sizes.entries()) {
    const racers = raw.map((strategy) => connectRaw(url, strategy, data));
    const count = size > LARGE ? Math.min(queries, QUERIES_OF_LARGE) : queries;
    const title = `scope of ${size.toLocaleString("en")}${graphed.includes(scope) ? ", with a graph" : ""}`;
    const heat = { title, asks: asks({ data, scope }, world.onTopic(scope, count)) };
    for (const table of await race([...racers, ours(store)], [heat])) {
      const p50 = table.figures.at(-1)?.p50 ?? Number.NaN;
      if (size === LEAST_GRAPHED) base = p50;
      show({ ...table, verdicts: [...table.verdicts, ...growthVerdicts(size, p50, base)] });
    }
    for (const racer of racers) await racer.close();
  }
}

// Only past what an exact search serves, against the first of these sizes.
function growthVerdicts(size: number, p50: number, base: number | undefined): readonly Verdict[] {
  if (base === undefined || size <= LEAST_GRAPHED) return [];
  const most = Math.log(size) / Math.log(LEAST_GRAPHED);
  const value = p50 / base;
  const what = `store.search: p50 at most ${most.toFixed(2)} x that of ${LEAST_GRAPHED.toLocaleString("en")}, as the logarithm grows`;
  return [{ what, value, isMet: value <= most }];
}

// Says how long each step took: with a million records some take many minutes.
function timeline(): (what: string) => void {
  let last = performance.now();
  return (what) => {
    const now = performance.now();
    console.log(`growth: ${what}, ${Math.round((now - last) / 1_000)} s`);
    last = now;
  };
}
