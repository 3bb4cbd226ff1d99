// Several hosts in the connection string, some of which take a connection and do not serve: the others are found within the
// first attempt, and nothing is printed about it.

import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { memoryScope, memoryStoreSettings } from "@memory/core";
import {
  canStartLocally,
  type RedisCluster,
  type RedisSentinel,
  startRedisCluster,
  startSentinel,
} from "@tooling/servers";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { RedisMemoryStore } from "../src/index.ts";

const WRONGS: readonly (readonly [string, (socket: Socket) => void])[] = [
  ["resets it", (socket) => socket.resetAndDestroy()],
  ["resets it when it is greeted", (socket) => socket.once("data", () => socket.resetAndDestroy())],
  ["ends it", (socket) => socket.end()],
  ["ends it when it is greeted", (socket) => socket.once("data", () => socket.end())],
  ["says nothing", () => undefined],
  [
    "is loading",
    (socket) => socket.on("data", () => socket.write("-LOADING Redis is loading the dataset in memory\r\n")),
  ],
  ["is full", (socket) => socket.end("-ERR max number of clients reached\r\n")],
];

async function startListener(take: (socket: Socket) => void) {
  const listener = createServer((socket) => {
    socket.on("error", () => undefined);
    take(socket);
  });
  await once(listener.listen(0, "127.0.0.1"), "listening");
  const address = listener.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return { place: `127.0.0.1:${address.port}`, [Symbol.asyncDispose]: async () => void listener.close() };
}

describe.skipIf(!canStartLocally())("of several hosts", () => {
  let sentinel: RedisSentinel;
  let cluster: RedisCluster;
  const printed = vi.spyOn(console, "error");

  beforeAll(async () => {
    sentinel = await startSentinel({ replicas: 1 });
    cluster = await startRedisCluster({ replicas: 0 });
  });
  afterAll(async () => {
    await sentinel?.stop();
    await cluster?.stop();
  });
  beforeEach(() => {
    printed.mockClear();
  });
  afterEach(() => {
    expect(printed.mock.calls).toEqual([]);
  });

  it.each(WRONGS)("Sentinels that take a connection, where each %s, are passed over", async (_, take) => {
    await using one = await startListener(take);
    await using two = await startListener(take);
    const [third] = sentinel.addresses;
    await expectServed(`redis+sentinel://${one.place},${two.place},${third?.host}:${third?.port}/${sentinel.name}`);
  });

  it.each(WRONGS)("nodes of a cluster that take a connection, where each %s, are passed over", async (_, take) => {
    await using one = await startListener(take);
    await using two = await startListener(take);
    const [third] = cluster.addresses;
    await expectServed(`redis://${one.place},${two.place},${third?.host}:${third?.port}`);
  });
});

async function expectServed(dsn: string): Promise<void> {
  await using store = RedisMemoryStore.connect(memoryStoreSettings({ dsn, attemptTimeoutMs: 3_000, maxAttempts: 1 }));
  const scope = memoryScope({ tenantId: "hosts" });
  await store.write(scope, { key: "k", value: 1, source: "test" });
  expect((await store.read(scope, "k"))?.value).toBe(1);
}
