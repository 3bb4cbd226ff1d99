// What gets lost between a store and its server: replies, scripts, everything. Nothing is lost for that, or doubled.

import { isMemoryError, type MemoryScope, memoryStoreSettings } from "@memory/core";
import { startProxy, startRedis } from "@tooling/servers";
import { Redis } from "ioredis";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { RedisMemoryStore } from "../src/index.ts";
import * as lua from "../src/lua.ts";

const TIMEOUT_MS = 120_000;

// A tenant for each test: what one that failed leaves running must not write into the next.
let scope: MemoryScope = { tenantId: "acme", userId: "u" };
let tenants = 0;

const server = await startRedis();
const admin = new Redis(server.url);

beforeEach(async () => {
  tenants += 1;
  scope = { tenantId: `acme${tenants}`, userId: "u" };
  await admin.flushall();
});

afterAll(async () => {
  admin.disconnect();
  await server.stop();
});

async function appendFrom(store: RedisMemoryStore, callers: number, count: number): Promise<readonly number[]> {
  let next = 0;
  const positions: number[] = [];
  await Promise.all(
    Array.from({ length: callers }, async () => {
      while (next < count) {
        const value = next;
        next += 1;
        positions.push(await store.append(scope, "turns", value));
      }
    }),
  );
  return positions;
}

async function expectEachOnce(store: RedisMemoryStore, positions: readonly number[], count: number): Promise<void> {
  const ascending = (a: number, b: number): number => a - b;
  expect([...positions].sort(ascending)).toEqual(Array.from({ length: count }, (_, i) => i + 1));
  const value = (await store.read(scope, "turns"))?.value;
  expect(Array.isArray(value) ? value.map(Number).sort(ascending) : value).toEqual(
    Array.from({ length: count }, (_, i) => i),
  );
}

describe("replies", () => {
  it("may be lost, every third: 5,000 appends from 32 callers land once each", { timeout: TIMEOUT_MS }, async () => {
    const proxy = await startProxy(server, { lose: { what: "reply", every: 3 } });
    const dsn = proxy.through(server.url);
    // A lost reply takes its connection along, and with it whatever else was on the way: few at a time, or none gets through.
    const settings = memoryStoreSettings({
      dsn,
      maxAttempts: 20,
      backoffMs: 30,
      maxInFlight: 8,
      queueTimeoutMs: 60_000,
    });
    const store = RedisMemoryStore.connect(settings);
    const positions = await appendFrom(store, 32, 5_000);
    expect(proxy.counts().lost).toBeGreaterThan(100);
    proxy.set({});
    await expectEachOnce(store, positions, 5_000);
    await store.close();
    await proxy.stop();
  });

  it("may be lost under a borrowed client that resends on its own", { timeout: TIMEOUT_MS }, async () => {
    const proxy = await startProxy(server, { lose: { what: "reply", every: 40 } });
    for (const options of [{}, { enableAutoPipelining: true }]) {
      await admin.flushall();
      const client = new Redis(proxy.through(server.url), {
        ...options,
        maxRetriesPerRequest: null,
        retryStrategy: () => 5,
      });
      client.on("error", () => undefined);
      const settings = { maxAttempts: 20, backoffMs: 1, maxQueued: 10_000 };
      const store = new RedisMemoryStore(client, { settings });
      const positions = await appendFrom(store, 32, 1_000);
      await expectEachOnce(new RedisMemoryStore(admin), positions, 1_000);
      await store.close();
      client.disconnect();
    }
    await proxy.stop();
  });
});

describe("scripts", () => {
  it("are taken by the server, every one", async () => {
    const scripts = Object.values(lua).flatMap((one) => (typeof one === "object" ? [one] : []));
    expect(scripts.length).toBeGreaterThan(10);
    for (const script of scripts) expect(await admin.script("LOAD", script.text)).toBe(script.digest);
  });

  it("may be flushed between and amid 1,000 calls", { timeout: TIMEOUT_MS }, async () => {
    const clients = [new Redis(server.url), new Redis(server.url, { enableAutoPipelining: true })];
    for (const client of clients) {
      await admin.flushall();
      const store = new RedisMemoryStore(client, { settings: { maxQueued: 10_000 } });
      const appended: Promise<number>[] = [];
      for (let i = 0; i < 1_000; i += 1) {
        if (i % 100 === 50) appended.push(client.script("FLUSH").then(() => 0));
        appended.push(store.append(scope, "turns", i));
        if (i % 250 === 0) await admin.script("FLUSH");
      }
      const positions = (await Promise.all(appended)).filter((position) => position > 0);
      await expectEachOnce(store, positions, 1_000);
      client.disconnect();
    }
  });
});

describe("everything", () => {
  it("may be flushed: the next append says position 1, and `after` turns it into a conflict", async () => {
    const store = new RedisMemoryStore(admin);
    for (let i = 0; i < 3; i += 1) await store.append(scope, "turns", i);
    await admin.flushall();
    const conflict = await store.append(scope, "turns", "late", { after: 3 }).catch((error: unknown) => error);
    expect(isMemoryError(conflict, "MEMORY_CONFLICT") && conflict.actualVersion).toBe(0);
    expect(await store.append(scope, "turns", "first")).toBe(1);
  });

  it("may be flushed after erasures: what is written anew is there, and an erasure takes it away", async () => {
    const store = new RedisMemoryStore(admin);
    const other = new RedisMemoryStore(admin);
    const one: MemoryScope = { tenantId: scope.tenantId, userId: "one" };
    const record = { kind: "working", scope: one, key: "k", value: 1, source: "test" } as const;
    for (let i = 0; i < 3; i += 1) {
      await store.write(one, record);
      expect((await other.erase(one)).records).toBe(1);
    }
    await store.write(one, record);
    await admin.flushall();
    for (const writer of [store, other]) {
      await writer.write(one, record);
      expect((await other.read(one, "k"))?.value).toBe(1);
      expect((await other.erase(one)).records).toBe(1);
      expect(await store.read(one, "k")).toBeNull();
    }
  });

  it("that guards a record may be evicted: the record reads as absent, never as un-erased", async () => {
    const store = new RedisMemoryStore(admin);
    const keep = { kind: "working", scope, key: "k", value: 1, source: "test" } as const;
    for (const lost of [`adk:mem:{${scope.tenantId}}:meta`, `adk:mem:{${scope.tenantId}}:u:::index`]) {
      await store.write(scope, keep);
      expect(await admin.unlink(lost)).toBe(1);
      expect(await store.read(scope, "k")).toBeNull();
      // Others come and go meanwhile; what was lost stays lost.
      await store.write(scope, { ...keep, key: "other" });
      expect(await store.read(scope, "k")).toBeNull();
      expect((await store.keys(scope)).keys.map(({ key }) => key)).toEqual(["other"]);
      expect((await store.erase({ tenantId: scope.tenantId })).records).toBe(1);
      await admin.flushall();
    }
  });
});

describe("bookkeeping that is lost", () => {
  const store = new RedisMemoryStore(admin);
  const name = (end: string): string => `adk:mem:{${scope.tenantId}}:${end}`;
  const put = (of: MemoryScope, key = "k"): Promise<unknown> =>
    store.write(of, { kind: "working", scope: of, key, value: 1, source: "test" });

  it.each(["scopes", "scopes:u:u"])("(%s) does not keep an erasure from what it named", async (lost) => {
    for (const isNamedAnew of [false, true]) {
      await admin.flushall();
      const session = { ...scope, sessionId: "s" };
      const other = { tenantId: scope.tenantId, userId: "other" };
      await put(scope);
      await put(other);
      expect(await admin.unlink(name(lost))).toBe(1);
      if (isNamedAnew) await put(session);
      await store.erase(scope);
      expect(await store.read(scope, "k")).toBeNull();
      expect(await store.read(session, "k")).toBeNull();
      // Also when others come and go, and the tombstones are long gone.
      await put(session);
      expect(await store.read(scope, "k")).toBeNull();
      if (lost !== "scopes") expect(await store.read(other, "k")).not.toBeNull();
    }
  });

  it("(the hash) does not keep an erasure from removing what the registries name", async () => {
    await put(scope);
    await put({ ...scope, sessionId: "s" });
    expect(await admin.unlink(name("meta"))).toBe(1);
    expect((await store.erase({ tenantId: scope.tenantId })).records).toBe(0);
    expect(await admin.dbsize()).toBe(0);
  });

  it("(an index that expired) leaves no name of its scope after an erasure", async () => {
    await put(scope);
    const session = { tenantId: scope.tenantId, sessionId: "s" };
    await new RedisMemoryStore(admin, { ttlMs: 60_000 }).append(session, "k", 1);
    await admin.unlink(name(":s::index"), name(":s::working:k"));
    expect((await store.erase({ tenantId: scope.tenantId })).records).toBe(1);
    expect(await admin.dbsize()).toBe(0);
  });
});

describe("expiry", () => {
  it("of the bookkeeping is that of the longest-lived, whichever store wrote it", async () => {
    const brief = new RedisMemoryStore(admin, { ttlMs: 60_000 });
    const long = new RedisMemoryStore(admin, { ttlMs: 3_600_000 });
    const endless = new RedisMemoryStore(admin);
    const other = { tenantId: scope.tenantId, userId: "v" };
    const expectCovered = async (): Promise<void> => {
      const keys = await admin.keys("*");
      const pairs = await Promise.all(keys.map(async (key) => [key, await admin.pexpiretime(key)] as const));
      const ends = new Map(pairs.map(([key, end]) => [key, end === -1 ? Number.POSITIVE_INFINITY : end]));
      const end = (of: string): number => ends.get(`adk:mem:{${scope.tenantId}}:${of}`) ?? 0;
      for (const [key, at] of ends) {
        const [, user = ""] = /:working:/.test(key) ? (/}:([^:]*):/.exec(key) ?? []) : [];
        if (user === "") continue;
        expect(end(`${user}:::index`), key).toBeGreaterThanOrEqual(at);
        expect(end(`scopes:u:${user}`), key).toBeGreaterThanOrEqual(at);
        expect(end("scopes"), key).toBeGreaterThanOrEqual(at);
        expect(end("meta"), key).toBeGreaterThanOrEqual(at);
      }
    };
    await brief.append(scope, "a", 1);
    await expectCovered();
    await long.append(other, "a", 1);
    await expectCovered();
    await brief.expire(scope, "a", { ttlMs: 7_200_000 });
    await expectCovered();
    await endless.append(scope, "b", 1);
    await expectCovered();
    await brief.append(scope, "b", 1);
    await brief.append(other, "c", 1);
    await expectCovered();
    expect((await endless.erase(scope)).records).toBe(2);
    expect((await endless.read(other, "a"))?.value).toEqual([1]);
    await expectCovered();
    expect((await endless.erase({ tenantId: scope.tenantId })).records).toBe(2);
    expect(await admin.dbsize()).toBe(0);
  });

  it("is the bookkeeping's again once the last derivation is gone", async () => {
    const store = new RedisMemoryStore(admin, {
      ttlMs: 60_000,
      derivedIndices: [{ name: "i", purge: async () => {} }],
    });
    const other = { tenantId: scope.tenantId, userId: "v" };
    await store.append(scope, "k", 1);
    await store.append(other, "k", 1);
    await store.derived(scope, { artefactId: "a", sourceKind: "episodic", sourceId: "e", adapter: "i" });
    expect(await admin.pexpiretime(`adk:mem:{${scope.tenantId}}:meta`)).toBe(-1);
    expect(await store.erase(scope)).toMatchObject({ records: 1, artefacts: 1, complete: true });
    for (const key of await admin.keys("*")) expect(await admin.pexpiretime(key), key).toBeGreaterThan(0);
    expect((await store.read(other, "k"))?.value).toEqual([1]);
  });

  it("is on every key of a store with a TTL, bookkeeping included, and lasts as long as what it speaks of", async () => {
    const store = new RedisMemoryStore(admin, { ttlMs: 60_000, sliding: true });
    for (let i = 0; i < 50; i += 1) {
      const one: MemoryScope = { tenantId: scope.tenantId, userId: `u${i % 5}`, sessionId: `s${i}`, agent: "a" };
      await store.write(one, { kind: "working", scope: one, key: "k", value: i, source: "test" });
      await store.append(one, "turns", i);
      await store.read(one, "k");
      await store.expire(one, "turns", { ttlMs: 3_600_000 });
      if (i % 3 === 0) await store.append(one, "turns", i);
      if (i % 10 === 0) await store.erase({ tenantId: scope.tenantId, userId: `u${i % 5}` });
    }
    const keys = await admin.keys("*");
    const ends = new Map(await Promise.all(keys.map(async (key) => [key, await admin.pexpiretime(key)] as const)));
    expect([...ends].filter(([, end]) => end <= 0)).toEqual([]);
    const latest = Math.max(...[...ends].filter(([key]) => key.includes(":working:")).map(([, end]) => end));
    expect(ends.get(`adk:mem:{${scope.tenantId}}:meta`)).toBeGreaterThanOrEqual(latest);
    expect(ends.get(`adk:mem:{${scope.tenantId}}:scopes`)).toBeGreaterThanOrEqual(latest);
  });

  it("keeps a tenant small that writes expiring keys in ever new scopes", { timeout: TIMEOUT_MS }, async () => {
    const store = new RedisMemoryStore(admin, { ttlMs: 20 });
    const written: MemoryScope = { tenantId: scope.tenantId, userId: "w" };
    for (let i = 0; i < 600; i += 1) {
      const one: MemoryScope = { tenantId: scope.tenantId, sessionId: `s${i}` };
      await store.append(one, "k", i);
      await store.append(scope, `key-${i}`, i);
      await store.write(written, { kind: "working", scope: written, key: `key-${i}`, value: i, source: "test" });
    }
    // Indices live at least a minute longer than their keys: what is bounded at once is what they hold.
    expect(await admin.zcard(`adk:mem:{${scope.tenantId}}:u:::index`)).toBeLessThan(300);
    expect(await admin.zcard(`adk:mem:{${scope.tenantId}}:w:::index`)).toBeLessThan(300);
  });
});
