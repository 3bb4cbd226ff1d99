// As scopes grow: one collection with scopes of 100, 1,000, 10,000, ... records, each asked on topic, beside an exact scan and
// a graph by hand. What a search costs is to grow no faster than the logarithm once past what an exact one serves.

import type { PostgresServer } from "@tooling/servers";
import postgres from "postgres";
import { World } from "../vectors.ts";
import { connectRaw } from "./connect.ts";
import { copySource, type DataSet, scopeOf } from "./data.ts";
import { type Collection, fillOurs, openOurs, ours } from "./ours.ts";
import { race, type SearchTable } from "./race.ts";
import { recordsSql, strategies } from "./raw.ts";
import { asks } from "./truth.ts";

const DIMENSIONS = 384;
const COMPARED: readonly string[] = ["exact, btree on scope", "HNSW, strict order, ef 100"];
/** From how many records on a scope has a graph of its own. */
const LEAST_GRAPHED = 10_000;

/** A table for each size, from 100 up by tens. */
export async function growthTables(
  server: PostgresServer,
  { largest, queries }: { readonly largest: number; readonly queries: number },
  show: (table: SearchTable) => void,
): Promise<void> {
  const world = new World({ dimensions: DIMENSIONS });
  const sizes: number[] = [];
  for (let size = 100; size <= largest; size *= 10) sizes.push(size);
  const vectors = sizes.map((size, scope) => world.ofScope(scope, size));
  const data: DataSet = { world, metric: "cosine", sizes, sessions: sizes.length, windows: false, vectors };
  const graphs = [...sizes.keys()].filter((scope) => (sizes[scope] ?? 0) >= LEAST_GRAPHED).map((n) => scopeOf(data, n));
  const collection: Collection = { name: "semantic", dimensions: DIMENSIONS, metric: "cosine", graphs };
  const url = await server.createDatabase("growth");
  const sql = postgres(url, { max: 1, onnotice: () => {}, connection: { maintenance_work_mem: "2GB" } });
  await sql.unsafe("CREATE EXTENSION vector");
  await copySource(sql, data);
  await sql.unsafe(recordsSql(data));
  const raw = strategies(data).filter(({ name }) => COMPARED.includes(name));
  const graph = strategies(data).find(({ setup }) => setup !== undefined);
  await sql.unsafe(graph?.setup?.(data) ?? "");
  await sql.unsafe("VACUUM ANALYZE");
  await fillOurs(sql, collection, data);
  await sql.unsafe("DROP TABLE bench.source");
  await sql.end();
  await using store = openOurs(url, collection);
  for (const [scope, size] of sizes.entries()) {
    const racers = raw.map((strategy) => connectRaw(url, strategy, data));
    const asked = asks({ data, scope }, world.onTopic(scope, size > 100_000 ? Math.min(queries, 100) : queries));
    const heat = { title: `scope of ${size.toLocaleString("en")}`, asks: asked };
    for (const table of await race([...racers, ours(store)], [heat])) show(table);
    for (const racer of racers) await racer.close();
  }
}
