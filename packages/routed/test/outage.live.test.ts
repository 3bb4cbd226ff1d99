// What an outage costs its caller: as many attempts as the settings say and no more, a refusal at once where nothing is
// free, and work again as soon as the server is back. The attempts are counted on the wire.

import { isMemoryError, type MemoryEvent, type MemoryScope, type MemoryStore } from "@memory/core";
import { FakeClock } from "@memory/testing";
import { startProxy } from "@tooling/servers";
import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
import { connect, findServers, type Servers, type Wishes } from "./servers.ts";

const TIMEOUT_MS = 120_000;
const CALLS = 1_000;
const ann: MemoryScope = { tenantId: "acme", userId: "ann" };
const record = { key: "k", value: "v", source: "test" };
const lane = await findServers();

type Server = "redis" | "postgres";
const WRITES: Readonly<Record<Server, (store: MemoryStore, n: number, signal?: AbortSignal) => Promise<unknown>>> = {
  redis: (store, n, signal) => store.append(ann, `k${n}`, n, { signal }),
  postgres: (store, n, signal) => store.log(ann, { ...record, id: `e${n}` }, { signal }),
};

describe.skipIf(lane.isMissing)("an outage of one server", () => {
  let servers: Servers;

  beforeAll(async () => {
    servers = await lane.start();
  });
  afterAll(async () => {
    await servers?.[Symbol.asyncDispose]();
  });

  /** A store whose connections to one server pass a proxy. */
  async function behind(server: Server, wishes: Wishes) {
    const proxy = await startProxy(servers[server]);
    const store = connect({ ...servers.addresses, [server]: proxy.through(servers.addresses[server]) }, wishes);
    return {
      proxy,
      store,
      async [Symbol.asyncDispose]() {
        proxy.set({});
        await store.close();
        await proxy.stop();
      },
    };
  }

  const settings = {
    ...{ maxAttempts: 3, attemptTimeoutMs: 400, connectTimeoutMs: 300, backoffMs: 20 },
    ...{ poolSize: 10, maxQueued: 10_000, queueTimeoutMs: 2_000 },
  };

  test.each([
    ["redis", "refuse"],
    ["redis", "blackHole"],
    ["postgres", "refuse"],
    ["postgres", "blackHole"],
  ] as const)(
    "%s (%s): 1,000 calls at once all settle, and nothing hammers the server",
    {
      timeout: TIMEOUT_MS,
    },
    async (server, fault) => {
      const events: MemoryEvent[] = [];
      await using rig = await behind(server, { settings, onEvent: (event) => events.push(event) });
      const { proxy, store } = rig;
      await WRITES[server](store, -1);
      const before = proxy.counts();
      events.length = 0;
      proxy.set({ [fault]: true });
      if (fault === "refuse") proxy.reset();

      const settled = await Promise.allSettled(Array.from({ length: CALLS }, (_, n) => WRITES[server](store, n)));
      const errors = settled.flatMap((one) => (one.status === "rejected" ? [one.reason] : []));
      expect(errors).toHaveLength(CALLS);
      expect(errors.filter((error) => !isMemoryError(error))).toEqual([]);
      const classes = new Set(errors.map(({ code }) => code));
      expect([...classes].filter((code) => code !== "MEMORY_UNAVAILABLE" && code !== "POOL_EXHAUSTED")).toEqual([]);
      const told = events.flatMap((event) => (event.name === "adk.memory.operation" ? [event] : []));
      const attempts = told.map((event) => event.attempts);
      const longestMs = Math.max(...told.map(({ durationMs }) => durationMs));
      expect(Math.max(...attempts)).toBeLessThanOrEqual(settings.maxAttempts);
      expect(attempts).toHaveLength(CALLS);
      // Each attempt may ask for a connection of its own; no more than that reaches the wire.
      const { connections, requests } = proxy.counts();
      const made = attempts.reduce((sum, count) => sum + count, 0);
      expect(connections - before.connections).toBeLessThanOrEqual(made);
      expect(requests - before.requests).toBeLessThanOrEqual(2 * made);

      // The other members have noticed nothing.
      await WRITES[server === "redis" ? "postgres" : "redis"](store, 1);

      // Back: whoever asks now is served by the attempts of that one call.
      proxy.set({});
      await WRITES[server](store, CALLS);
      const last = events.at(-1);
      expect(last).toMatchObject({ outcome: "ok" });
      const figures = [
        `${server} ${fault}: ${[...classes].join(" ")}, the longest call ${longestMs} ms, ${made} attempts`,
        `${connections - before.connections} connections, ${requests - before.requests} requests of Redis`,
      ];
      console.log(figures.join(", "));
      await store.erase({ tenantId: "acme" });
    },
  );

  it("whose pool is full and stuck refuses at once: no time passes on the store's clock", {
    timeout: TIMEOUT_MS,
  }, async () => {
    const clock = new FakeClock();
    const events: MemoryEvent[] = [];
    const onEvent = (event: MemoryEvent) => events.push(event);
    const full = { poolSize: 4, maxQueued: 3, queueTimeoutMs: 1_000, attemptTimeoutMs: 60_000 };
    await using rig = await behind("postgres", { clock, settings: full, onEvent });
    const { proxy, store } = rig;
    await Promise.all(Array.from({ length: 4 }, (_, n) => WRITES.postgres(store, n)));
    events.length = 0;
    proxy.set({ silent: true });
    const stuck = Array.from({ length: 7 }, (_, n) => WRITES.postgres(store, 10 + n));
    const refused = await Promise.allSettled(Array.from({ length: 50 }, (_, n) => WRITES.postgres(store, 20 + n)));
    for (const one of refused) {
      expect(one).toMatchObject({ reason: { code: "POOL_EXHAUSTED", store: "postgres", queued: 3 } });
    }
    // Nothing else has settled, and nothing was waited for: an answer that needed a timer would never have come.
    expect(events).toHaveLength(50);
    expect(events).toEqual(
      events.map((event) => ({ ...event, attempts: 0, durationMs: 0, outcome: "POOL_EXHAUSTED" })),
    );
    // Another member is not held up by it.
    await WRITES.redis(store, 1);
    // The three in the queue are told when their time is up; the four on the way are served when the server speaks.
    clock.advance(1_000);
    const queued = await Promise.allSettled(stuck.slice(4));
    expect(queued.map((one) => one.status === "rejected" && one.reason.code)).toEqual(Array(3).fill("POOL_EXHAUSTED"));
    proxy.set({});
    await Promise.all(stuck.slice(0, 4));
    await WRITES.postgres(store, 99);
  });
});
