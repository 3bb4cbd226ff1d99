// Searches beside raw SQL: by width, metric and size of the scope, on topic and off, filtered, under a user, and with windows
// that hide half.

import type { Metric } from "@memory/core/driver";
import type { PostgresServer } from "@tooling/servers";
import postgres from "postgres";
import { World } from "../vectors.ts";
import { connectRaw } from "./connect.ts";
import { copySource, type DataSet, dataSet, isOver, isRare, type Layout, scopeOf } from "./data.ts";
import { type Collection, fillOurs, type Manner, openOurs, ours } from "./ours.ts";
import { type Heat, race, type SearchTable } from "./race.ts";
import { recordsSql, strategies } from "./raw.ts";
import { type Among, asks } from "./truth.ts";

/** How large the suite is. */
export interface Size {
  /** Records are so many times fewer. */
  readonly part: number;
  readonly queries: number;
  /** Only the sets whose title begins with this. */
  readonly only?: string;
}

interface Set {
  readonly title: string;
  readonly dimensions: number;
  readonly metric: Metric;
  readonly layout: Layout;
  /** Lengths vary by this factor up and down. */
  readonly stretch?: number;
}

const SMALLER: Layout = { count: 40_000, scopes: 20, large: 20_000 };
const SETS: readonly Set[] = [
  {
    title: "384 dimensions, cosine",
    dimensions: 384,
    metric: "cosine",
    layout: { count: 200_000, scopes: 200, large: 50_000, sessions: 100, session: 75 },
  },
  {
    title: "1,536 dimensions, cosine",
    dimensions: 1_536,
    metric: "cosine",
    layout: { count: 20_000, scopes: 20, large: 5_000 },
  },
  { title: "384 dimensions, l2", dimensions: 384, metric: "l2", layout: SMALLER, stretch: 2 },
  { title: "384 dimensions, inner", dimensions: 384, metric: "inner", layout: SMALLER, stretch: 2 },
  { title: "half of the windows over", dimensions: 384, metric: "cosine", layout: { ...SMALLER, windows: true } },
];

/** The tables of all sets; each is handed to `show` as it is done. */
export async function searchCases(
  server: PostgresServer,
  { part, queries, only = "" }: Size,
  show: (table: SearchTable) => void,
): Promise<void> {
  for (const [index, set] of SETS.entries()) {
    if (!set.title.startsWith(only)) continue;
    const { dimensions, metric, layout, stretch = 1 } = set;
    const world = new World({ dimensions, stretch });
    const data = dataSet(world, metric, smaller(layout, part));
    const url = await server.createDatabase(`set_${index}`);
    await raceSet(url, set.title, data, queries, show);
  }
}

async function raceSet(
  url: string,
  title: string,
  data: DataSet,
  queries: number,
  show: (table: SearchTable) => void,
): Promise<void> {
  const { world, metric } = data;
  const collection: Collection = {
    ...{ name: "semantic", dimensions: world.dimensions, metric },
    graphs: [scopeOf(data, 0)],
  };
  const sql = postgres(url, { max: 1, onnotice: () => {}, connection: { maintenance_work_mem: "1GB" } });
  await sql.unsafe("CREATE EXTENSION vector");
  await copySource(sql, data);
  await sql.unsafe(recordsSql(data));
  const all = strategies(data);
  for (const { setup } of all) if (setup !== undefined) await sql.unsafe(setup(data));
  await sql.unsafe("VACUUM ANALYZE");
  await fillOurs(sql, collection, data);
  await sql.end();
  const store = openOurs(url, collection);
  const run = async (manner: Manner, isLarge: boolean, heats: readonly Heat[]): Promise<void> => {
    const raw = all
      .filter(({ isForLarge }) => isForLarge !== true || isLarge)
      .map((strategy) => connectRaw(url, strategy, data, manner));
    for (const table of await race([...raw, ours(store, manner)], heats)) show(table);
    for (const racer of raw) await racer.close();
  };
  const heat = (what: string, among: Among, vectors: readonly Float32Array[]): Heat => ({
    title: `${title}: ${what}`,
    asks: asks(among, vectors),
  });
  try {
    const matches = data.windows ? (n: number) => !isOver(n) : () => true;
    const [large, small] = data.sizes.map((size) => size.toLocaleString("en"));
    const inLarge: Among = { data, scope: 0, matches };
    const inSmall: Among = { data, scope: 1, matches };
    await run({}, true, [heat(`scope of ${large}`, inLarge, world.onTopic(0, queries))]);
    await run({}, false, [
      heat(`scope of ${small}`, inSmall, world.onTopic(1, queries)),
      heat(`off topic, scope of ${small}`, inSmall, world.offTopic(1, queries)),
    ]);
    if (data.sizes.length === data.sessions) return;
    await run({}, true, [heat(`off topic, scope of ${large}`, inLarge, world.offTopic(0, queries))]);
    const rare: Among = { data, scope: 0, matches: isRare };
    await run({ isFiltered: true }, true, [
      heat(`1 in 1,000 of ${large} by metadata`, rare, world.onTopic(0, queries)),
    ]);
    const user = `under a user of ${data.sizes.length - data.sessions} sessions`;
    const inSessions: Among = { data, scope: "sessions" };
    await run({ reach: "under" }, false, [heat(user, inSessions, world.onTopic(data.sessions, queries))]);
  } finally {
    await store.close();
  }
}

function smaller({ count, large, session, ...rest }: Layout, part: number): Layout {
  const layout = { ...rest, count: Math.round(count / part), large: Math.round(large / part) };
  return session === undefined ? layout : { ...layout, session: Math.max(1, Math.round(session / part)) };
}
