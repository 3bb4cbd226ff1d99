// The servers that a person names. Whatever else is on them is left alone: the tables are in a schema of their own, the keys
// in a namespace of their own.

import { type Clock, type MemoryStore, memoryStoreSettings } from "@memory/core";
import { PgvectorMemoryStore } from "@memory/pgvector";
import { schemaSql as vectorSchemaSql } from "@memory/pgvector/schema";
import { PostgresMemoryStore } from "@memory/postgres";
import { schemaSql } from "@memory/postgres/schema";
import { RedisMemoryStore } from "@memory/redis";
import postgres from "postgres";
import { collectionOf, type Database, EngineError, type Model } from "./database.ts";

const SCHEMA = "memory_demo";
const NAMESPACE = "memory-demo";
// A run that was killed leaves no turns for longer than this.
const TTL_MS = 86_400_000;
const CONNECT_SECONDS = 10;

/** Where working memory is. */
export interface Scratch {
  readonly where: string;
  open(clock: Clock): MemoryStore;
}

/** Redis, by its connection string. @throws {MemorySettingsError} It is none. */
export function onRedis(dsn: string): Scratch {
  const settings = memoryStoreSettings({ dsn });
  return {
    where: `Redis, keys ${NAMESPACE}:*, for a day`,
    open: (clock) => RedisMemoryStore.connect(settings, { clock, namespace: NAMESPACE, ttlMs: TTL_MS }),
  };
}

/**
 * PostgreSQL with pgvector, by its connection string; makes the tables that are wanting, as the text of the packages has
 * them, and keeps them.
 *
 * @throws {EngineError} The server is out of reach, has no pgvector, or lets nobody of this name make tables.
 * @throws {MemorySettingsError} The connection string is none.
 */
export async function onPostgres(dsn: string, model: Model): Promise<Database> {
  const settings = memoryStoreSettings({ dsn });
  const collection = { ...collectionOf(model), schema: SCHEMA };
  await makeTables(dsn, model);
  return {
    where: `PostgreSQL, schema ${SCHEMA}`,
    startOver: `DROP SCHEMA ${SCHEMA} CASCADE`,
    open: ({ clock, ...rules }) => ({
      durable: PostgresMemoryStore.connect(settings, { clock, schema: SCHEMA, ...rules }),
      semantic: PgvectorMemoryStore.connect(settings, { clock, ...collection }),
    }),
    close: async () => {},
  };
}

const LOOK = `SELECT pg_catalog.to_regclass('${SCHEMA}.episodes') IS NOT NULL AS "hasTables",
 pg_catalog.to_regclass('${SCHEMA}.semantic') IS NOT NULL AS "hasVectors",
 EXISTS (SELECT 1 FROM pg_catalog.pg_available_extensions WHERE name = 'vector') AS "hasExtension"`;

async function makeTables(dsn: string, model: Model): Promise<void> {
  const sql = postgres(dsn, { max: 1, connect_timeout: CONNECT_SECONDS, onnotice: () => {} });
  try {
    await sql.begin(async (tx) => {
      const [seen] = await tx.unsafe(LOOK);
      if (seen?.["hasExtension"] !== true) throw new EngineError(WITHOUT_EXTENSION);
      if (seen["hasTables"] !== true) await tx.unsafe(schemaSql({ schema: SCHEMA }));
      if (seen["hasVectors"] !== true) await tx.unsafe(vectorSchemaSql({ ...collectionOf(model), schema: SCHEMA }));
    });
  } catch (error) {
    throw error instanceof EngineError ? error : new EngineError(refusal(error));
  } finally {
    await sql.end({ timeout: 1 });
  }
}

const WITHOUT_EXTENSION = `The PostgreSQL server has no extension "vector": install pgvector 0.8 or newer there (on Debian
postgresql-NN-pgvector; the image pgvector/pgvector:pg18 has it), or leave --postgres out: PGlite has it.`;

function refusal(error: unknown): string {
  const code = error instanceof Error && "code" in error ? String(error.code) : "no code";
  const words = error instanceof Error && error.message !== "" ? `: ${error.message}` : "";
  // SQLSTATE 42501, insufficient_privilege.
  const advice =
    code === "42501"
      ? `\nThis role makes the tables in a schema of their own, ${SCHEMA}: GRANT CREATE ON DATABASE ... TO it.`
      : "";
  return `PostgreSQL cannot be used (${code})${words}.${advice}`;
}
