// Every row of the table of errors, raised by a real server, and what becomes of it above the driver.

import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isMemoryError, type MemoryError, type MemoryScope, memoryStoreSettings } from "@memory/core";
import { canStartLocally, type RedisServer, startProxy, startRedis, startRedisCluster } from "@tooling/servers";
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { judge, NotSentError } from "../src/errors.ts";
import { RedisMemoryStore } from "../src/index.ts";

const scope: MemoryScope = { tenantId: "acme" };
const record = { kind: "working", scope, key: "k", value: 1, source: "test" } as const;
const settings = { maxAttempts: 2, backoffMs: 1, attemptTimeoutMs: 400, connectTimeoutMs: 400 };

function open(dsn: string, more: object = {}): RedisMemoryStore {
  return RedisMemoryStore.connect(memoryStoreSettings({ dsn, ...settings, ...more }));
}

async function failure(promise: Promise<unknown>): Promise<MemoryError> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (isMemoryError(error)) return error;
  throw new Error("expected a failure", { cause: error });
}

/** Fails after every attempt, without effect. */
async function expectTransient(
  promise: Promise<unknown>,
  outcome: "not-applied" | "unknown" = "not-applied",
): Promise<void> {
  const error = await failure(promise);
  expect(error.code).toBe("MEMORY_UNAVAILABLE");
  expect(error).toMatchObject({ attempts: 2, outcome });
}

async function raw(server: RedisServer, ...command: readonly string[]): Promise<Error> {
  const [name = "", ...args] = command;
  const client = new Redis(server.url, { maxRetriesPerRequest: 0, protocol: 2, enableReadyCheck: false });
  client.on("error", () => undefined);
  const error = await client.call(name, ...args).then(
    () => new Error("no error"),
    (reason: unknown) => reason,
  );
  client.disconnect();
  return error instanceof Error ? error : new Error(String(error));
}

describe("replies of a server", () => {
  let server: RedisServer;
  let store: RedisMemoryStore;

  beforeAll(async () => {
    server = await startRedis({ args: ["--busy-reply-threshold", "20"] });
    store = open(server.url);
  });

  afterAll(async () => {
    await store.close();
    await server.stop();
  });

  it("READONLY, of a replica, is transient", async () => {
    await using master = await startRedis();
    await server.cli("REPLICAOF", master.host, master.port);
    const error = await raw(server, "SET", "x", "1");
    expect(error.message).toMatch(/^READONLY/);
    expect(judge(error)).toMatchObject({ isTransient: true, hadNoEffect: true });
    await expectTransient(store.write(scope, record));
    await server.cli("REPLICAOF", "NO", "ONE");
    await store.write(scope, record);
  });

  it("MASTERDOWN, of a replica that serves nothing stale, is transient", async () => {
    await server.cli("CONFIG", "SET", "replica-serve-stale-data", "no");
    await server.cli("REPLICAOF", "127.0.0.1", 1);
    const error = await raw(server, "GET", "x");
    expect(error.message).toMatch(/^MASTERDOWN/);
    expect(judge(error)).toMatchObject({ isTransient: true, hadNoEffect: true });
    await expectTransient(store.read(scope, "k"));
    await server.cli("REPLICAOF", "NO", "ONE");
  });

  it("BUSY, while another script runs, is transient, and so is what SCRIPT KILL leaves", async () => {
    const client = new Redis(server.url);
    const endless = client.eval("while true do end", 0).catch((reason: unknown) => reason);
    const error = await until(() => raw(server, "GET", "x"), /^BUSY/);
    expect(judge(error)).toMatchObject({ isTransient: true, hadNoEffect: true });
    const attempt = expectTransient(store.write(scope, record));
    await attempt;
    await server.cli("SCRIPT", "KILL");
    expect(await endless).toBeInstanceOf(Error);
    client.disconnect();
    await store.write(scope, record);
  });

  it("OOM is no room, and nothing is written", async () => {
    await server.cli("CONFIG", "SET", "maxmemory", "1");
    const error = await raw(server, "SET", "x", "1");
    expect(error.message).toMatch(/^OOM/);
    expect(judge(error).isExhausted).toBe(true);
    expect((await failure(store.write(scope, { ...record, key: "other" }))).code).toBe("POOL_EXHAUSTED");
    await server.cli("CONFIG", "SET", "maxmemory", "0");
    expect(await store.read(scope, "other")).toBeNull();
  });

  it("of a server that may not write reach an append as they are, and it has no effect", async () => {
    await store.append(scope, "turns", 1);
    await store.append(scope, "turns", 2);
    await server.cli("CONFIG", "SET", "maxmemory", "1");
    expect((await failure(store.append(scope, "turns", 3))).code).toBe("POOL_EXHAUSTED");
    expect((await failure(store.append(scope, "turns", 3, { after: 2 }))).code).toBe("POOL_EXHAUSTED");
    expect((await failure(store.append(scope, "new", 3))).code).toBe("POOL_EXHAUSTED");
    await server.cli("CONFIG", "SET", "maxmemory", "0");
    await server.cli("CONFIG", "SET", "min-replicas-to-write", 1);
    await expectTransient(store.append(scope, "turns", 3));
    await expectTransient(store.append(scope, "turns", 3, { after: 2 }));
    await server.cli("CONFIG", "SET", "min-replicas-to-write", 0);
    expect((await store.read(scope, "turns"))?.value).toEqual([1, 2]);
    expect((await store.keys(scope)).keys.map(({ key }) => key)).not.toContain("new");
    expect(await store.append(scope, "turns", 3, { after: 2 })).toBe(3);
  });

  it("of a server without memory do not keep an erasure from making room", async () => {
    const doomed: MemoryScope = { tenantId: "acme", userId: "doomed" };
    for (let i = 0; i < 20; i += 1) await store.append(doomed, `k${i}`, i);
    await server.cli("CONFIG", "SET", "maxmemory", "1");
    expect((await store.erase(doomed, { keys: ["k1", "k2"] })).records).toBe(2);
    expect((await store.erase(doomed)).records).toBe(18);
    await server.cli("CONFIG", "SET", "maxmemory", "0");
  });

  it("WRONGTYPE of a foreign value among the bookkeeping is one too; nothing is half written, and the value stays", async () => {
    const admin = new Redis(server.url);
    const own: MemoryScope = { tenantId: "taken", userId: "u" };
    for (const end of ["meta", "scopes", "scopes:u:u", "u:::index", "derived"]) {
      const taken = `adk:mem:{taken}:${end}`;
      await admin.set(taken, "theirs");
      if (end === "derived") {
        const artefact = { artefactId: "a", sourceKind: "working", sourceId: "s", adapter: "x" } as const;
        expect((await failure(store.derived(own, artefact))).code).toBe("MEMORY_CORRUPTION");
      } else {
        expect((await failure(store.write(own, { ...record, scope: own }))).code).toBe("MEMORY_CORRUPTION");
        expect((await failure(store.append(own, "s", 1))).code).toBe("MEMORY_CORRUPTION");
      }
      // Of a tenant that has nothing, only what an erasure looks at first is looked at.
      if (["meta", "scopes", "derived"].includes(end))
        expect((await failure(store.erase(own))).code).toBe("MEMORY_CORRUPTION");
      expect(await admin.get(taken)).toBe("theirs");
      await admin.del(taken);
      expect(await store.read(own, "k")).toBeNull();
      expect((await store.keys(own)).keys).toEqual([]);
      await store.erase({ tenantId: "taken" });
      expect(await admin.keys("*{taken}*")).toEqual([]);
    }
    admin.disconnect();
  });

  it("that a database is not there, or not allowed, is final: nothing goes to another", async () => {
    await server.cli("ACL", "SETUSER", "shut", "on", ">Long-Passphrase-2", "~*", "+@all", "-select");
    const shut = server.url.replace("redis://", "redis://shut:Long-Passphrase-2@");
    for (const dsn of [`${server.url}/99`, `${shut}/1`]) {
      await using store = open(dsn);
      for (let i = 0; i < 2; i += 1) {
        const error = await failure(store.write({ tenantId: "lost" }, { ...record, scope: { tenantId: "lost" } }));
        expect(error).toMatchObject({ code: "MEMORY_UNAVAILABLE", attempts: 1, outcome: "not-applied" });
      }
    }
    expect(await server.cli("EXISTS", "adk:mem:{lost}::::working:k")).toBe(0);
  });

  it("NOREPLICAS is transient", async () => {
    await server.cli("CONFIG", "SET", "min-replicas-to-write", 1);
    const error = await raw(server, "SET", "x", "1");
    expect(error.message).toMatch(/^NOREPLICAS/);
    expect(judge(error)).toMatchObject({ isTransient: true, hadNoEffect: true });
    await expectTransient(store.write(scope, record));
    await server.cli("CONFIG", "SET", "min-replicas-to-write", 0);
  });

  it("WRONGTYPE on a foreign value is a `MemoryCorruptionError`, and the value stays", async () => {
    const admin = new Redis(server.url);
    const name = (key: string): string => `adk:mem:{acme}::::working:${key}`;
    await store.append(scope, "taken", 1);
    for (const key of ["taken", "untaken"]) {
      await admin.del(name(key));
      await admin.hset(name(key), "theirs", "1");
      expect((await failure(store.read(scope, key))).code).toBe("MEMORY_CORRUPTION");
      expect((await failure(store.read(scope, key, { last: 1 }))).code).toBe("MEMORY_CORRUPTION");
      expect((await failure(store.append(scope, key, 2))).code).toBe("MEMORY_CORRUPTION");
      expect(await admin.hget(name(key), "theirs")).toBe("1");
    }
    expect((await failure(store.write(scope, { ...record, key: "untaken" }))).code).toBe("MEMORY_CORRUPTION");
    await admin.set(name("taken"), "not ours");
    expect((await failure(store.read(scope, "taken"))).code).toBe("MEMORY_CORRUPTION");
    admin.disconnect();
  });

  it("NOSCRIPT never reaches a caller", async () => {
    await server.cli("SCRIPT", "FLUSH");
    expect((await raw(server, "EVALSHA", "0".repeat(40), "0")).message).toMatch(/^NOSCRIPT/);
    await store.write(scope, record);
  });

  it("NOPERM and an unknown reply are final", async () => {
    await server.cli("ACL", "SETUSER", "reader", "on", ">Long-Passphrase-1", "~*", "+@all", "-evalsha", "-eval");
    const dsn = server.url.replace("redis://", "redis://reader:Long-Passphrase-1@");
    await using poor = open(dsn);
    expect(await failure(poor.read(scope, "k"))).toMatchObject({
      code: "MEMORY_UNAVAILABLE",
      attempts: 1,
      outcome: "not-applied",
    });
    expect((await failure(poor.verify())).code).toBe("MEMORY_SCHEMA");
    expect(judge(await raw(server, "SET", "x"))).toMatchObject({ isTransient: false, isExhausted: false });
  });

  it("`max number of clients` is no room", async () => {
    await store.read(scope, "k");
    const admin = new Redis(server.url);
    await admin.ping();
    await admin.config("SET", "maxclients", 1);
    // Asked without a client: the answer comes before any question, and a client's handshake may swallow it.
    const ask = (): Promise<Error> => server.cli("PING").then(() => new Error("a place was left"));
    expect(judge(await until(ask, /max number of clients/)).isExhausted).toBe(true);
    await using late = open(server.url);
    expect((await failure(late.read(scope, "k"))).code).toBe("POOL_EXHAUSTED");
    await admin.config("SET", "maxclients", 100);
    admin.disconnect();
  });
});

describe("a password", () => {
  it("that is missing or wrong is final: NOAUTH, WRONGPASS", async () => {
    await using server = await startRedis({ password: "Right-Passphrase-7" });
    const without = `redis://${server.host}:${server.port}`;
    for (const dsn of [without, `redis://:Wrong-Passphrase-7@${server.host}:${server.port}`]) {
      await using store = open(dsn);
      expect(await failure(store.write(scope, record))).toMatchObject({ attempts: 1, outcome: "not-applied" });
    }
    await using right = open(server.url);
    await right.write(scope, record);
  });
});

describe("a connection", () => {
  it("that is refused is transient, and had no effect", async () => {
    const server = await startRedis();
    await server.stop();
    await using store = open(server.url);
    await expectTransient(store.write(scope, record));
    await expectTransient(store.verify());
  });

  it("that is reset at once, or ends at once, is transient", async () => {
    await using server = await startRedis();
    const proxy = await startProxy(server, { refuse: true });
    await using store = open(proxy.through(server.url));
    await expectTransient(store.write(scope, record));
    proxy.set({});
    await store.write(scope, record);
    proxy.cut();
    await store.write(scope, record);
    proxy.reset();
    await store.write(scope, record);
    await proxy.stop();
  });

  it("to a silent peer is bounded by the attempt's deadline, before and after it was made", async () => {
    await using server = await startRedis();
    const proxy = await startProxy(server);
    await using store = open(proxy.through(server.url));
    await store.write(scope, record);
    proxy.set({ silent: true });
    await expectTransient(store.write(scope, { ...record, value: 2 }), "unknown");
    proxy.set({});
    expect((await store.read(scope, "k"))?.value).toBe(2);
    proxy.set({ blackHole: true });
    await using late = open(proxy.through(server.url));
    await expectTransient(late.write(scope, record));
    await proxy.stop();
  });

  it("to a port that accepts and says nothing settles in time", async () => {
    const sockets: Server = createServer(() => undefined);
    await new Promise<void>((resolve) => {
      sockets.listen(0, "127.0.0.1", resolve);
    });
    const address = sockets.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    const store = open(`redis://127.0.0.1:${port}`);
    await expectTransient(store.write(scope, record));
    await store.close();
    sockets.close();
  });

  it("that is half closed is made anew", async () => {
    await using server = await startRedis();
    const proxy = await startProxy(server);
    await using store = open(proxy.through(server.url), { maxAttempts: 5 });
    await store.write(scope, record);
    proxy.halfClose();
    await store.write(scope, { ...record, value: 2 });
    expect((await store.read(scope, "k"))?.value).toBe(2);
    await proxy.stop();
  });

  it("of a client that is closed is transient: it had no effect", async () => {
    await using server = await startRedis();
    const client = new Redis(server.url);
    await client.ping();
    client.disconnect();
    const store = new RedisMemoryStore(client, { settings });
    expect(await failure(store.write(scope, record))).toMatchObject({ code: "MEMORY_UNAVAILABLE", attempts: 2 });
    const unsent = new NotSentError("none");
    expect(unsent).toMatchObject({ code: "NOT_SENT" });
    expect(judge(unsent)).toMatchObject({ isTransient: true, hadNoEffect: true });
  });

  it("to a loading server is transient, and works when it has loaded: LOADING", { timeout: 30_000 }, async () => {
    const slow = [
      "--enable-debug-command",
      "yes",
      "--key-load-delay",
      "1000",
      "--loading-process-events-interval-bytes",
      "1024",
    ];
    await using server = await startRedis({ args: slow });
    await using store = open(server.url);
    await store.write(scope, record);
    await server.cli("DEBUG", "POPULATE", 1_500, "filler", 100);
    await server.cli("SAVE");
    await server.kill();
    const restarted = server.restart();
    const error = await until(() => raw(server, "GET", "x"), /^LOADING/);
    expect(judge(error)).toMatchObject({ isTransient: true, hadNoEffect: true });
    await expectTransient(store.write(scope, { ...record, value: 2 }));
    await restarted;
    expect((await store.read(scope, "k"))?.value).toBe(1);
  });
});

describe("a server that cannot save", () => {
  it("and refuses writes for it is transient: MISCONF", { timeout: 30_000 }, async () => {
    await using server = await startRedis({ args: ["--enable-protected-configs", "yes"] });
    await using store = open(server.url);
    await store.append(scope, "turns", 1);
    const folder = mkdtempSync(join(tmpdir(), "memory-redis-"));
    await server.cli("CONFIG", "SET", "save", "3600 1");
    await server.cli("CONFIG", "SET", "dir", folder);
    rmSync(folder, { recursive: true });
    await server.cli("BGSAVE").catch(() => undefined);
    const error = await until(() => raw(server, "SET", "x", "1"), /^MISCONF/);
    expect(judge(error)).toMatchObject({ isTransient: true, hadNoEffect: true });
    await expectTransient(store.write(scope, record));
    await expectTransient(store.append(scope, "turns", 2));
    expect((await store.read(scope, "turns"))?.value).toEqual([1]);
  });
});

describe.skipIf(!canStartLocally())("a cluster", () => {
  it("MOVED, CLUSTERDOWN, TRYAGAIN and a slot that nobody serves are transient", { timeout: 60_000 }, async () => {
    await using cluster = await startRedisCluster({ replicas: 0 });
    const hosts = cluster.addresses.map(({ host, port }) => `${host}:${port}`).join(",");
    await using store = open(`redis://${hosts}`, { maxAttempts: 3, attemptTimeoutMs: 2_000 });
    await store.write(scope, record);
    const [first, second] = cluster.nodes;
    if (first === undefined || second === undefined) throw new Error("a cluster without nodes");
    const moved = await Promise.all(cluster.nodes.map((node) => raw(node, "GET", "{acme}")));
    expect(moved.filter(({ message }) => message.startsWith("MOVED"))).toHaveLength(2);
    const slot = Number(await first.cli("CLUSTER", "KEYSLOT", "{acme}"));
    const owner = await cluster.masterOf(slot);
    await owner.cli("CLUSTER", "DELSLOTS", slot);
    const down = await until(() => raw(owner, "GET", "{acme}"), /^CLUSTERDOWN/);
    for (const error of [...moved, down]) {
      if (/^(?:MOVED|CLUSTERDOWN)/.test(error.message)) {
        expect(judge(error)).toMatchObject({ isTransient: true, hadNoEffect: true });
      }
    }
    expect((await failure(store.write(scope, record))).code).toBe("MEMORY_UNAVAILABLE");
    await owner.cli("CLUSTER", "ADDSLOTS", slot);
    await cluster.settle();
    await store.write(scope, record);
    // Half a migration: one of two keys is here.
    const other = cluster.nodes.find(({ port }) => port !== owner.port);
    if (other === undefined) throw new Error("a cluster of one");
    await owner.cli("SET", "{acme}here", "1");
    await owner.cli("CLUSTER", "SETSLOT", slot, "MIGRATING", String(await other.cli("CLUSTER", "MYID")));
    const torn = await raw(owner, "MGET", "{acme}here", "{acme}there");
    expect(torn.message).toMatch(/^TRYAGAIN/);
    expect(judge(torn)).toMatchObject({ isTransient: true, hadNoEffect: true });
    await owner.cli("CLUSTER", "SETSLOT", slot, "STABLE");
  });
});

async function until(ask: () => Promise<Error>, pattern: RegExp): Promise<Error> {
  const end = performance.now() + 10_000;
  for (;;) {
    const error = await ask().catch((reason: unknown) =>
      reason instanceof Error ? reason : new Error(String(reason)),
    );
    if (pattern.test(error.message)) return error;
    if (performance.now() > end) throw new Error("waited in vain for a reply", { cause: error });
  }
}
