// The stores of a run, a line each: which servers a store stands on, and how a client process opens it.

import {
  type MemoryStore,
  type MemoryStoreOptions,
  type MemoryStoreSettings,
  type MemoryStoreSettingsInput,
  memoryStoreSettings,
} from "@memory/core";
import { InMemoryMemoryStore } from "@memory/core/in-memory";
import { PgvectorMemoryStore } from "@memory/pgvector";
import { PostgresMemoryStore } from "@memory/postgres";
import { RedisMemoryStore } from "@memory/redis";
import { RoutedMemoryStore } from "@memory/routed";
import { findPostgres } from "@tooling/servers";

/** How wide the vectors of a run are. */
export const DIMENSIONS = 8;

/** A server that stores stand on. */
export type ServerName = "redis" | "postgres";

/** How clients reach the servers of a run. */
export type Addresses = Readonly<Partial<Record<ServerName, string>>>;

/** How stores of a run are set: impatient, so that what an outage costs fits into it many times. */
export const SETTINGS = {
  poolSize: 3,
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
  /** The servers that it stands on, once for each pool of connections that it has. */
  readonly needs: readonly ServerName[];
  /** It keeps vectors. */
  readonly isSemantic?: true;
  open(opening: Opening, options: MemoryStoreOptions): MemoryStore;
}

/** The table. */
export const STORES: Readonly<Record<string, StoreFactory>> = {
  "in-memory": {
    needs: [],
    open: (_, options) => new InMemoryMemoryStore({ ...options, embeddingDimensions: DIMENSIONS }),
  },
  redis: { needs: ["redis"], open: (opening, options) => RedisMemoryStore.connect(toRedis(opening), options) },
  postgres: {
    needs: ["postgres"],
    open: (opening, options) => PostgresMemoryStore.connect(toPostgres(opening), options),
  },
  pgvector: {
    needs: ["postgres"],
    isSemantic: true,
    open: (opening, options) =>
      PgvectorMemoryStore.connect(toPostgres(opening), { ...options, dimensions: DIMENSIONS }),
  },
  routed: {
    needs: ["redis", "postgres", "postgres"],
    isSemantic: true,
    open: (opening, { clock, ...options }) => {
      const members = {
        working: RedisMemoryStore.connect(toRedis(opening), { clock }),
        durable: PostgresMemoryStore.connect(toPostgres(opening), { clock }),
        semantic: PgvectorMemoryStore.connect(toPostgres(opening), { clock, dimensions: DIMENSIONS }),
      };
      return new RoutedMemoryStore(members, options);
    },
  },
};

/** Those that runs are over when nothing else is asked for: all of them, or, where PostgreSQL has no vectors here, two. */
export function defaultStores(): readonly string[] {
  const hasVectors = !findPostgres({ extensions: ["vector"] }).isMissing;
  return Object.keys(STORES).filter((name) => {
    const { needs, isSemantic } = storeNamed(name);
    return needs.length > 0 && (hasVectors || isSemantic === undefined);
  });
}

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
