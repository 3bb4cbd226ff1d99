// A cluster of processes: whole from the start, and whole again after a master's death.

import { Cluster } from "ioredis";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { canStartLocally, type RedisCluster, startRedisCluster } from "../src/index.ts";

describe.skipIf(!canStartLocally())("three masters with a replica each", () => {
  let cluster: RedisCluster;
  let client: Cluster;
  beforeAll(async () => {
    cluster = await startRedisCluster({ nodeTimeoutMs: 1_000 });
    client = new Cluster([...cluster.addresses], { clusterRetryStrategy: () => 50, retryDelayOnClusterDown: 50 });
    client.on("error", () => undefined);
  });
  afterAll(async () => {
    client?.disconnect();
    await cluster?.stop();
  });

  test("takes keys of every slot", async () => {
    const keys = Array.from({ length: 200 }, (_, index) => `key-${index}`);
    await Promise.all(keys.map((key) => client.set(key, key)));
    expect(await Promise.all(keys.map((key) => client.get(key)))).toEqual(keys);
    expect(client.nodes("master")).toHaveLength(3);
  });

  test("promotes a replica in the place of a killed master and is whole again after its return", async () => {
    const slot = Number(await cluster.nodes[0]?.cli("CLUSTER", "KEYSLOT", "kept"));
    await client.set("kept", "value");
    await (await cluster.masterOf(slot)).cli("WAIT", 1, 1_000);
    const { killed, promoted } = await cluster.failover(slot);
    expect(promoted.port).not.toBe(killed.port);
    expect(await cluster.masterOf(slot)).toBe(promoted);
    await expect.poll(() => client.get("kept").catch(() => undefined), { timeout: 10_000 }).toBe("value");
    await cluster.restore();
    expect(cluster.nodes.every(({ isRunning }) => isRunning)).toBe(true);
    expect(`${await killed.cli("ROLE")}`).toMatch(/^slave/);
  });
});
