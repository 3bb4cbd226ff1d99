// What every part of the Redis suite works on: a server of its own, our store as callers get it, our driver without core
// above it, and bare clients. The raw scripts run in the server what ours runs there; `serverCalls` shows both.

import { type MemoryScope, memoryScope, memoryStoreSettings } from "@memory/core";
import type { DriverCall, StoredRecord, WorkingSection } from "@memory/core/driver";
import { RedisMemoryStore, redisDriver } from "@memory/redis";
import { type RedisServer, startRedis } from "@tooling/servers";
import { Redis } from "ioredis";
import { createClient } from "redis";

/** How large and how long the suite is. */
export interface Size {
  readonly rounds: number;
  readonly roundMs: number;
  readonly bystanders: number;
  /** Keys erased beside a raw UNLINK, and while a bystander reads. */
  readonly erased: number;
  readonly erasedWhileRead: number;
  readonly memoryKeys: number;
  readonly processorOperations: number;
  /** How many lists of each length there are, of as many as the whole suite has. */
  readonly listsPart: number;
}

/** The whole suite: about five minutes on two cores. */
export const FULL: Size = {
  rounds: 5,
  roundMs: 200,
  bystanders: 1_000_000,
  erased: 10_000,
  erasedWhileRead: 200_000,
  memoryKeys: 100_000,
  processorOperations: 10_000,
  listsPart: 1,
};

/** Enough to see that it runs; not to be quoted. */
export const QUICK: Size = {
  rounds: 1,
  roundMs: 10,
  bystanders: 100_000,
  erased: 10_000,
  erasedWhileRead: 20_000,
  memoryKeys: 10_000,
  processorOperations: 1_000,
  listsPart: 0.1,
};

/** The scope of single operations. */
export const SCOPE: MemoryScope = memoryScope({ tenantId: "acme", userId: "ada", sessionId: "s-1" });

/** How many run side by side where not one alone does, and how many operations each does in a run. */
export const CALLERS = 64;
const EACH = 4;

/** An operation, once; each call takes the next key. */
export type Operation = () => Promise<unknown>;

export class Rig implements AsyncDisposable {
  readonly server: RedisServer;
  /** Ours as `connect` makes it, autopipelining included. */
  readonly store: RedisMemoryStore;
  /** Ours over a client without autopipelining. */
  readonly unbatched: RedisMemoryStore;
  /** Our driver alone: no checks, masking, gate, deadline, events of core. */
  readonly driver: WorkingSection;
  /** Bare ioredis, as it is and with autopipelining. */
  readonly plain: Redis;
  readonly piped: Redis;
  readonly nodeRedis: NodeRedis;
  readonly #more: (() => Promise<unknown>)[] = [];

  private constructor(server: RedisServer, nodeRedis: NodeRedis) {
    this.server = server;
    this.nodeRedis = nodeRedis;
    this.store = this.connect();
    this.plain = new Redis(server.url);
    this.piped = new Redis(server.url, { enableAutoPipelining: true });
    this.unbatched = new RedisMemoryStore(this.plain);
    // As `connect` sets it: a client that may send twice makes an append look twice.
    const own = new Redis(server.url, {
      enableAutoPipelining: true,
      autoResendUnfulfilledCommands: false,
      maxRetriesPerRequest: 0,
    });
    const driver = redisDriver(own, {}, { concurrency: 10_000, close: async () => undefined });
    if (driver.working === undefined) throw new Error("the driver has no working section");
    this.driver = driver.working;
    this.#more.push(async () => own.disconnect());
  }

  static async start(): Promise<Rig> {
    const server = await startRedis();
    return new Rig(server, await connectNodeRedis(server.url));
  }

  /** Ours with options, closed with the rig. */
  connect(options: { readonly ttlMs?: number } = {}): RedisMemoryStore {
    const store = RedisMemoryStore.connect(memoryStoreSettings({ dsn: this.server.url }), options);
    this.#more.push(() => store.close());
    return store;
  }

  /** An empty server, and no command counted. */
  async clear(): Promise<void> {
    await this.plain.flushall("SYNC");
  }

  /** Lets a script be called by its digest; gives the digest. */
  async load(text: string): Promise<string> {
    return String(await this.plain.script("LOAD", text));
  }

  /** What one call runs in the server, such as `hmget, zmscore, set`. */
  async serverCalls(operation: Operation): Promise<string> {
    const times = 50;
    await operation();
    await this.plain.config("RESETSTAT");
    for (let n = 0; n < times; n += 1) await operation();
    const info = String(await this.plain.info("commandstats"));
    const calls = [...info.matchAll(/cmdstat_([a-z|]+):calls=(\d+)/g)]
      .filter(([, name = ""]) => !name.startsWith("config") && name !== "info")
      .map(([, name = "", count]): [string, number] => [name, Number(count) / times]);
    return calls
      .sort(([left], [right]) => (left < right ? -1 : 1))
      .map(([name, count]) => (count === 1 ? name : `${name} x ${count}`))
      .join(", ");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const end of this.#more) await end();
    this.plain.disconnect();
    this.piped.disconnect();
    this.nodeRedis.destroy();
    await this.server.stop();
  }
}

/** node-redis, as far as the suite uses it. */
export interface NodeRedis {
  get(key: string): Promise<unknown>;
  set(key: string, value: string): Promise<unknown>;
  destroy(): void;
}

async function connectNodeRedis(url: string): Promise<NodeRedis> {
  const client = createClient({ url });
  client.on("error", (error) => console.error(error));
  await client.connect();
  return client;
}

/** What core hands a driver with a call. */
export function driverCall(): DriverCall {
  return { now: Date.now(), signal: new AbortController().signal, attempt: 1, budgetMs: 10_000 };
}

/** The head that core makes for a record of a scope, for the driver alone. */
export async function headOf(rig: Rig, scope: MemoryScope, key: string): Promise<StoredRecord> {
  await rig.store.write(scope, { key, value: null, source: "turn" });
  const entry = await rig.driver.get({ scope, key, last: undefined }, driverCall());
  if (entry === null) throw new Error("what was written is not there");
  return entry.head;
}

/** The name of a record of ours in the server: part of the stored form, which is contract. */
export function recordName({ tenantId, userId = "", sessionId = "", agent = "" }: MemoryScope, key: string): string {
  return `adk:mem:{${tenantId}}:${userId}:${sessionId}:${agent}:working:${key}`;
}

/** Takes from a list in turn. */
export function inTurn<T>(items: readonly [T, ...T[]]): () => T {
  let at = 0;
  return () => {
    at = (at + 1) % items.length;
    return items[at] ?? items[0];
  };
}

/** `count` names; there is one at least. */
export function keysOf(prefix: string, count: number): readonly [string, ...string[]] {
  return [`${prefix}0`, ...Array.from({ length: count - 1 }, (_, n) => `${prefix}${n + 1}`)];
}

/** 64 callers at once, each doing one operation after another: what one run of a column is. */
export function sideBySide(operation: Operation): { readonly run: Operation; readonly operations: number } {
  return { run: () => chains(CALLERS, CALLERS * EACH, operation), operations: CALLERS * EACH };
}

/** So many operations, by `callers` chains. */
export async function chains(callers: number, operations: number, operation: (n: number) => unknown): Promise<void> {
  let next = 0;
  const chain = async (): Promise<void> => {
    while (next < operations) {
      next += 1;
      await operation(next - 1);
    }
  };
  await Promise.all(Array.from({ length: callers }, chain));
}
