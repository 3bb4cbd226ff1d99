// What a search sends, and how a server does it.

import type { MemoryQuery, MemoryScope } from "@memory/core";
import { memoryStoreSettings } from "@memory/core";
import { createMemoryStore } from "@memory/core/driver";
import { Pool } from "@memory/core/postgres-js";
import type { Executor, Statement } from "@memory/core/sql";
import postgres from "postgres";
import type { CollectionOptions } from "../src/collection.ts";
import { pgvectorDriver } from "../src/driver.ts";
import { asOwner } from "./target.ts";

/** Everything that a search sends, once things were looked up: the first one of a scope, or, `again`, the second. */
export async function sentBy(
  dsn: string,
  collection: CollectionOptions,
  scope: MemoryScope,
  query: MemoryQuery & { readonly embedding: readonly number[] },
  which: "first" | "again" = "first",
): Promise<readonly Statement[]> {
  const pool = new Pool(postgres, memoryStoreSettings({ dsn, poolSize: 1 }));
  const statements: Statement[] = [];
  const noting: Executor = {
    client: pool,
    concurrency: 1,
    run: (statement, patience) => {
      if (statement.text.startsWith("WITH")) statements.push(statement);
      return pool.run(statement, patience);
    },
    batch: (list, patience) => pool.batch(list, patience),
    transaction: (body, patience) => pool.transaction(body, patience),
    isStray: () => false,
    close: () => pool.close(),
  };
  const settings = { attemptTimeoutMs: 60_000 };
  await using store = createMemoryStore(pgvectorDriver(noting, collection), { settings });
  await store.search(scope, query);
  if (which === "again") {
    statements.length = 0;
    await store.search(scope, query);
  }
  return statements;
}

/** How a statement is done: as a plan for its parameters, and as one for any. */
export async function plansOf(dsn: string, { text, params }: Statement): Promise<readonly string[]> {
  return await asOwner(dsn, async (sql) => {
    const plans: string[] = [];
    for (const mode of ["force_custom_plan", "force_generic_plan"]) {
      await sql.unsafe(`SET plan_cache_mode = ${mode}`);
      const explained = `EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ${text}`;
      const rows = await sql.unsafe(explained, [...params], { prepare: true });
      plans.push(rows.map((row) => row["QUERY PLAN"]).join("\n"));
    }
    return plans;
  });
}
