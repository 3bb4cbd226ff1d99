// Each fault of the proxy, as a client of a real server meets it.

import { once } from "node:events";
import { connect as openSocket } from "node:net";
import { Redis } from "ioredis";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { findRedis, type RedisServer, startProxy, type TcpProxy } from "../src/index.ts";

const lane = await findRedis();

describe.skipIf(lane.isMissing)("a proxy before a server", () => {
  let server: RedisServer;
  let proxy: TcpProxy;
  const clients: Redis[] = [];
  const connect = (options: object = {}): Redis => {
    const client = new Redis(proxy.through(server.url), { retryStrategy: () => 1, ...options });
    client.on("error", () => undefined);
    clients.push(client);
    return client;
  };
  beforeAll(async () => {
    server = await lane.start();
  });
  afterAll(() => server?.stop());
  beforeEach(async () => {
    await server.cli("FLUSHALL");
    proxy = await startProxy(server);
  });
  afterEach(async () => {
    for (const client of clients.splice(0)) client.disconnect();
    await proxy.stop();
  });

  test("passes everything on without a fault, and counts it", async () => {
    const client = connect({ enableReadyCheck: false, disableClientInfo: true });
    await client.ping();
    const before = proxy.counts();
    const long = "x".repeat(300_000);
    await client.set("key", long);
    expect(await client.get("key")).toBe(long);
    const after = proxy.counts();
    expect(after.requests - before.requests).toBe(2);
    expect(after.replies - before.replies).toBe(2);
    expect(after.bytesUp - before.bytesUp).toBeGreaterThan(long.length);
    expect(after.bytesDown - before.bytesDown).toBeGreaterThan(long.length);
    expect(after).toMatchObject({ connections: 1, open: 1, lost: 0 });
  });

  test("loses every third reply of what the server did, and only that", async () => {
    proxy.set({ lose: { what: "reply", every: 3 } });
    const client = connect({ maxRetriesPerRequest: 0, autoResendUnfulfilledCommands: false });
    const outcomes: string[] = [];
    for (let index = 0; index < 9; index += 1) {
      outcomes.push(
        await client.rpush("list", index).then(
          () => "told",
          () => "lost",
        ),
      );
    }
    expect(outcomes).toEqual(["told", "told", "lost", "told", "told", "lost", "told", "told", "lost"]);
    expect(await server.cli("LRANGE", "list", 0, -1)).toEqual(["0", "1", "2", "3", "4", "5", "6", "7", "8"]);
    expect(proxy.counts().lost).toBe(3);
  });

  test("never gives a pipelined command another one's reply", async () => {
    const client = connect({
      maxRetriesPerRequest: 0,
      autoResendUnfulfilledCommands: false,
      enableAutoPipelining: true,
    });
    await client.ping();
    proxy.set({ lose: { what: "reply", every: 50 } });
    const say = (word: string) =>
      client.echo(word).then(
        (answer) => answer === word,
        () => "lost",
      );
    const answers = await Promise.all(Array.from({ length: 100 }, (_, index) => say(`word ${index}`)));
    expect(answers.filter((answer) => answer === false)).toEqual([]);
    expect(answers.slice(0, 49).every((answer) => answer === true)).toBe(true);
    expect(answers.slice(49).every((answer) => answer === "lost")).toBe(true);
  });

  test("loses a request before the server sees it", async () => {
    const client = connect({ maxRetriesPerRequest: 0, autoResendUnfulfilledCommands: false });
    await client.ping();
    proxy.set({ lose: { what: "request", every: 2, only: (command) => command === "RPUSH" } });
    await client.rpush("list", "first");
    await expect(client.rpush("list", "second")).rejects.toThrow();
    expect(await server.cli("LRANGE", "list", 0, -1)).toEqual(["first"]);
  });

  test("swallows a reply and is silent from then on, when told so", async () => {
    const client = connect({ commandTimeout: 200 });
    await expect.poll(() => client.ping().catch(() => "not yet")).toBe("PONG");
    proxy.set({ lose: { what: "reply", every: 1, ending: "silence" } });
    await expect(client.set("key", "value")).rejects.toThrow(/timed out/);
    expect(await server.cli("GET", "key")).toBe("value");
    expect(proxy.counts().open).toBe(1);
  });

  test("resets and ends open connections", async () => {
    const client = connect();
    await client.ping();
    for (const fault of ["reset", "cut"] as const) {
      const closed = new Promise((resolve) => client.once("close", resolve));
      proxy[fault]();
      await closed;
      await expect(client.ping()).resolves.toBe("PONG");
    }
    expect(proxy.counts().connections).toBe(3);
  });

  test("half-closes: the client reads the end and can still send", async () => {
    const socket = openSocket({ host: proxy.host, port: proxy.port, allowHalfOpen: true });
    await once(socket, "connect");
    socket.write("*3\r\n$3\r\nSET\r\n$1\r\na\r\n$1\r\n1\r\n");
    await once(socket, "data");
    const ended = once(socket, "end");
    proxy.halfClose();
    await ended;
    socket.write("*3\r\n$3\r\nSET\r\n$1\r\na\r\n$1\r\n2\r\n");
    await expect.poll(() => server.cli("GET", "a")).toBe("2");
    socket.destroy();
  });

  test("silent: the server does the work, the answer comes when the silence ends", async () => {
    const client = connect();
    await client.ping();
    proxy.set({ silent: true });
    const pending = client.set("key", "value");
    await expect.poll(() => server.cli("GET", "key")).toBe("value");
    proxy.set({});
    await expect(pending).resolves.toBe("OK");
  });

  test("black hole: connections are taken, nothing passes until it is gone", async () => {
    proxy.set({ blackHole: true });
    // Without the client's own questions at the start: the hole swallows those too, and they would time out later.
    const client = connect({ commandTimeout: 200, enableReadyCheck: false, disableClientInfo: true });
    await expect(client.set("key", "value")).rejects.toThrow(/timed out/);
    expect(await server.cli("EXISTS", "key")).toBe(0);
    expect(proxy.counts()).toMatchObject({ connections: 1, bytesUp: 0, bytesDown: 0 });
    proxy.set({});
    await expect.poll(() => client.ping().catch(() => "not yet")).toBe("PONG");
  });

  test("refuses new connections", async () => {
    proxy.set({ refuse: true });
    const client = connect({ retryStrategy: null, lazyConnect: true });
    await expect(client.connect()).rejects.toThrow();
  });

  test("keeps the order of delayed chunks when the delay ends", async () => {
    const client = connect();
    await client.ping();
    proxy.set({ delayMs: 500 });
    const first = client.rpush("list", "first");
    expect(await server.cli("EXISTS", "list")).toBe(0);
    proxy.set({});
    await Promise.all([first, client.rpush("list", "second")]);
    expect(await server.cli("LRANGE", "list", 0, -1)).toEqual(["first", "second"]);
  });

  test("goes on to the server's restart, and to another target", async () => {
    const client = connect();
    await client.set("key", "value");
    await server.restart();
    await expect(client.get("key")).resolves.toBeNull();
    await using other = await lane.start();
    await other.cli("SET", "key", "other");
    proxy.retarget(other);
    proxy.reset();
    await expect.poll(() => client.get("key")).toBe("other");
  });
});
