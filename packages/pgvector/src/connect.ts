// The store people call: over connections of its own, or over a client that the caller keeps.

import type { MemoryStoreOptions, MemoryStoreSettings } from "@memory/core";
import { DriverMemoryStore, type MemoryDriver } from "@memory/core/driver";
import { BorrowedClient, Pool } from "@memory/core/postgres-js";
import type { Sql } from "postgres";
import postgres from "postgres";
import { type PgvectorDriverOptions, pgvectorDriver } from "./driver.ts";

/** A postgres.js client, of whatever types its owner gave it. */
// biome-ignore lint/complexity/noBannedTypes: postgres.js says "no types of its own" with {}.
export type PostgresClient = Sql<{}>;

/** What {@link PgvectorMemoryStore} takes: what every store does, and what its collection is. */
export interface PgvectorMemoryStoreOptions extends MemoryStoreOptions, PgvectorDriverOptions {}

// A driver made already, on its way through the constructor that callers use.
const OWNED = Symbol("owned");

interface Owned {
  readonly [OWNED]: MemoryDriver;
}

/**
 * Things known, found by resemblance, in PostgreSQL 15 and newer with pgvector 0.8 and newer. The tables are made by the
 * platform's migrations (`schemaSql`), never by the store; `verify()` says what is missing. One operation is one round trip.
 *
 * @example
 * ```ts
 * const settings = memoryStoreSettings({ dsn: process.env["MEMORY_DSN"] ?? "" });
 * await using store = PgvectorMemoryStore.connect(settings, { dimensions: 1024, embedder: "bge-m3@1" });
 * await store.verify();
 * ```
 */
export class PgvectorMemoryStore extends DriverMemoryStore {
  /**
   * A store on the caller's postgres.js client, which it leaves open. The client keeps `fetch_types` on; with
   * `prepare: false` it works behind a pooler in transaction mode, two round trips a statement. {@link connect} is safer
   * where connections break: postgres.js itself can lose a connection of its pool then.
   *
   * @throws {MemorySettingsError} The client or an option is refused.
   */
  constructor(sql: PostgresClient, options: PgvectorMemoryStoreOptions);
  constructor(sql: PostgresClient | Owned, options: PgvectorMemoryStoreOptions) {
    const [own, rest] = split(options);
    super(isOwned(sql) ? sql[OWNED] : pgvectorDriver(new BorrowedClient(sql), own), rest);
  }

  /**
   * A store on connections of its own, made when they are needed, at most `settings.poolSize`. With several hosts in the
   * connection string it uses the one that takes writes. Close it with `close()` or `await using`.
   *
   * @throws {MemorySettingsError} An option is refused.
   */
  static connect(settings: MemoryStoreSettings, options: PgvectorMemoryStoreOptions): PgvectorMemoryStore {
    const [own] = split(options);
    const owned: Owned = { [OWNED]: pgvectorDriver(new Pool(postgres, settings), own) };
    return Reflect.construct(PgvectorMemoryStore, [owned, { ...options, settings: options.settings ?? settings }]);
  }
}

function split(options: PgvectorMemoryStoreOptions): readonly [PgvectorDriverOptions, MemoryStoreOptions] {
  const { dimensions, metric, collection, schema, embedder, rowSecurity, ...rest } = options ?? {};
  return [{ dimensions, metric, collection, schema, embedder, rowSecurity }, rest];
}

function isOwned(sql: PostgresClient | Owned): sql is Owned {
  return typeof sql === "object" && sql !== null && OWNED in sql;
}
