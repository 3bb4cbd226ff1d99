// Erasure among writers: random interleavings of many clients checked against what each of them saw settle, and erasures
// that die before or after any one of their commands.

import type { EraseOptions, MemoryScope } from "@memory/core";
import { startRedis } from "@tooling/servers";
import { Redis } from "ioredis";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { RedisMemoryStore } from "../src/index.ts";

const TIMEOUT_MS = 120_000;
const tenant: MemoryScope = { tenantId: "t{}%:*" };
const META = "adk:mem:{t%7b%7d%25%3a*}";
const settings = { maxQueued: 100_000, maxAttempts: 1 };

const server = await startRedis();
const admin = new Redis(server.url);
const clients = Array.from({ length: 4 }, () => new Redis(server.url));

beforeEach(() => admin.flushall());

afterAll(async () => {
  for (const client of [admin, ...clients]) client.disconnect();
  await server.stop();
});

/** Every combination of parts, some of them beginning like others. */
const scopes: readonly MemoryScope[] = ["", "a", "a:", "b"].flatMap((userId) =>
  ["", "s", "s{}"].flatMap((sessionId) =>
    ["", "g"].map((agent) => ({
      ...tenant,
      ...(userId && { userId }),
      ...(sessionId && { sessionId }),
      ...(agent && { agent }),
    })),
  ),
);

const PARTS = ["userId", "sessionId", "agent"] as const;

function contains(outer: MemoryScope, inner: MemoryScope): boolean {
  return PARTS.every((part) => outer[part] === undefined || outer[part] === inner[part]);
}

interface Write {
  readonly scope: MemoryScope;
  readonly key: string;
  readonly began: number;
  settled: number;
}

interface Erasure {
  readonly scope: MemoryScope;
  readonly options: EraseOptions;
  readonly began: number;
  /** Infinite: it was stopped. */
  settled: number;
  records: number;
}

function covers({ scope, options }: Erasure, write: Write): boolean {
  if (options.keys !== undefined && !options.keys.includes(write.key)) return false;
  return contains(scope, write.scope) && (options.reach !== "exact" || contains(write.scope, scope));
}

/** Numbers from 0 to 1 that a seed gives. */
function randomOf(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff;
    return Math.floor((state / 0x8000_0000) * below);
  };
}

interface Storm {
  readonly seed: number;
  readonly writes: number;
  readonly stops: boolean;
  /** Done over and over meanwhile. */
  readonly meanwhile?: (below: (below: number) => number) => Promise<unknown>;
}

async function storm({ seed, writes: count, stops, meanwhile }: Storm) {
  const below = randomOf(seed);
  const any = <T>(of: readonly T[]): T => of[below(of.length)] ?? expect.fail("an empty list");
  const ttl = seed % 2 === 0 ? { ttlMs: 600_000, sliding: true } : {};
  const stores = clients.map((client, i) => new RedisMemoryStore(client, { ...(i % 2 === 0 ? ttl : {}), settings }));
  const writes: Write[] = [];
  const erasures: Erasure[] = [];
  let now = 0;
  const write = async (): Promise<void> => {
    const one: Write = {
      scope: any(scopes),
      key: `k${writes.length}`,
      began: now++,
      settled: Number.POSITIVE_INFINITY,
    };
    writes.push(one);
    const { scope, key } = one;
    if (below(2) === 0) await any(stores).append(scope, key, 1);
    else await any(stores).write(scope, { kind: "working", scope, key, value: 1, source: "test" });
    one.settled = now++;
  };
  const erase = async (): Promise<void> => {
    const how = below(4);
    const keys = [`k${below(writes.length + 1)}`, `k${below(writes.length + 1)}`];
    const options: EraseOptions = how === 1 ? { reach: "exact" } : how === 2 ? { keys } : {};
    const one: Erasure = { scope: any(scopes), options, began: now++, settled: Number.POSITIVE_INFINITY, records: 0 };
    erasures.push(one);
    const stop = new AbortController();
    const erased = any(stores).erase(one.scope, { ...options, signal: stop.signal });
    const isStopped = stops && how === 3;
    if (isStopped) setTimeout(() => stop.abort(), below(4));
    const receipt = await erased.catch((error: unknown) => {
      if (isStopped) return undefined;
      throw error;
    });
    if (receipt === undefined) return;
    one.records = receipt.records;
    one.settled = now++;
  };
  const look = async (): Promise<void> => {
    await any(stores).keys(any(scopes), { reach: "under" });
    await any(stores).read(any(scopes), `k${below(writes.length + 1)}`);
  };
  const repeat = async (times: number, step: () => Promise<unknown>): Promise<void> => {
    for (let i = 0; i < times; i += 1) await step();
  };
  let isOver = false;
  const other =
    meanwhile === undefined
      ? undefined
      : (async () => {
          while (!isOver) await meanwhile(below);
        })();
  await Promise.all([
    ...Array.from({ length: 12 }, () => repeat(count / 12, write)),
    ...Array.from({ length: 5 }, () => repeat(12, erase)),
    ...Array.from({ length: 2 }, () => repeat(20, look)),
  ]);
  isOver = true;
  await other;
  return { writes, erasures };
}

async function isThere(store: RedisMemoryStore, { scope, key }: Write): Promise<boolean> {
  return (await store.read(scope, key)) !== null;
}

describe("erasures among writers", () => {
  const store = new RedisMemoryStore(admin, { settings });

  it.each([1, 2, 3, 4, 5, 6])(
    "erase what had settled and keep what began after them (seed %i)",
    {
      timeout: TIMEOUT_MS,
    },
    async (seed) => {
      const stops = seed % 3 === 0;
      const { writes, erasures } = await storm({ seed, writes: 480, stops });
      let left = 0;
      for (const one of writes) {
        const found = await isThere(store, one);
        left += found ? 1 : 0;
        const meant = erasures.filter((erasure) => covers(erasure, one));
        if (found)
          expect(
            meant.filter(({ began, settled }) => began > one.settled && settled < Number.POSITIVE_INFINITY),
          ).toEqual([]);
        else expect(meant.some(({ settled }) => settled > one.began)).toBe(true);
      }
      const listed = await store.keys(tenant, { reach: "under", limit: 1_000 });
      expect(listed.keys).toHaveLength(left);
      expect((await store.erase(tenant, { dryRun: true })).records).toBe(left);
      const rest = (await store.erase(tenant)).records;
      const sum = erasures.reduce((total, { records }) => total + records, rest);
      // Each is counted in one receipt, which an erasure that was stopped at its end may have taken along.
      if (!stops) expect(sum).toBe(writes.length);
      else expect(sum).toBeLessThanOrEqual(writes.length);
      expect(await admin.dbsize()).toBe(0);
    },
  );

  it.each([11, 12, 13])(
    "never bring back what they erased, whatever bookkeeping is evicted meanwhile (seed %i)",
    {
      timeout: TIMEOUT_MS,
    },
    async (seed) => {
      const names = [
        "meta",
        "scopes",
        "scopes:u:a",
        "scopes:u:a%3a",
        "scopes:u:b",
        "scopes:s:s",
        "scopes:a:g",
        "a:::index",
        "b:s::index",
      ];
      const { writes, erasures } = await storm({
        seed,
        writes: 480,
        stops: true,
        meanwhile: async (below) => {
          await admin.unlink(`${META}:${names[below(names.length)]}`);
          for (let i = below(200); i > 0; i -= 1) await admin.ping();
        },
      });
      for (const one of writes) {
        if (!(await isThere(store, one))) continue;
        const meant = erasures.filter((erasure) => covers(erasure, one));
        expect(meant.filter(({ began, settled }) => began > one.settled && settled < Number.POSITIVE_INFINITY)).toEqual(
          [],
        );
      }
    },
  );

  it("in a scope of thousands leave no name of a record that is gone", { timeout: TIMEOUT_MS }, async () => {
    const scope = { ...tenant, userId: "u" };
    for (let round = 0; round < 3; round += 1) {
      await Promise.all(Array.from({ length: 3_500 }, (_, i) => store.append(scope, `k${i}`, i)));
      const receipts = Promise.all(clients.map((client) => new RedisMemoryStore(client, { settings }).erase(scope)));
      const written: string[] = [];
      for (let i = 0; i < 40; i += 1) {
        await store.append(scope, `k${i * 80}`, "new");
        written.push(`k${i * 80}`);
      }
      await receipts;
      const { keys } = await store.keys(scope, { limit: 1_000 });
      for (const { key } of keys) expect(await store.read(scope, key), key).not.toBeNull();
      expect((await store.erase(scope, { dryRun: true })).records).toBe(keys.length);
      await store.erase(scope);
      expect(await admin.dbsize()).toBe(0);
    }
  });
});

describe("an erasure", () => {
  /** What every send of a client goes through: the n-th, and in `forever` all after it, fails. */
  function failAt(
    client: Redis,
    n: number,
    when: "before" | "after",
    forever: boolean,
  ): { readonly sent: () => number } {
    const send = client.sendCommand.bind(client);
    const gone = (): Promise<never> => Promise.reject(new Error("Connection is closed."));
    let sent = 0;
    client.sendCommand = (...args) => {
      sent += 1;
      if (sent < n || (sent > n && !forever)) return send(...args);
      if (sent > n || when === "before") {
        args[0].promise.catch(() => undefined);
        return gone();
      }
      return Promise.resolve(send(...args)).then(gone);
    };
    return { sent: () => sent };
  }

  const user = { ...tenant, userId: "u" };
  const inner = [user, { ...user, sessionId: "s1" }, { ...user, sessionId: "s2", agent: "g" }];
  const outer = { ...tenant, userId: "v", agent: "g" };
  const indices = [{ name: "summaries", purge: async () => undefined }];

  async function fill(store: RedisMemoryStore): Promise<void> {
    await admin.flushall();
    for (const scope of [...inner, outer]) {
      await Promise.all(Array.from({ length: scope === user ? 1_200 : 20 }, (_, i) => store.append(scope, `k${i}`, i)));
    }
    const artefact = { artefactId: "a", sourceKind: "working", adapter: "summaries" } as const;
    await store.derived(user, { ...artefact, sourceId: (await store.read(user, "k1"))?.id ?? "" });
    await store.derived(outer, { ...artefact, artefactId: "b", sourceId: "else" });
  }

  async function expectFinished(store: RedisMemoryStore): Promise<void> {
    expect((await store.keys(outer, { limit: 1_000 })).keys).toHaveLength(20);
    expect((await store.derivations(tenant, { reach: "under" })).derivations).toHaveLength(1);
    expect((await store.erase(tenant)).records).toBe(20);
    expect(await admin.dbsize()).toBe(0);
  }

  it.each<readonly [string, EraseOptions, number]>([
    ["of a scope", {}, 1_240],
    ["of some keys", { keys: ["k1", "k3", "k19", "none"] }, 9],
  ])(
    "%s that dies at any of its commands is finished by the next, and counted once",
    {
      timeout: TIMEOUT_MS,
    },
    async (_name, options, records) => {
      const store = new RedisMemoryStore(admin, { settings, derivedIndices: indices });
      for (const when of ["before", "after"] as const) {
        for (let n = 1; ; n += 1) {
          await fill(store);
          const client = new Redis(server.url);
          await client.ping();
          const wire = failAt(client, n, when, true);
          const first = await new RedisMemoryStore(client, { settings, derivedIndices: indices })
            .erase(user, options)
            .catch(() => undefined);
          client.disconnect();
          const second = await store.erase(user, options);
          const artefacts = (first?.artefacts ?? 0) + second.artefacts;
          // An answer that was lost with its process took the count along.
          const isLast = first === undefined && when === "after" && second.records === 0;
          if (!isLast) {
            expect((first?.records ?? 0) + second.records, `${when} ${n}`).toBe(records);
          }
          expect(artefacts, `${when} ${n}`).toBeLessThanOrEqual(1);
          expect((await store.derivations(user, { reach: "under" })).derivations).toEqual([]);
          if (options.keys !== undefined) await store.erase(user);
          await expectFinished(store);
          if (first !== undefined && wire.sent() < n) break;
        }
      }
    },
  );

  it("whose every answer may be lost once counts each record once", { timeout: TIMEOUT_MS }, async () => {
    const store = new RedisMemoryStore(admin, { settings, derivedIndices: indices });
    for (let n = 1; ; n += 1) {
      await fill(store);
      const client = new Redis(server.url);
      await client.ping();
      const wire = failAt(client, n, "after", false);
      const patient = { ...settings, maxAttempts: 3, backoffMs: 0 };
      const erased = await new RedisMemoryStore(client, { settings: patient, derivedIndices: indices }).erase(user);
      client.disconnect();
      expect(erased.records, `answer ${n}`).toBe(1_240);
      await expectFinished(store);
      if (wire.sent() < n) break;
    }
  });
});
