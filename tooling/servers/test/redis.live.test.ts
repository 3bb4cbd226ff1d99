// What the handle of a standalone server promises, seen through a client.

import { Redis } from "ioredis";
import { afterEach, describe, expect, test } from "vitest";
import { findRedis, type RedisOptions, type RedisServer } from "../src/index.ts";

const lanes = [
  ["redis, local or else in a container", await findRedis()],
  ["the newest redis, in a container", await findRedis({ source: "container", isOptional: true })],
  ["valkey", await findRedis({ flavour: "valkey", isOptional: true })],
] as const;

describe.each(lanes)("%s", (_, lane) => {
  describe.skipIf(lane.isMissing)("a server of the test's own", () => {
    let open: AsyncDisposableStack | undefined;
    const start = async (options: RedisOptions = {}): Promise<RedisServer> => {
      open ??= new AsyncDisposableStack();
      return open.use(await lane.start(options));
    };
    const connect = (server: RedisServer, options: object = {}): Redis => {
      const client = new Redis(server.url, { retryStrategy: () => 20, ...options });
      client.on("error", () => undefined);
      open?.defer(() => client.disconnect());
      return client;
    };
    afterEach(async () => {
      await open?.disposeAsync();
      open = undefined;
    });

    test("keeps what was acknowledged over a kill and a restart on the same port", async () => {
      const server = await start({ appendOnly: true });
      const client = connect(server);
      await client.set("key", "value");
      await server.kill();
      expect(server.isRunning).toBe(false);
      await server.restart();
      expect(server.isRunning).toBe(true);
      expect(await client.get("key")).toBe("value");
    });

    test("starts empty again without an append-only file", async () => {
      const server = await start();
      await server.cli("SET", "key", "value");
      await server.restart();
      expect(await server.cli("GET", "key")).toBeNull();
    });

    test("says nothing while it is paused, and everything after", async () => {
      const server = await start();
      const client = connect(server, { commandTimeout: 300 });
      await client.set("key", "value");
      await server.pause();
      await expect(client.get("key")).rejects.toThrow();
      await server.resume();
      await expect.poll(() => client.get("key").catch(() => undefined)).toBe("value");
    });

    test("lets in only who has a password, and users by their rules", async () => {
      const server = await start({ password: "for-tests", users: ["reader on >also-for-tests ~* +get"] });
      const { host, port } = server;
      await expect(connect(server).set("key", "value")).resolves.toBe("OK");
      const stranger = new Redis({ host, port, password: "wrong", lazyConnect: true, retryStrategy: () => null });
      stranger.on("error", () => undefined);
      await expect(stranger.get("key")).rejects.toThrow();
      const reader = new Redis({ host, port, username: "reader", password: "also-for-tests", enableReadyCheck: false });
      open?.defer(() => reader.disconnect());
      await expect(reader.get("key")).resolves.toBe("value");
      await expect(reader.set("key", "other")).rejects.toThrow(/NOPERM/);
    });

    test("speaks TLS with a certificate of its own authority", async () => {
      const server = await start({ tls: true });
      expect(server.url).toMatch(/^rediss:/);
      await expect(connect(server, { tls: { ca: server.ca } }).ping()).resolves.toBe("PONG");
      await expect(server.cli("PING")).resolves.toBe("PONG");
      const stranger = connect(server, { tls: {}, lazyConnect: true, retryStrategy: null });
      await expect(stranger.ping()).rejects.toThrow();
    });
  });
});
