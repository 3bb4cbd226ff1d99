// The store people call: over connections of its own, or over a client that the caller keeps.

import type { MemoryStoreOptions, MemoryStoreSettings } from "@memory/core";
import { DriverMemoryStore, type MemoryDriver } from "@memory/core/driver";
import { BorrowedClient, Pool } from "@memory/core/postgres-js";
import type { Sql } from "postgres";
import postgres from "postgres";
import { type PostgresDriverOptions, postgresDriver } from "./driver.ts";

/** A postgres.js client, of whatever types its owner gave it. */
// biome-ignore lint/complexity/noBannedTypes: postgres.js says "no types of its own" with {}.
export type PostgresClient = Sql<{}>;

/** What {@link PostgresMemoryStore} takes: what every store does, and how its tables are found. */
export interface PostgresMemoryStoreOptions extends MemoryStoreOptions, PostgresDriverOptions {}

// A driver made already, on its way through the constructor that callers use.
const OWNED = Symbol("owned");

interface Owned {
  readonly [OWNED]: MemoryDriver;
}

/**
 * Profiles and episodes in PostgreSQL 15 and newer. The tables are made by the platform's migrations (`schemaSql`), never
 * by the store; `verify()` says what is missing. One operation is one round trip, but for a belief write, which is two, and an
 * erasure, which is four; a key that is contradicted, or was written out of order, takes one more.
 *
 * @example
 * ```ts
 * await using store = PostgresMemoryStore.connect(memoryStoreSettings({ dsn: process.env["MEMORY_DSN"] ?? "" }));
 * await store.verify();
 * ```
 */
export class PostgresMemoryStore extends DriverMemoryStore {
  /**
   * A store on the caller's postgres.js client, which it leaves open. The client keeps `fetch_types` on; with
   * `prepare: false` it works behind a pooler in transaction mode, two round trips a statement. {@link connect} is safer
   * where connections break: postgres.js itself can lose a connection of its pool then.
   *
   * @throws {MemorySettingsError} The client or an option is refused.
   */
  constructor(sql: PostgresClient, options?: PostgresMemoryStoreOptions);
  constructor(sql: PostgresClient | Owned, options: PostgresMemoryStoreOptions = {}) {
    const { schema, rowSecurity, ...rest } = options;
    super(isOwned(sql) ? sql[OWNED] : postgresDriver(new BorrowedClient(sql), { schema, rowSecurity }), rest);
  }

  /**
   * A store on connections of its own, made when they are needed, at most `settings.poolSize`. With several hosts in the
   * connection string it uses the one that takes writes. Close it with `close()` or `await using`.
   *
   * @throws {MemorySettingsError} An option is refused.
   */
  static connect(settings: MemoryStoreSettings, options: PostgresMemoryStoreOptions = {}): PostgresMemoryStore {
    const { schema, rowSecurity } = options;
    const driver = postgresDriver(new Pool(postgres, settings), { schema, rowSecurity });
    const owned: Owned = { [OWNED]: driver };
    return Reflect.construct(PostgresMemoryStore, [owned, { ...options, settings: options.settings ?? settings }]);
  }
}

function isOwned(sql: PostgresClient | Owned): sql is Owned {
  return typeof sql === "object" && sql !== null && OWNED in sql;
}
