// A watched set: clients find the master by its name, before and after a failover.

import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { canStartLocally, type RedisSentinel, startSentinel } from "../src/index.ts";

describe.skipIf(!canStartLocally())("a master, two replicas and three Sentinels", () => {
  let set: RedisSentinel;
  let client: Redis;
  beforeAll(async () => {
    set = await startSentinel({ password: "for-tests", downAfterMs: 500 });
    client = new Redis({ sentinels: [...set.addresses], name: set.name, password: "for-tests" });
    client.on("error", () => undefined);
  });
  afterAll(async () => {
    client?.disconnect();
    await set?.stop();
  });

  test("leaves a healthy master in its place", async () => {
    await client.set("key", "value");
    const before = await set.master();
    expect(await before.cli("WAIT", 2, 2_000)).toBe(2);
    expect(await set.master()).toBe(before);
  });

  test("promotes a replica in the place of a killed master, which comes back as a replica", async () => {
    const { killed, promoted } = await set.failover();
    expect(promoted.port).not.toBe(killed.port);
    await expect.poll(() => client.get("key").catch(() => undefined), { timeout: 10_000 }).toBe("value");
    await set.restore();
    expect(await set.master()).toBe(promoted);
    expect(`${await killed.cli("ROLE")}`).toMatch(new RegExp(`^slave,127.0.0.1,${promoted.port}`));
  });
});
