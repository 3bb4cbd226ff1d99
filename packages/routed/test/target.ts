// Real servers as a target of the suite. Redis expires by its own clock, which no test can move: `elapse` moves every expiry
// nearer instead, which is the same to a reader.

import type { MemoryKind, MemoryScope, MemoryStore } from "@memory/core";
import { PgvectorMemoryStore } from "@memory/pgvector";
import { PostgresMemoryStore } from "@memory/postgres";
import { RedisMemoryStore } from "@memory/redis";
import type { ConformanceTarget, StoreOptions } from "@memory/testing";
import { Redis } from "ioredis";
import postgres from "postgres";
import { RoutedMemoryStore } from "../src/index.ts";
import { type Addresses, WIDTH } from "./servers.ts";

// Test only: it looks at the whole key space, and at keys that it does not declare.
const NEARER = `
for _, name in ipairs(redis.call('KEYS', 'adk:mem:*')) do
  local at = redis.call('PEXPIRETIME', name)
  if at > 0 then redis.call('PEXPIREAT', name, at - ARGV[1]) end
  if redis.call('TYPE', name).ok == 'zset' then
    local all = redis.call('ZRANGE', name, 0, -1, 'WITHSCORES')
    for i = 1, #all, 2 do
      local score = tonumber(all[i + 1])
      if score > 0 and score < 1e15 then redis.call('ZADD', name, score - ARGV[1], all[i]) end
    end
  end
end`;

// Every millisecond of a model-based run is a hundred seconds of the server, so that what the run itself takes decides nothing.
const STRETCH = 100_000;

/** A target whose stores share one client for each server. */
export interface ServersTarget extends ConformanceTarget, AsyncDisposable {
  /** The same, for model-based runs. */
  readonly stretched: ConformanceTarget;
}

/** Opens the clients. */
export function serversTarget(name: string, addresses: Addresses): ServersTarget {
  const redis = new Redis(addresses.redis, { enableAutoPipelining: true });
  const sql = postgres(addresses.postgres, { max: 8, onnotice: () => {} });
  const open = ({ ttlMs, sliding, maxElements, settings, clock, ...rules }: StoreOptions): MemoryStore => {
    const own = { settings, clock };
    const members = {
      working: new RedisMemoryStore(redis, { ...own, ttlMs, sliding, maxElements }),
      durable: new PostgresMemoryStore(sql, own),
      semantic: new PgvectorMemoryStore(sql, { ...own, dimensions: WIDTH }),
    };
    return new RoutedMemoryStore(members, rules);
  };
  const elapse = async (ms: number): Promise<void> => {
    await redis.eval(NEARER, 0, String(ms));
  };
  return {
    name,
    open,
    elapse,
    corrupt: (scope, kind, key) => damage(redis, sql, scope, kind, key),
    stretched: {
      name,
      open: ({ ttlMs, ...rest }) => stretched(open(ttlMs === undefined ? rest : { ...rest, ttlMs: ttlMs * STRETCH })),
      elapse: (ms) => elapse(ms * STRETCH + 1),
    },
    async [Symbol.asyncDispose]() {
      redis.disconnect();
      await sql.end({ timeout: 1 });
    },
  };
}

function stretched(store: MemoryStore): MemoryStore {
  return new Proxy(store, {
    get(target, member) {
      if (member === "expire") {
        const expire: MemoryStore["expire"] = (scope, key, given) =>
          target.expire(scope, key, { ...given, ttlMs: given.ttlMs * STRETCH });
        return expire;
      }
      const found: unknown = Reflect.get(target, member, target);
      return typeof found === "function" ? found.bind(target) : found;
    },
  });
}

// The suite damages records at plain names only: nothing in them is encoded.
async function damage(
  redis: Redis,
  sql: postgres.Sql,
  scope: MemoryScope,
  kind: MemoryKind,
  key: string,
): Promise<void> {
  const { tenantId, userId = "", sessionId = "", agent = "" } = scope;
  if (kind === "working") {
    const name = `adk:mem:{${tenantId}}:${userId}:${sessionId}:${agent}:working:${key}`;
    if ((await redis.type(name)) === "list") await redis.lset(name, 0, "0aoops");
    else await redis.set(name, "0jnot json\n{", "KEEPTTL");
  } else {
    const table = { profile: "profile_versions", episodic: "episodes", semantic: "semantic" }[kind];
    await sql.unsafe(
      `UPDATE memory.${table} SET value = '{' WHERE tenant_id = $1 AND user_id = $2 AND session_id = $3 AND agent = $4 AND key = $5`,
      [tenantId, userId, sessionId, agent, key],
    );
  }
}
