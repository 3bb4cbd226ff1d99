// The store that callers name: core's store over the SQLite driver.

import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import type { MemoryStoreOptions } from "@memory/core";
import { DriverMemoryStore, MemorySettingsError } from "@memory/core/driver";
import { type SqliteDriverOptions, sqliteDriver } from "./driver.ts";

/** What {@link SqliteMemoryStore} takes: what every store does, and what its driver does. */
export interface SqliteMemoryStoreOptions extends MemoryStoreOptions, SqliteDriverOptions {}

/** How long opening waits for another process that has the file to itself. Later waits do not block: see `Connection`. */
const OPEN_TIMEOUT_MS = 2_000;

/**
 * Working, profile, episodic and (with `dimensions`) semantic memory in one SQLite file, which several processes of one
 * machine may share. Each operation is one transaction; a search looks at every record of its scope.
 */
export class SqliteMemoryStore extends DriverMemoryStore {
  /**
   * A store over the caller's connection, which stays the caller's to set up and to close.
   *
   * @throws {MemorySettingsError} An option is unknown, of a wrong type, or out of bounds.
   */
  constructor(database: DatabaseSync, options: SqliteMemoryStoreOptions = {}, owns = false) {
    const { ttlMs, sliding, maxElements, dimensions, metric, ...rest } = options;
    super(sqliteDriver(database, { ttlMs, sliding, maxElements, dimensions, metric }, owns), rest);
  }

  /**
   * A store over a file that `schemaSql` was run on. It has a connection of its own, closed with the store: write-ahead
   * logging, every commit on disk before it is acknowledged, and deleted content overwritten.
   *
   * @throws {MemorySettingsError} The file is not there or no database, or an option is refused.
   */
  static open(path: string, options: SqliteMemoryStoreOptions = {}): SqliteMemoryStore {
    const database = openFile(path);
    try {
      return new SqliteMemoryStore(database, options, true);
    } catch (error) {
      database.close();
      throw error;
    }
  }
}

function openFile(path: string): DatabaseSync {
  // `rw`: a path with a slip of the pen is refused, not made a new, empty file.
  const url = pathToFileURL(path);
  url.searchParams.set("mode", "rw");
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(url, { timeout: OPEN_TIMEOUT_MS });
    database.exec("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA secure_delete=ON; PRAGMA busy_timeout=0;");
    return database;
  } catch (error) {
    database?.close();
    const reason = error instanceof Error ? error.message : "unknown";
    throw new MemorySettingsError(`the file cannot be opened as a database (${reason})`, { setting: "path" });
  }
}
