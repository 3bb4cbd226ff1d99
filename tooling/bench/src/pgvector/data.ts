// What the pgvector suite searches in: records of many scopes, stored interleaved as many users write them, and the queries
// that are asked, each with its true answer, computed here in double precision and not by the server that is measured.

import { type MemoryScope, memoryScope } from "@memory/core";
import type { Metric } from "@memory/core/driver";
import type { Sql } from "postgres";
import { randomOf, scopeSizes, type World } from "../vectors.ts";
import { copyRows, type Field } from "./copy.ts";

/** How many are asked for in a search. */
export const LIMIT = 10;
/** The instant of every search. */
export const NOW = 1_764_000_000_000;
/** One record in 1,000 of a scope has this as `rare` in its metadata. */
export const RARE = 8;

/** Records of many scopes. */
export interface DataSet {
  readonly world: World;
  readonly metric: Metric;
  /** How many records each scope has. From `sessions` on, scopes are sessions of one user; before, each a tenant's own. */
  readonly sizes: readonly number[];
  readonly sessions: number;
  /** Whether every second record's window is over at {@link NOW}. */
  readonly windows: boolean;
  /** The vectors of each scope, in one array. */
  readonly vectors: readonly Float32Array[];
}

/** How a data set is laid out. */
export interface Layout {
  readonly count: number;
  readonly scopes: number;
  /** How many of them are the first scope's. */
  readonly large: number;
  /** Beside them: sessions of one more user, and the records of each. */
  readonly sessions?: number;
  readonly session?: number;
  readonly windows?: boolean;
}

/** Makes the records. */
export function dataSet(world: World, metric: Metric, layout: Layout): DataSet {
  const { count, scopes, large, sessions = 0, session = 0, windows = false } = layout;
  const sizes = [...scopeSizes(count, scopes, large), ...Array<number>(sessions).fill(session)];
  const vectors = sizes.map((size, scope) => world.ofScope(scope, size));
  return { world, metric, sizes, sessions: scopes, windows, vectors };
}

/** The scope with a number. */
export function scopeOf({ sessions }: DataSet, number: number): MemoryScope {
  if (number < sessions) return memoryScope({ tenantId: `tenant-${number}`, userId: "user" });
  return memoryScope({ tenantId: "sessions", userId: "user", sessionId: `session-${number}` });
}

/** The user whose sessions they are. */
export const SESSIONS_USER: MemoryScope = memoryScope({ tenantId: "sessions", userId: "user" });

/** What a record is told by: its scope's number and its own. */
export function nameOf(scope: number, n: number): string {
  return `${scope}/${n}`;
}

/** Whether the window of a record is over at {@link NOW}, where windows are. */
export function isOver(n: number): boolean {
  return n % 2 === 1;
}

/** Whether a record has {@link RARE} in its metadata. */
export function isRare(n: number): boolean {
  return n % 1_000 === RARE;
}

/** Copies the records into `bench.source (scope, n, embedding)`, the scopes in random order. */
export async function copySource(sql: Sql, { world, sizes, vectors }: DataSet): Promise<void> {
  await sql.unsafe(`CREATE SCHEMA IF NOT EXISTS bench; DROP TABLE IF EXISTS bench.source;
    CREATE UNLOGGED TABLE bench.source (scope bigint, n bigint, embedding vector(${world.dimensions}))`);
  await copyRows(sql, "bench.source (scope, n, embedding)", interleaved(sizes, vectors, world.dimensions));
}

function* interleaved(
  sizes: readonly number[],
  vectors: readonly Float32Array[],
  width: number,
): Generator<readonly Field[]> {
  const total = sizes.reduce((sum, size) => sum + size, 0);
  const order = new Uint16Array(total);
  let from = 0;
  for (const [scope, size] of sizes.entries()) {
    order.fill(scope, from, from + size);
    from += size;
  }
  const random = randomOf(total);
  for (let last = total - 1; last > 0; last -= 1) {
    const other = Math.floor(random() * (last + 1));
    [order[last], order[other]] = [order[other] ?? 0, order[last] ?? 0];
  }
  const next = sizes.map(() => 0);
  for (const scope of order) {
    const n = next[scope] ?? 0;
    next[scope] = n + 1;
    yield [scope, n, vectors[scope]?.subarray(n * width, (n + 1) * width) ?? null];
  }
}

/** The columns of a record as the store keeps them, from `bench.source`, recorded one after the other: some 300 bytes beside the vector. */
export function recordSql({ sessions, windows }: DataSet): string {
  const isSession = `scope >= ${sessions}`;
  return `SELECT CASE WHEN ${isSession} THEN 'sessions' ELSE 'tenant-' || scope END AS tenant_id, 'user' AS user_id,
    CASE WHEN ${isSession} THEN 'session-' || scope ELSE '' END AS session_id, '' AS agent, scope || '/' || n AS key,
    gen_random_uuid()::text AS id, '{"role":"user","text":"we will be four on Friday, one of us eats no meat, is the window table free?"}' AS value,
    'turn 12' AS source, 1::numeric AS confidence, ${NOW - 1_000} AS valid_from,
    ${windows ? `CASE WHEN n % 2 = 1 THEN ${NOW - 500} END` : "NULL::bigint"} AS valid_to, jsonb_build_object('rare', n % 1000, 'lang', 'en') AS metadata,
    ${NOW - 10_000_000} + row_number() OVER () AS recorded_at, embedding FROM bench.source`;
}

/** The columns that {@link recordSql} gives, in its order. */
export const RECORD_COLUMNS =
  "tenant_id, user_id, session_id, agent, key, id, value, source, confidence, valid_from, valid_to, metadata, recorded_at, embedding";
