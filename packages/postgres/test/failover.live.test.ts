// A primary that dies under load and comes back, and a standby that takes its place: every acknowledged write is there
// once, every other one was said to be unavailable, and retries booked nothing twice.

import { setTimeout as pause } from "node:timers/promises";
import { isMemoryError, memoryScope, memoryStoreSettings } from "@memory/core";
import { findPostgres } from "@tooling/servers";
import { describe, expect, it } from "vitest";
import { PostgresMemoryStore } from "../src/index.ts";
import { applySchema } from "./target.ts";

const lane = findPostgres();
const SETTINGS = { poolSize: 6, attemptTimeoutMs: 1_500, connectTimeoutMs: 1_000, maxAttempts: 5, backoffMs: 100 };

/** Writes from many callers until told to stop; what was acknowledged. */
class Load {
  readonly logged: string[] = [];
  readonly superseded: number[] = [];
  readonly codes: Map<string, number> = new Map();
  readonly #store: PostgresMemoryStore;
  readonly #callers: readonly Promise<void>[];
  #isOver = false;

  constructor(store: PostgresMemoryStore) {
    this.#store = store;
    this.#callers = [...Array(8).keys()].map((caller) => this.#write(caller));
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#callers);
  }

  async #write(caller: number): Promise<void> {
    for (let n = 0; !this.#isOver; n += 1) {
      const id = `c${caller}-${n}`;
      try {
        if (n % 2 === 0) {
          await this.#store.log(SCOPE, { id, key: "turn", value: id, source: "load" });
          this.logged.push(id);
        } else {
          const { record } = await this.#store.supersede(SCOPE, { id, key: "k", value: id, source: "load" });
          this.superseded.push(record.version ?? 0);
        }
      } catch (error) {
        if (!isMemoryError(error)) throw error;
        this.codes.set(error.code, (this.codes.get(error.code) ?? 0) + 1);
        await pause(20);
      }
    }
  }
}

const SCOPE = memoryScope({ tenantId: "failover", userId: "u" });

async function expectWhole(store: PostgresMemoryStore, load: Load): Promise<void> {
  const ids: string[] = [];
  let cursor: string | null = null;
  do {
    const page = await store.page(SCOPE, { limit: 1_000 }, { cursor });
    ids.push(...page.hits.map((hit) => hit.record.id));
    cursor = page.cursor;
  } while (cursor !== null);
  expect(new Set(ids).size).toBe(ids.length);
  const there = new Set(ids);
  expect(load.logged.filter((id) => !there.has(id))).toEqual([]);
  const trail = await store.history(SCOPE, "k");
  expect(trail.map((one) => one.version)).toEqual(trail.map((_, index) => index + 1));
  expect(new Set(trail.map((one) => one.value)).size).toBe(trail.length);
  expect(load.superseded.filter((version) => version > trail.length)).toEqual([]);
  expect(new Set(load.superseded).size).toBe(load.superseded.length);
  expect([...load.codes.keys()].filter((code) => !/UNAVAILABLE|EXHAUSTED/.test(code))).toEqual([]);
}

describe.skipIf(lane.isMissing)("failover", () => {
  it("keeps every acknowledged write of a primary that is killed and restarted", { timeout: 90_000 }, async () => {
    await using server = await lane.start({ fsync: true });
    await applySchema(server.url);
    await using store = PostgresMemoryStore.connect(memoryStoreSettings({ dsn: server.url, ...SETTINGS }));
    const load = new Load(store);
    for (let round = 0; round < 3; round += 1) {
      await pause(700);
      await server.kill();
      await pause(200);
      await server.restart();
    }
    await pause(500);
    await load.stop();
    await expectWhole(store, load);
    expect(load.logged.length).toBeGreaterThan(50);
  });

  it("goes over to a standby that is promoted, and loses nothing that was acknowledged", {
    timeout: 90_000,
  }, async () => {
    const primary = await lane.start({ fsync: true });
    await applySchema(primary.url);
    const standby = await primary.createStandby({ synchronous: true });
    const hosts = `${primary.host}:${primary.port},${standby.host}:${standby.port}`;
    const dsn = `postgres://${primary.user}@${hosts}/${primary.database}`;
    try {
      await using store = PostgresMemoryStore.connect(memoryStoreSettings({ dsn, ...SETTINGS }));
      const load = new Load(store);
      await pause(1_000);
      await primary.kill();
      const before = load.logged.length;
      await standby.promote();
      await pause(1_500);
      await load.stop();
      await expectWhole(store, load);
      expect(load.logged.length).toBeGreaterThan(before);
    } finally {
      await standby.stop();
      await primary.stop();
    }
  });
});
