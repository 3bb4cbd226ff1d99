// A primary that dies under load and comes back, and a standby that takes its place: every acknowledged write is there
// once and as it was answered, every other one was said to be unavailable and is there once or not at all (and not at all
// where that was said), and attempts that were made again wrote nothing twice.

import { setTimeout as pause } from "node:timers/promises";
import { isMemoryError, memoryScope, memoryStoreSettings } from "@memory/core";
import { findPostgres } from "@tooling/servers";
import { describe, expect, it } from "vitest";
import { PostgresMemoryStore } from "../src/index.ts";
import { applySchema } from "./target.ts";

const lane = findPostgres();
const SETTINGS = { poolSize: 6, attemptTimeoutMs: 1_500, connectTimeoutMs: 1_000, maxAttempts: 5, backoffMs: 100 };
const SCOPE = memoryScope({ tenantId: "failover", userId: "u" });

/** Writes from many callers until told to stop, each value by one call, and what became of each. No call names an id. */
class Load {
  /** What was acknowledged; of beliefs with the version that was told. */
  readonly logged: string[] = [];
  readonly pairs: string[] = [];
  readonly superseded: Map<string, number> = new Map();
  /** What was refused, and whether it was said to have had no effect. */
  readonly refused: Map<string, boolean> = new Map();
  readonly codes: Map<string, number> = new Map();
  /** Logs that were answered after more than one attempt. */
  retried = 0;
  readonly store: PostgresMemoryStore;
  readonly #callers: readonly Promise<void>[];
  #isOver = false;

  constructor(dsn: string) {
    this.store = PostgresMemoryStore.connect(memoryStoreSettings({ dsn, ...SETTINGS }), {
      onEvent: (event) => {
        if (event.name !== "adk.memory.operation" || event.operation === "supersede") return;
        if (event.outcome === "ok" && event.attempts > 1) this.retried += 1;
      },
    });
    this.#callers = [...Array(8).keys()].map((caller) => this.#write(caller));
  }

  /** Resolves when more writes of each kind were acknowledged. */
  async goesOn(): Promise<void> {
    const counts = (): readonly number[] => [this.logged.length, this.pairs.length, this.superseded.size];
    const before = counts();
    const least = (): number => Math.min(...counts().map((count, index) => count - (before[index] ?? 0)));
    await expect.poll(least, { timeout: 60_000 }).toBeGreaterThan(9);
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#callers);
  }

  async #write(caller: number): Promise<void> {
    for (let n = 0; !this.#isOver; n += 1) {
      const value = `c${caller}-${n}`;
      try {
        await this.#writeOne(n, value);
      } catch (error) {
        if (!isMemoryError(error)) throw error;
        const isApart = isMemoryError(error, "MEMORY_UNAVAILABLE") ? error.outcome === "not-applied" : true;
        this.refused.set(value, isApart);
        this.codes.set(error.code, (this.codes.get(error.code) ?? 0) + 1);
        await pause(20);
      }
    }
  }

  async #writeOne(n: number, value: string): Promise<void> {
    const source = "load";
    if (n % 3 === 0) {
      await this.store.log(SCOPE, { key: "turn", value, source });
      this.logged.push(value);
    } else if (n % 3 === 1) {
      const both = [`${value}/1`, `${value}/2`];
      await this.store.logAll(
        SCOPE,
        both.map((one) => ({ key: "turn", value: one, source })),
      );
      this.pairs.push(value);
    } else {
      const { record } = await this.store.supersede(SCOPE, { key: "k", value, source });
      this.superseded.set(value, record.version ?? 0);
    }
  }
}

async function expectWhole(load: Load): Promise<void> {
  const { store } = load;
  const episodes: string[] = [];
  let cursor: string | null = null;
  do {
    const page = await store.page(SCOPE, { limit: 1_000 }, { cursor });
    episodes.push(...page.hits.map((hit) => String(hit.record.value)));
    cursor = page.cursor;
  } while (cursor !== null);
  const there = new Set(episodes);
  expect(there.size).toBe(episodes.length);
  const acknowledged = [...load.logged, ...load.pairs.flatMap((value) => [`${value}/1`, `${value}/2`])];
  expect(acknowledged.filter((value) => !there.has(value))).toEqual([]);
  expect(episodes.filter((value) => value.endsWith("/1") && !there.has(value.replace("/1", "/2")))).toEqual([]);
  expect(episodes.filter((value) => value.endsWith("/2") && !there.has(value.replace("/2", "/1")))).toEqual([]);

  const trail = await store.history(SCOPE, "k");
  const values = trail.map((one) => String(one.value));
  expect(trail.map((one) => one.version)).toEqual(trail.map((_, index) => index + 1));
  expect(new Set(values).size).toBe(values.length);
  expect([...load.superseded].filter(([value, version]) => values[version - 1] !== value)).toEqual([]);
  expect((await store.profile(SCOPE, "k"))?.version).toBe(trail.length);

  // Nothing is there that was not asked for, and nothing that was said to have had no effect.
  const known = new Set([...acknowledged.map(callOf), ...load.superseded.keys(), ...load.refused.keys()]);
  const all = [...episodes, ...values].map(callOf);
  expect(all.filter((value) => !known.has(value) || load.refused.get(value) === true)).toEqual([]);
  expect([...load.codes.keys()].filter((code) => !/^MEMORY_UNAVAILABLE$|^POOL_EXHAUSTED$/.test(code))).toEqual([]);
}

function callOf(value: string): string {
  return value.split("/")[0] ?? "";
}

describe.skipIf(lane.isMissing)("failover", () => {
  it("keeps every acknowledged write of a primary that is killed and restarted", { timeout: 300_000 }, async () => {
    await using server = await lane.start({ fsync: true });
    await applySchema(server.url);
    const load = new Load(server.url);
    await using _store = load.store;
    for (let round = 0; round < 3; round += 1) {
      await load.goesOn();
      await server.kill();
      await pause(200);
      await server.restart();
    }
    await load.goesOn();
    await load.stop();
    await expectWhole(load);
    expect(load.retried + load.refused.size).toBeGreaterThan(0);
  });

  it("goes over to a standby that is promoted, and loses nothing that was acknowledged", {
    timeout: 300_000,
  }, async () => {
    const primary = await lane.start({ fsync: true });
    await applySchema(primary.url);
    const standby = await primary.createStandby({ synchronous: true });
    const hosts = `${primary.host}:${primary.port},${standby.host}:${standby.port}`;
    const dsn = `postgres://${primary.user}@${hosts}/${primary.database}`;
    try {
      const load = new Load(dsn);
      await using _store = load.store;
      await load.goesOn();
      await primary.kill();
      await standby.promote();
      await load.goesOn();
      await load.stop();
      await expectWhole(load);
      expect(load.retried + load.refused.size).toBeGreaterThan(0);
    } finally {
      await standby.stop();
      await primary.stop();
    }
  });
});
