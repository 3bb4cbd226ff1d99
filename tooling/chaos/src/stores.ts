// The stores of a run, a line each: which servers a store stands on, and how a client process opens it.

import {
  type MemoryStore,
  type MemoryStoreOptions,
  type MemoryStoreSettings,
  type MemoryStoreSettingsInput,
  memoryStoreSettings,
} from "@memory/core";
import { InMemoryMemoryStore } from "@memory/core/in-memory";
import { PostgresMemoryStore } from "@memory/postgres";
import { RedisMemoryStore } from "@memory/redis";

/** A server that stores stand on. */
export type ServerName = "redis" | "postgres";

/** How clients reach the servers of a run. */
export type Addresses = Readonly<Partial<Record<ServerName, string>>>;

/** How stores of a run are set: impatient, so that what an outage costs fits into it many times. */
export const SETTINGS = {
  poolSize: 5,
  maxInFlight: 64,
  maxQueued: 200,
  queueTimeoutMs: 500,
  connectTimeoutMs: 700,
  attemptTimeoutMs: 800,
  maxAttempts: 4,
  backoffMs: 25,
} as const;

/** How the last look is set: it asks what is there, and not how soon. */
export const PATIENT = { ...SETTINGS, queueTimeoutMs: 15_000, connectTimeoutMs: 15_000, attemptTimeoutMs: 15_000 };

/** What one call into a driver may take, by these settings: every attempt waits for its turn and for its answer. */
export const CALL_BUDGET_MS: number =
  SETTINGS.maxAttempts * (SETTINGS.queueTimeoutMs + SETTINGS.attemptTimeoutMs) +
  [...Array(SETTINGS.maxAttempts - 1).keys()].reduce((sum, at) => sum + SETTINGS.backoffMs * 2 ** at, 0);

/** How a client process opens the stores of a run. */
export interface Opening {
  readonly dsn: (server: ServerName) => string;
  /** Whether statements may be prepared by name: not behind a pooler. */
  readonly prepare: boolean;
  readonly settings: Omit<MemoryStoreSettingsInput, "dsn" | "prepare">;
}

/** A store of the table. */
export interface StoreFactory {
  readonly needs: readonly ServerName[];
  open(opening: Opening, options: MemoryStoreOptions): MemoryStore;
}

/** The table. */
export const STORES: Readonly<Record<string, StoreFactory>> = {
  "in-memory": { needs: [], open: (_, options) => new InMemoryMemoryStore({ ...options, embeddingDimensions: 8 }) },
  redis: { needs: ["redis"], open: (opening, options) => RedisMemoryStore.connect(toRedis(opening), options) },
  postgres: {
    needs: ["postgres"],
    open: (opening, options) => PostgresMemoryStore.connect(toPostgres(opening), options),
  },
};

/** Those that runs are over when nothing else is asked for. */
export const DEFAULT_STORES: readonly string[] = ["redis", "postgres"];

/** The store of this name. @throws {RangeError} There is none. */
export function storeNamed(name: string): StoreFactory {
  const found = STORES[name];
  if (found === undefined)
    throw new RangeError(`no store is called ${name}; there are ${Object.keys(STORES).join(", ")}`);
  return found;
}

function toRedis({ dsn, settings }: Opening): MemoryStoreSettings {
  return memoryStoreSettings({ dsn: dsn("redis"), ...settings });
}

function toPostgres({ dsn, settings, prepare }: Opening): MemoryStoreSettings {
  return memoryStoreSettings({ dsn: dsn("postgres"), ...settings, prepare });
}
