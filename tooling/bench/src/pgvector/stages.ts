// The same search at every stage of a table and of a connection: loaded and never vacuumed nor analysed, vacuumed alone, and
// both; and as the first, the sixth and the hundredth execution of a connection, where a plan for any parameters has long
// taken the place of the first ones.

import type { PostgresServer } from "@tooling/servers";
import postgres from "postgres";
import { type Figure, median, type Table, type Verdict } from "../rounds.ts";
import { World } from "../vectors.ts";
import { copySource, type DataSet, dataSet, LIMIT } from "./data.ts";
import { type Collection, fillOurs, openOurs, ours, type Stage } from "./ours.ts";
import { race, type SearchTable } from "./race.ts";
import { asks } from "./truth.ts";

const DIMENSIONS = 384;
const STAGES: readonly Stage[] = ["loaded", "vacuumed", "analysed"];
const EXECUTIONS = [1, 6, 100];
const MOST = 1.15;
/** How many connections the executions are taken of. */
const CONNECTIONS = 25;

/** The tables of the stages, and of the executions. */
export async function stageTables(
  server: PostgresServer,
  { part, queries }: { readonly part: number; readonly queries: number },
  show: (table: SearchTable) => void,
  showPlain: (table: Table) => void,
): Promise<void> {
  const world = new World({ dimensions: DIMENSIONS });
  const layout = { count: 40_000 / part, scopes: 20, large: 20_000 / part };
  const data = dataSet(world, "cosine", layout);
  const url = await server.createDatabase("stages");
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  await sql.unsafe("CREATE EXTENSION vector");
  await copySource(sql, data);
  const collectionOf = (stage: Stage): Collection => ({ name: stage, dimensions: DIMENSIONS, metric: "cosine" });
  for (const stage of STAGES) await fillOurs(sql, collectionOf(stage), data, stage);
  await sql.end();
  await raceStages(url, data, collectionOf, queries, show);
  for (const stage of ["vacuumed", "analysed"] as const) {
    for (const scope of [0, 1]) {
      const size = (data.sizes[scope] ?? 0).toLocaleString("en");
      const title = `executions of a connection, a scope of ${size}, ${stage}`;
      const connections = part === 1 ? CONNECTIONS : 3;
      showPlain(await executions(title, url, collectionOf(stage), data, scope, connections));
    }
  }
}

async function raceStages(
  url: string,
  data: DataSet,
  collectionOf: (stage: Stage) => Collection,
  queries: number,
  show: (table: SearchTable) => void,
): Promise<void> {
  const warnings = new Map<Stage, string[]>(STAGES.map((stage) => [stage, []]));
  const stores = STAGES.map((stage) =>
    openOurs(url, collectionOf(stage), (event) => {
      if (event.name === "adk.memory.warning") warnings.get(stage)?.push(event.code);
    }),
  );
  try {
    for (const store of stores) await store.verify();
    const racers = STAGES.flatMap((stage, index) => {
      const store = stores[index];
      return store === undefined ? [] : [ours(store, {}, `store.search, ${stage}`)];
    });
    for (const scope of [0, 1]) {
      const size = (data.sizes[scope] ?? 0).toLocaleString("en");
      const heat = {
        title: `stages of a table: scope of ${size}`,
        asks: asks({ data, scope }, data.world.onTopic(scope, queries)),
      };
      for (const table of await race(racers, [heat])) {
        show({ ...table, verdicts: [...table.verdicts, ...stageVerdicts(table, warnings)] });
      }
    }
  } finally {
    for (const store of stores) await store.close();
  }
}

function stageVerdicts({ figures }: SearchTable, warnings: ReadonlyMap<Stage, readonly string[]>): readonly Verdict[] {
  const last = figures.at(-1)?.p50 ?? Number.NaN;
  return STAGES.slice(0, -1).map((stage, index) => {
    const value = (figures[index]?.p50 ?? Number.NaN) / last;
    const says = warnings.get(stage)?.includes("pgvector-unvacuumed") === true;
    const what = `${stage}: p50 at most ${MOST} x that of analysed, or verify() says so (it ${says ? "does" : "does not"})`;
    return { what, value, isMet: value <= MOST || says };
  });
}

// Each on a connection of its own, which the first execution finds open but without a plan.
async function executions(
  title: string,
  url: string,
  collection: Collection,
  data: DataSet,
  scope: number,
  connections: number,
): Promise<Table> {
  const count = Math.max(...EXECUTIONS);
  const queries = data.world.onTopic(scope, count + connections);
  const asked = asks({ data, scope }, queries.slice(0, 1))[0];
  const vectors = queries.map((vector) => [...vector]);
  const times = new Map(EXECUTIONS.map((execution): [number, number[]] => [execution, []]));
  for (let connection = 0; connection < connections; connection += 1) {
    await using store = openOurs(url, collection);
    const { search } = ours(store);
    if (asked === undefined) break;
    await store.recall(asked.scope, "none");
    for (let execution = 1; execution <= count; execution += 1) {
      const ask = { ...asked, vector: vectors[connection + execution - 1] ?? asked.vector };
      const start = performance.now();
      const { length } = await search(ask);
      times.get(execution)?.push((performance.now() - start) * 1_000);
      if (length !== Math.min(LIMIT, data.sizes[scope] ?? 0)) throw new Error(`${length} rows came back`);
    }
  }
  const first = median(times.get(1) ?? []);
  const figures = [...times].map(([execution, of]): Figure => {
    const p50 = median(of);
    return {
      name: `execution ${execution}`,
      p50,
      p99: Math.max(...of),
      perSecond: 1_000_000 / p50,
      ratio: p50 / first,
    };
  });
  const verdicts = figures.slice(1).map(({ name, ratio }): Verdict => {
    return { what: `${name}: p50 at most ${MOST} x the first`, value: ratio, isMet: ratio <= MOST };
  });
  return { title, rounds: connections, figures, verdicts };
}
