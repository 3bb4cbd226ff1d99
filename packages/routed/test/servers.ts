// The real servers that members are bound over, and the stores on them.

import { type MemoryStoreSettings, memoryStoreSettings } from "@memory/core";
import { driverOf } from "@memory/core/driver";
import { PgvectorMemoryStore } from "@memory/pgvector";
import { schemaSql as vectorSchemaSql } from "@memory/pgvector/schema";
import { PostgresMemoryStore } from "@memory/postgres";
import { schemaSql } from "@memory/postgres/schema";
import { RedisMemoryStore } from "@memory/redis";
import { findPostgres, findRedis, type PostgresLane, type PostgresPrimary, type RedisServer } from "@tooling/servers";
import { Redis } from "ioredis";
import postgres from "postgres";
import { RoutedMemoryStore, type RoutedMemoryStoreOptions } from "../src/index.ts";
import type { MemberDrivers } from "./in-memory-target.ts";

/** The width of the vectors. */
export const WIDTH = 4;

/** Where the members are. */
export interface Addresses {
  readonly redis: string;
  readonly postgres: string;
  /** The same server as `postgres`, on connections of its own. */
  readonly vectors: string;
}

/** Running servers. */
export interface Servers extends AsyncDisposable {
  readonly redis: RedisServer;
  readonly postgres: PostgresPrimary;
  readonly addresses: Addresses;
}

/** Whether all the servers can be had here; to be started in a hook of the test file. */
export async function findServers(): Promise<{ readonly isMissing: boolean; start(): Promise<Servers> }> {
  const redis = await findRedis();
  const database: PostgresLane = findPostgres({ extensions: ["vector"] });
  return {
    isMissing: redis.isMissing || database.isMissing,
    start: async () => {
      const servers = { redis: await redis.start(), postgres: await database.start() };
      const { url } = servers.postgres;
      await applySchema(url);
      return {
        ...servers,
        addresses: { redis: servers.redis.url, postgres: url, vectors: url },
        async [Symbol.asyncDispose]() {
          await servers.redis.stop();
          await servers.postgres.stop();
        },
      };
    },
  };
}

/** Makes the tables, as their owner. */
async function applySchema(url: string): Promise<void> {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  await sql.unsafe(schemaSql());
  await sql.unsafe(vectorSchemaSql({ dimensions: WIDTH }));
  await sql.end();
}

/** What a test says of the members beside their addresses. */
export interface Wishes extends RoutedMemoryStoreOptions {
  readonly settings?: Partial<Omit<MemoryStoreSettings, "dsn">>;
}

/** The drivers of the members, each behind its own gate and retries. */
export function driversOn(addresses: Addresses): MemberDrivers {
  return {
    working: driverOf(RedisMemoryStore.connect(memoryStoreSettings({ dsn: addresses.redis }))),
    durable: driverOf(PostgresMemoryStore.connect(memoryStoreSettings({ dsn: addresses.postgres }))),
    semantic: driverOf(
      PgvectorMemoryStore.connect(memoryStoreSettings({ dsn: addresses.vectors }), { dimensions: WIDTH }),
    ),
  };
}

/** Everything that the servers hold, as text: names and contents of keys, and the rows of every table. */
export async function dump({ redis, postgres: database }: Addresses): Promise<string> {
  const client = new Redis(redis);
  const sql = postgres(database, { max: 1, onnotice: () => {} });
  const found: string[] = [];
  for (const name of await client.keys("*")) found.push(name, await contents(client, name));
  for (const { tablename } of await sql`SELECT tablename FROM pg_tables WHERE schemaname = 'memory'`) {
    for (const { row } of await sql`SELECT t::text AS row FROM memory.${sql(tablename)} t`) found.push(String(row));
  }
  client.disconnect();
  await sql.end();
  return found.join("\n");
}

async function contents(client: Redis, name: string): Promise<string> {
  const type = await client.type(name);
  if (type === "string") return (await client.get(name)) ?? "";
  if (type === "list") return (await client.lrange(name, 0, -1)).join("\n");
  if (type === "hash") return JSON.stringify(await client.hgetall(name));
  if (type === "zset") return JSON.stringify(await client.call("ZRANGE", name, "0", "-1", "WITHSCORES"));
  if (type === "none") return "";
  throw new Error(`the dump knows no ${type}`);
}

/** A routed store on connections of its own, which it closes. */
export function connect(addresses: Addresses, { settings = {}, clock, ...rules }: Wishes = {}): RoutedMemoryStore {
  const at = (dsn: string) => memoryStoreSettings({ dsn, ...settings });
  const own = { clock };
  return new RoutedMemoryStore(
    {
      working: RedisMemoryStore.connect(at(addresses.redis), own),
      durable: PostgresMemoryStore.connect(at(addresses.postgres), own),
      semantic: PgvectorMemoryStore.connect(at(addresses.vectors), { ...own, dimensions: WIDTH }),
    },
    rules,
  );
}
