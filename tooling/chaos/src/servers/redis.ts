// One Redis server behind a proxy, which keeps an append-only file: what it acknowledged outlives a kill. Only eviction may
// lose anything.

import { setTimeout as pause } from "node:timers/promises";
import { type RedisServer, startProxy, startRedis, waitFor } from "@tooling/servers";
import { Redis } from "ioredis";
import { monotonicMs } from "../history.ts";
import { lostMessages, networkFaults, openLinks } from "./network.ts";
import { allHarmless, type FaultAction, type Loss, passwordOf, type Rig } from "./rig.ts";

const POLICIES = ["allkeys-random", "allkeys-lru", "allkeys-lfu"];

/** Starts it. */
export async function startRedisRig(canary: string): Promise<Rig> {
  // Not synced to the disk, which only a machine that dies would notice; and written before each answer, which with
  // `everysec` it is not always (redis.conf, appendfsync).
  const args = ["--appendfsync", "no", "--busy-reply-threshold", "150"];
  const server = await startRedis({ password: passwordOf(canary), appendOnly: true, args });
  const proxy = await startProxy(server);
  return {
    server: "redis",
    form: "standalone",
    dsn: proxy.through(server.url),
    prepare: true,
    faults: { ...networkFaults([proxy]), ...lostMessages(proxy), ...processFaults(server), ...serverFaults(server) },
    heal: async () => {
      proxy.set({});
      if (!server.isRunning) await server.restart();
      await server.resume();
      await waitFor("Redis to answer", async () => (await server.cli("PING")) === "PONG");
      await server.cli("CONFIG", "SET", "maxmemory", "0", "maxclients", "10000");
    },
    stuck: async (clients, most) => [
      ...openLinks([proxy], clients * most),
      ...(await connectionsOf(server, clients * most)),
    ],
    leftovers: () => keysOf([server]),
    stop: async () => {
      await proxy.stop();
      await server.stop();
    },
  };
}

/** More connections of clients at the server than there may be. */
export async function connectionsOf(server: RedisServer, most: number): Promise<readonly string[]> {
  // The one that asks is among them; Sentinels name theirs.
  const list = `${await server.cli("CLIENT", "LIST", "TYPE", "normal")}`.split("\n");
  const count = list.filter((line) => line !== "" && !/ name=sentinel-|cmd=client\|list/.test(line)).length;
  return count > most ? [`${count} connections at the server, ${most} at most`] : [];
}

/** How many keys there are in servers that should hold none. */
export async function keysOf(servers: readonly RedisServer[]): Promise<readonly string[]> {
  const found: string[] = [];
  for (const server of servers) {
    const count = Number(await server.cli("DBSIZE"));
    if (count > 0) found.push(`${count} keys, such as ${await kindOfKey(server)}`);
  }
  return found;
}

// The end of a key's name says what it is, and nothing of whose.
async function kindOfKey(server: RedisServer): Promise<string> {
  const name = `${await server.cli("RANDOMKEY")}`;
  return /:(index|meta|scopes|derived|working)\b/.exec(name)?.[1] ?? "another";
}

/** What happens to the process. */
function processFaults(server: RedisServer): Readonly<Record<string, FaultAction>> {
  return allHarmless({
    kill: async (ms) => {
      await server.kill();
      await pause(ms);
      await server.restart();
    },
    restart: () => server.restart(),
    pause: async (ms) => {
      await server.pause();
      await pause(ms);
      await server.resume();
    },
  });
}

function serverFaults(server: RedisServer): Readonly<Record<string, FaultAction>> {
  const evicting: FaultAction = (ms, number) => evict(server, ms, POLICIES[number % POLICIES.length] ?? "allkeys-lru");
  const others = allHarmless({
    // Everything that needs memory is refused.
    oom: async (ms) => {
      await server.cli("CONFIG", "SET", "maxmemory-policy", "noeviction", "maxmemory", "100kb");
      await pause(ms);
      await server.cli("CONFIG", "SET", "maxmemory", "0");
    },
    crowd: (ms) => crowd(server, ms),
    busy: async (ms) => {
      // It answers when it is killed.
      const spinning = server.cli("EVAL", "while true do end", 0).catch(() => undefined);
      await pause(Math.max(ms, 300));
      await waitFor("the script's end", async () => /OK|NOTBUSY/.test(await killScript(server)));
      await spinning;
    },
    "forget-scripts": async () => {
      await server.cli("SCRIPT", "FLUSH");
    },
  });
  return { ...others, evict: evicting };
}

async function killScript(server: RedisServer): Promise<string> {
  return `${await server.cli("SCRIPT", "KILL").catch((error: unknown) => error)}`;
}

async function evict(server: RedisServer, ms: number, policy: string): Promise<Loss> {
  const from = monotonicMs();
  const used = Number(/used_memory:(\d+)/.exec(`${await server.cli("INFO", "memory")}`)?.[1] ?? 0);
  await server.cli("CONFIG", "SET", "maxmemory-policy", policy, "maxmemory", used + 20_000);
  await pause(ms);
  await server.cli("CONFIG", "SET", "maxmemory", "0", "maxmemory-policy", "noeviction");
  return { since: 0, to: Math.max(from, monotonicMs()), undoes: false, loosens: true };
}

async function crowd(server: RedisServer, ms: number): Promise<void> {
  // One connection is enough, if it is ours: it is how the others get their room back.
  const own = new Redis(server.url, { maxRetriesPerRequest: 0, retryStrategy: () => null });
  own.on("error", () => undefined);
  try {
    await own.config("SET", "maxclients", "1");
    await own.call("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
    await pause(ms);
    await own.config("SET", "maxclients", "10000");
  } finally {
    own.disconnect();
  }
}
