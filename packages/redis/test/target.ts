// A Redis server as a target of the suite. Servers expire by their own clock, which no test can move: `elapse` moves every
// expiry of ours nearer instead, in the records and in the bookkeeping alike, which is the same to a reader.

import type { MemoryStore } from "@memory/core";
import type { ConformanceTarget, StoreOptions } from "@memory/testing";
import { Cluster, type Redis } from "ioredis";
import { RedisMemoryStore } from "../src/index.ts";
import { encodePart, Names } from "../src/keys.ts";
import type { RedisClient } from "../src/script.ts";

// Test only: it looks at the whole key space, and at keys that it does not declare.
const NEARER = `
local ms, moved = tonumber(ARGV[2]), 0
for _, name in ipairs(redis.call('KEYS', ARGV[1])) do
  local at = redis.call('PEXPIRETIME', name)
  if at > 0 then
    redis.call('PEXPIREAT', name, at - ms)
    moved = moved + 1
  end
  if redis.call('TYPE', name).ok == 'zset' then
    local all = redis.call('ZRANGE', name, 0, -1, 'WITHSCORES')
    for i = 1, #all, 2 do
      local score = tonumber(all[i + 1])
      if score > 0 and score < 1e15 then redis.call('ZADD', name, score - ms, all[i]) end
    end
  end
end
return moved`;

/** A target over a server: `client` reaches it, `open` makes the stores (by default over one client of the test's). */
export function redisTarget(
  name: string,
  client: RedisClient,
  namespace: string,
  open: (options: StoreOptions) => MemoryStore = (options) => new RedisMemoryStore(client, { ...options, namespace }),
): ConformanceTarget {
  const names = new Names(namespace);
  return {
    name,
    open,
    async elapse(ms) {
      for (const node of nodesOf(client)) await node.eval(NEARER, 0, `${namespace}:*`, String(ms));
    },
    async corrupt(scope, _kind, key) {
      const { records } = names.of(scope);
      const record = records + encodePart(key);
      if ((await client.type(record)) === "list") await client.lset(record, 0, "0aoops");
      else await client.set(record, "0jnot json\n{", "KEEPTTL");
    },
  };
}

/** The masters. */
function nodesOf(client: RedisClient): readonly Redis[] {
  return client instanceof Cluster ? client.nodes("master") : [client];
}
