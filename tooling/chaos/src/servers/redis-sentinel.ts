// A master and two replicas behind three Sentinels. Replication is asynchronous: what had not reached the replicas when the
// master went is lost, erasures too.

import { setTimeout as pause } from "node:timers/promises";
import { type RedisSentinel, startSentinel, waitFor } from "@tooling/servers";
import { monotonicMs } from "../history.ts";
import { connectionsOf, keysOf } from "./redis.ts";
import { Confirmation } from "./replicated.ts";
import { allHarmless, type Loss, passwordOf, type Rig } from "./rig.ts";

const DOWN_AFTER_MS = 800;
const REPLICAS = 2;

/** Starts it. */
export async function startSentinelRig(canary: string): Promise<Rig> {
  const password = passwordOf(canary);
  const sentinel = await startSentinel({ password, appendOnly: true, downAfterMs: DOWN_AFTER_MS, replicas: REPLICAS });
  const confirmed = new Confirmation();
  const hosts = sentinel.addresses.map(({ host, port }) => `${host}:${port}`).join(",");
  const during = async (fail: () => Promise<unknown>): Promise<Loss> => {
    await confirmed.renew(await sentinel.master(), REPLICAS);
    const { since } = confirmed;
    await fail();
    await heal(sentinel);
    return { since, to: monotonicMs(), undoes: true, loosens: false };
  };
  return {
    server: "redis",
    form: "sentinel",
    dsn: `redis+sentinel://:${password}@${hosts}/${sentinel.name}`,
    prepare: true,
    faults: {
      failover: (ms) =>
        during(async () => {
          await sentinel.failover();
          await pause(ms);
        }),
      // The old master comes back after another was made, and does not know it yet.
      split: (ms) =>
        during(async () => {
          const master = await sentinel.master();
          await master.pause();
          await pause(DOWN_AFTER_MS + ms + 1_500);
          await master.resume();
        }),
      ...allHarmless({
        // Shorter than it takes to be called down.
        pause: async (ms) => {
          const master = await sentinel.master();
          await master.pause();
          await pause(Math.min(ms, DOWN_AFTER_MS / 3));
          await master.resume();
        },
        // The first that clients ask, and the others are there.
        mute: async (ms) => {
          await sentinel.sentinels[0]?.pause();
          await pause(ms);
          await sentinel.sentinels[0]?.resume();
        },
        "forget-scripts": async () => (await sentinel.master()).cli("SCRIPT", "FLUSH"),
      }),
    },
    heal: () => heal(sentinel),
    stuck: async (clients, most) => {
      const counts = await Promise.all(sentinel.nodes.map((node) => connectionsOf(node, clients * most)));
      return counts.flat();
    },
    leftovers: async () => keysOf([await sentinel.master()]),
    stop: () => sentinel.stop(),
  };
}

async function heal(sentinel: RedisSentinel): Promise<void> {
  for (const server of [...sentinel.nodes, ...sentinel.sentinels]) await server.resume();
  await waitFor(
    "one master with its replicas",
    async () => {
      await sentinel.restore();
      return true;
    },
    60_000,
  );
}
