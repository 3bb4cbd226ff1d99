// What replication keeps: a write that all replicas of a master have confirmed bounds what its failover may lose. Everything
// that was acknowledged before that write was sent is older in the same stream.

import type { RedisServer } from "@tooling/servers";
import { Redis } from "ioredis";
import { monotonicMs } from "../history.ts";

const WITNESS = "chaos:witness";

/** Knows up to when everything has reached the replicas. */
export class Confirmation {
  #since: number = monotonicMs();

  /** Whatever was acknowledged before this instant has reached every replica. */
  get since(): number {
    return this.#since;
  }

  /** Writes to the master and waits for so many replicas; without them the instant stays as it was. */
  async renew(master: RedisServer, replicas: number): Promise<void> {
    const at = monotonicMs();
    const client = new Redis(master.url, { maxRetriesPerRequest: 0, retryStrategy: () => null });
    client.on("error", () => undefined);
    try {
      for (let tag = 0; ; tag += 1) {
        const key = `${WITNESS}:{${tag}}`;
        if (await isSet(client, key)) {
          if ((await client.wait(replicas, 2_000)) >= replicas) this.#since = at;
          await client.unlink(key);
          return;
        }
      }
    } finally {
      client.disconnect();
    }
  }
}

// In a cluster most keys are another master's.
async function isSet(client: Redis, key: string): Promise<boolean> {
  try {
    await client.set(key, "1");
    return true;
  } catch (error) {
    if (error instanceof Error && error.message.startsWith("MOVED")) return false;
    throw error;
  }
}
