// Three masters with a replica each. Tenants lie on different masters; what one loses in a failover, its replica never had.

import { setTimeout as pause } from "node:timers/promises";
import { type RedisCluster, type RedisServer, startRedisCluster } from "@tooling/servers";
import { monotonicMs } from "../history.ts";
import { connectionsOf, keysOf } from "./redis.ts";
import { Confirmation } from "./replicated.ts";
import { allHarmless, passwordOf, type Rig } from "./rig.ts";

/** A slot of each master. */
const SLOTS = [0, 8_000, 16_000];

/** Starts it. */
export async function startClusterRig(canary: string): Promise<Rig> {
  const password = passwordOf(canary);
  const cluster = await startRedisCluster({ password, appendOnly: true, nodeTimeoutMs: 1_000 });
  const confirmed = SLOTS.map(() => new Confirmation());
  const hosts = cluster.addresses.map(({ host, port }) => `${host}:${port}`).join(",");
  return {
    server: "redis",
    form: "cluster",
    dsn: `redis://:${password}@${hosts}`,
    prepare: true,
    faults: {
      failover: async (ms, number) => {
        const slot = SLOTS[number % SLOTS.length] ?? 0;
        const own = confirmed[number % SLOTS.length];
        await own?.renew(await cluster.masterOf(slot), 1);
        await cluster.failover(slot);
        await pause(ms);
        await cluster.restore();
        return { since: own?.since ?? 0, to: monotonicMs(), undoes: true, loosens: false };
      },
      ...allHarmless({
        pause: async (ms, number) => {
          const master = await cluster.masterOf(SLOTS[number % SLOTS.length]);
          await master.pause();
          await pause(Math.min(ms, 400));
          await master.resume();
        },
        "forget-scripts": async () => {
          for (const slot of SLOTS) await (await cluster.masterOf(slot)).cli("SCRIPT", "FLUSH");
        },
      }),
    },
    heal: async () => {
      for (const node of cluster.nodes) await node.resume();
      await cluster.restore();
    },
    stuck: async (clients, most) => {
      const counts = await Promise.all(cluster.nodes.map((node) => connectionsOf(node, clients * most)));
      return counts.flat();
    },
    leftovers: async () => keysOf(await mastersOf(cluster)),
    stop: () => cluster.stop(),
  };
}

async function mastersOf(cluster: RedisCluster): Promise<readonly RedisServer[]> {
  const masters = await Promise.all(SLOTS.map((slot) => cluster.masterOf(slot)));
  return [...new Set(masters)];
}
