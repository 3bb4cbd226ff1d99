// A database as a target of the suite: its tables made as its owner, its stores opened as told, its records damaged by hand.

import type { MemoryKind, MemoryScope, MemoryStoreOptions } from "@memory/core";
import { createMemoryStore, type MemoryDriver } from "@memory/core/driver";
import { scopeParams } from "@memory/core/sql";
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
export async function applySchema(url: string, options: SchemaOptions = {}): Promise<void> {
  await asOwner(url, (sql) => sql.unsafe(schemaSql(options)));
}

/** A target whose stores share one driver, as the processes of a deployment share one server. */
export function targetOver(
  name: string,
  driver: MemoryDriver,
  owner: { readonly url: string; readonly schema?: string; readonly defaults?: MemoryStoreOptions },
): ConformanceTarget {
  const shared = unclosed(driver);
  return {
    name,
    open: ({ ttlMs: _ttlMs, sliding: _sliding, maxElements: _maxElements, ...options }) =>
      createMemoryStore(shared, { ...owner.defaults, ...options }),
    corrupt: (scope, kind, key) => damage(owner, scope, kind, key),
  };
}

// Every case closes its store; the connections go on.
function unclosed(driver: MemoryDriver): MemoryDriver {
  return { ...driver, close: async () => {} };
}

async function damage(
  { url, schema = "memory" }: { readonly url: string; readonly schema?: string },
  scope: MemoryScope,
  kind: MemoryKind,
  key: string,
): Promise<void> {
  const table = kind === "profile" ? "profile_versions" : "episodes";
  await asOwner(url, (sql) =>
    sql.unsafe(
      `UPDATE ${schema}.${table} SET value = '{' WHERE tenant_id = $1 AND user_id = $2 AND session_id = $3 AND agent = $4 AND key = $5`,
      [...scopeParams(scope), key],
    ),
  );
}
