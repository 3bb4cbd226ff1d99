// Connections over their life: none is left behind, nothing goes unhandled, nothing secret is shown, and what a connection
// that was given up still brings does no harm.

import { connect, createServer, type Socket } from "node:net";
import { inspect } from "node:util";
import { isMemoryError, type MemoryScope, memoryStoreSettings } from "@memory/core";
import { driverOf } from "@memory/core/driver";
import { canStartLocally, startRedis, startRedisCluster, startSentinel, waitFor } from "@tooling/servers";
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type RedisConnectOptions, RedisMemoryStore } from "../src/index.ts";

const PASSWORD = "Quiet-Passphrase-3";
const scope: MemoryScope = { tenantId: "acme-hidden", userId: "u" };
const record = { kind: "working", scope, key: "k", value: "payload-hidden", source: "test" } as const;
const settings = { maxAttempts: 2, backoffMs: 1, attemptTimeoutMs: 500, connectTimeoutMs: 500 };

const server = await startRedis({ password: PASSWORD });
const admin = new Redis(server.url);
admin.on("error", () => undefined);

const stray: unknown[] = [];
const note = (reason: unknown): void => {
  stray.push(reason);
};

beforeAll(() => {
  process.on("unhandledRejection", note);
  process.on("warning", note);
});

afterAll(async () => {
  process.off("unhandledRejection", note);
  process.off("warning", note);
  admin.disconnect();
  await server.stop();
  expect(stray).toEqual([]);
});

function open(dsn: string, more: object = {}, options: RedisConnectOptions = {}): RedisMemoryStore {
  return RedisMemoryStore.connect(memoryStoreSettings({ dsn, ...settings, ...more }), options);
}

async function outcomeOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => "done",
    (error: unknown) => error,
  );
}

async function connections(): Promise<number> {
  return String(await admin.client("LIST"))
    .split("\n")
    .filter(Boolean).length;
}

describe("a connection of the store's own", () => {
  it("is one for all callers, and is gone when the store is closed, also under load", async () => {
    const before = await connections();
    const store = open(server.url);
    await Promise.all(Array.from({ length: 100 }, (_, i) => store.append(scope, "turns", i)));
    expect(await connections()).toBe(before + 1);
    const appended = Array.from({ length: 500 }, (_, i) => outcomeOf(store.append(scope, "turns", i)));
    await store.close();
    const outcomes = await Promise.all(appended);
    expect(outcomes.filter((one) => one !== "done" && !isMemoryError(one))).toEqual([]);
    const done = outcomes.filter((one) => one === "done").length;
    await waitFor("the connection to be gone", async () => (await connections()) === before);
    expect(await admin.llen(`adk:mem:{${scope.tenantId}}:u:::working:turns`)).toBe(1 + 100 + done);
    expect(await outcomeOf(store.read(scope, "turns"))).toMatchObject({ code: "MEMORY_UNAVAILABLE", attempts: 0 });
  });

  it("that dies while nobody asks is nobody's error, and is made anew", async () => {
    await using own = await startRedis({ appendOnly: true });
    await using store = open(own.url, { maxAttempts: 20, backoffMs: 20 });
    await store.write(scope, record);
    await own.kill();
    await own.restart();
    expect((await store.read(scope, "k"))?.value).toBe(record.value);
  });

  it("shows no secret, and neither do its errors", async () => {
    const dead = `redis://app:${PASSWORD}@127.0.0.1:1/3`;
    for (const dsn of [dead, server.url, server.url.replace(PASSWORD, "Wrong-Passphrase-3")]) {
      await using store = open(dsn);
      const error = await outcomeOf(store.write(scope, record));
      for (const one of [store, driverOf(store), error]) {
        const text = `${inspect(one, { depth: 10 })}${JSON.stringify(one)}`;
        expect(text).not.toMatch(/Passphrase|payload-hidden|acme-hidden/);
      }
    }
  });

  it("stops waiting when its signal says so", async () => {
    await using store = open(server.url);
    const reason = new Error("enough");
    const stop = new AbortController();
    const appended = outcomeOf(store.append(scope, "stopped", 1, { signal: stop.signal }));
    stop.abort(reason);
    expect(await appended).toBe(reason);
  });

  it("over TLS to a server that it cannot trust is final, to an address as to a name", async () => {
    await using secure = await startRedis({ tls: true });
    await using store = open(secure.url);
    expect(await outcomeOf(store.read(scope, "k"))).toMatchObject({ code: "MEMORY_UNAVAILABLE", attempts: 1 });
  });
});

describe("an append", () => {
  it("to a server that stands still lands at most once, whenever it goes on", { timeout: 30_000 }, async () => {
    await using own = await startRedis();
    await using store = open(own.url, { attemptTimeoutMs: 100, maxAttempts: 3 });
    await store.append(scope, "turns", 0);
    await own.pause();
    const outcomes = await Promise.all([1, 2, 3].map((i) => outcomeOf(store.append(scope, "turns", i))));
    for (const one of outcomes) expect(one).toMatchObject({ code: "MEMORY_UNAVAILABLE", outcome: "unknown" });
    await own.resume();
    await using late = open(own.url, { maxAttempts: 10 });
    await late.append(scope, "turns", 4);
    const value = (await late.read(scope, "turns"))?.value;
    const turns = Array.isArray(value) ? value.map(Number) : [];
    expect(new Set(turns).size).toBe(turns.length);
    expect(turns).toContain(4);
  });

  it("lands once also when its first attempt arrives after the second was answered", { timeout: 30_000 }, async () => {
    let held: (() => void)[] | undefined;
    const sockets: Socket[] = [];
    const proxy = createServer((socket) => {
      const isFirst = sockets.length === 0;
      const upstream = connect(server.port, server.host);
      sockets.push(socket, upstream);
      for (const one of [socket, upstream]) one.on("error", () => undefined);
      upstream.on("data", (data) => socket.writable && socket.write(data));
      socket.on("data", (data) => {
        if (isFirst && held !== undefined) held.push(() => upstream.write(data));
        else upstream.write(data);
      });
    });
    await new Promise<void>((resolve) => {
      proxy.listen(0, "127.0.0.1", resolve);
    });
    const address = proxy.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    const store = open(`redis://:${PASSWORD}@127.0.0.1:${port}`, { attemptTimeoutMs: 150 });
    expect(await store.append(scope, "late", 0)).toBe(1);
    held = [];
    expect(await store.append(scope, "late", 1)).toBe(2);
    expect(await store.append(scope, "late", 2)).toBe(3);
    const calls = async (): Promise<string> =>
      String(await admin.info("commandstats")).match(/cmdstat_evalsha:calls=(\d+)/)?.[1] ?? "";
    const before = await calls();
    for (const deliver of held) deliver();
    await waitFor("the late attempt to arrive", async () => (await calls()) !== before);
    expect((await store.read(scope, "late"))?.value).toEqual([0, 1, 2]);
    await store.close();
    for (const socket of sockets) socket.destroy();
    proxy.close();
  });
});

describe.skipIf(!canStartLocally())("a connection string", () => {
  it("of a cluster is enough with one node that answers", { timeout: 60_000 }, async () => {
    await using cluster = await startRedisCluster({ replicas: 0 });
    const nodes = cluster.addresses.map(({ host, port }) => `${host}:${port}`);
    await using store = open(`redis://127.0.0.1:1,${nodes[0]}`, { attemptTimeoutMs: 2_000, connectTimeoutMs: 2_000 });
    await store.write(scope, record);
    await store.verify();
    await using none = open("redis://127.0.0.1:1,127.0.0.1:2");
    expect(await outcomeOf(none.read(scope, "k"))).toMatchObject({
      code: "MEMORY_UNAVAILABLE",
      outcome: "not-applied",
    });
    await using lone = open(`redis://${nodes[0]}`, { maxAttempts: 1 });
    const elsewhere = await Promise.all(
      ["a", "b", "c", "d", "e", "f", "g", "h"].map((tenantId) => outcomeOf(lone.read({ tenantId }, "k"))),
    );
    expect(elsewhere.some((one) => isMemoryError(one, "MEMORY_UNAVAILABLE"))).toBe(true);
  });

  it("with a master that no Sentinel knows, or no Sentinel that answers, settles in time", {
    timeout: 60_000,
  }, async () => {
    await using sentinel = await startSentinel();
    const hosts = sentinel.addresses.map(({ host, port }) => `${host}:${port}`).join(",");
    for (const dsn of [
      `redis+sentinel://${hosts}/nobody`,
      `redis+sentinel://127.0.0.1:1,127.0.0.1:2/${sentinel.name}`,
    ]) {
      await using store = open(dsn);
      expect(await outcomeOf(store.read(scope, "k"))).toMatchObject({
        code: "MEMORY_UNAVAILABLE",
        outcome: "not-applied",
      });
    }
  });
});
