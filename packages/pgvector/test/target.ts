// A database as a target of the suite: its tables made as its owner, its stores opened as told, its records damaged by hand.

import type { MemoryScope, MemoryStoreOptions, Metric } from "@memory/core";
import { createMemoryStore, type MemoryDriver } from "@memory/core/driver";
import { InMemoryMemoryStore } from "@memory/core/in-memory";
import { quoteIdentifier, scopeParams } from "@memory/core/sql";
import type { ConformanceTarget } from "@memory/testing";
import postgres from "postgres";
import type { PostgresClient } from "../src/index.ts";
import { type SchemaOptions, schemaSql } from "../src/schema.ts";

/** Runs statements of any kind as the owner: schema, grants, damage. */
export async function asOwner<R>(url: string, body: (sql: PostgresClient) => Promise<R>): Promise<R> {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  try {
    return await body(sql);
  } finally {
    await sql.end({ timeout: 1 });
  }
}

/** Makes the tables. */
export async function applySchema(url: string, options: SchemaOptions): Promise<void> {
  await asOwner(url, (sql) => sql.unsafe(schemaSql(options)));
}

/** Whose database it is that records are damaged in, and what every store of the target is given. */
export interface TargetOwner {
  readonly url: string;
  readonly schema?: string;
  readonly collection?: string;
  readonly defaults?: MemoryStoreOptions;
}

/** A target whose stores share one driver, as the processes of a deployment share one server. */
export function targetOver(name: string, driver: MemoryDriver, owner: TargetOwner): ConformanceTarget {
  // Every case closes its store; the connections go on.
  const shared = { ...driver, close: async () => {} };
  return {
    name,
    open: ({ ttlMs: _ttlMs, sliding: _sliding, maxElements: _maxElements, ...options }) =>
      createMemoryStore(shared, { ...owner.defaults, ...options }),
    corrupt: (scope, _kind, key) => damage(owner, scope, key),
  };
}

/** The reference, of the same width and metric. */
export function referenceOf(embeddingDimensions: number, metric: Metric): ConformanceTarget {
  return {
    name: "in-memory",
    open: (options) => new InMemoryMemoryStore({ ...options, embeddingDimensions, metric }),
  };
}

async function damage(
  { url, schema = "memory", collection = "semantic" }: TargetOwner,
  scope: MemoryScope,
  key: string,
): Promise<void> {
  await asOwner(url, (sql) =>
    sql.unsafe(
      `UPDATE ${quoteIdentifier(schema)}.${quoteIdentifier(collection)} SET value = '{' WHERE tenant_id = $1 AND user_id = $2 AND session_id = $3 AND agent = $4 AND key = $5`,
      [...scopeParams(scope), key],
    ),
  );
}
