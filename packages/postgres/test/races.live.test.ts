// Many at once: writers on one key from two processes, bulk logs that overlap in opposite order, and writers, erasers and a
// reader that keeps watch over them. MEMORY_RACE_SECONDS says how long the watch goes on; the default is short.

import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { type MemoryScope, memoryScope, memoryStoreSettings } from "@memory/core";
import { findPostgres, type PostgresPrimary } from "@tooling/servers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PostgresMemoryStore } from "../src/index.ts";
import { applySchema } from "./target.ts";
import type { Outcome } from "./writers.ts";

const lane = findPostgres();
const WATCH_MS = Number(process.env["MEMORY_RACE_SECONDS"] ?? 6) * 1_000;
const run = promisify(execFile);

describe.skipIf(lane.isMissing)("races", () => {
  let server: PostgresPrimary;

  beforeAll(async () => {
    server = await lane.start({ settings: { max_connections: "100" } });
    await applySchema(server.url);
  });
  afterAll(async () => {
    await server?.stop();
  });

  const connect = (poolSize: number) =>
    PostgresMemoryStore.connect(
      memoryStoreSettings({ dsn: server.url, poolSize, queueTimeoutMs: 60_000, maxQueued: 10_000 }),
    );

  async function write(tenantId: string, name: string, count: number, expected = ""): Promise<readonly Outcome[]> {
    const script = fileURLToPath(new URL("writers.ts", import.meta.url));
    const args = ["--conditions=@memory/source", script, server.url, tenantId, name, `${count}`, expected];
    const { stdout } = await run(process.execPath, args, { maxBuffer: 16_000_000 });
    const outcomes: readonly Outcome[] = JSON.parse(stdout);
    return outcomes;
  }

  it("lets 200 writers of two processes all land on one key, as versions 1 to 200 with one live", {
    timeout: 120_000,
  }, async () => {
    const outcomes = (await Promise.all([write("land", "a", 100), write("land", "b", 100)])).flat();
    const won = outcomes.flatMap((one) => ("won" in one ? [one] : []));
    expect(outcomes.filter((one) => "lost" in one)).toEqual([]);
    expect(won.map((one) => one.won).sort((a, b) => a - b)).toEqual([...Array(200).keys()].map((n) => n + 1));
    // Serial: each ended the one before it, or one that began at the same millisecond.
    await using store = connect(2);
    const scope = memoryScope({ tenantId: "land" });
    const trail = await store.history(scope, "k");
    expect(trail.map((one) => one.version)).toEqual([...Array(200).keys()].map((n) => n + 1));
    expect(trail.filter((one) => one.validTo === undefined).map((one) => one.version)).toEqual([200]);
    expect((await store.profile(scope, "k"))?.version).toBe(200);
  });

  it("lets exactly one of 200 writers with the same expected version win, and tells the others which", {
    timeout: 120_000,
  }, async () => {
    await using store = connect(2);
    const scope = memoryScope({ tenantId: "expect" });
    await store.supersede(scope, { key: "k", value: 0, source: "test" });
    const outcomes = (await Promise.all([write("expect", "a", 100, "1"), write("expect", "b", 100, "1")])).flat();
    expect(outcomes.filter((one) => "won" in one)).toEqual([{ won: 2, superseded: 1 }]);
    const lost = outcomes.flatMap((one) => ("lost" in one ? [one] : []));
    expect(new Set(lost.map((one) => `${one.code} ${one.lost}`))).toEqual(new Set(["MEMORY_CONFLICT 2"]));
    expect(await store.history(scope, "k")).toHaveLength(2);
  });

  it("lets 64 callers log overlapping batches in opposite order, and no deadlock reaches any", {
    timeout: 120_000,
  }, async () => {
    await using store = connect(16);
    const scope = memoryScope({ tenantId: "overlap" });
    const records = [...Array(300).keys()].map((n) => ({
      id: `e${n}`,
      key: "turn",
      value: n,
      source: "test",
      validFrom: n,
    }));
    const calls = [...Array(64).keys()].map((caller) => {
      const part = records.slice((caller * 3) % 100, 200 + ((caller * 7) % 100));
      return store.logAll(scope, caller % 2 === 0 ? part : part.toReversed());
    });
    const failed = (await Promise.allSettled(calls)).filter((one) => one.status === "rejected");
    expect(failed).toEqual([]);
    const ids = (await store.episodes(scope, { limit: 1_000 })).map((hit) => hit.record.id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.length).toBeGreaterThan(290);
    expect(await server.psql("SELECT deadlocks FROM pg_stat_database WHERE datname = 'memory'")).toBe("0");
  });

  it("shows a watcher no hole, no two live versions, no half-erased scope and no lost write", {
    timeout: WATCH_MS + 60_000,
  }, async () => {
    await using store = connect(12);
    const scope = memoryScope({ tenantId: "watch", userId: "u" });
    const until = performance.now() + WATCH_MS;
    const isOver = (): boolean => performance.now() > until;
    const acknowledged: string[] = [];
    let erasures = 0;
    let counted = 0;
    let looks = 0;

    const writer = async (name: string): Promise<void> => {
      for (let n = 0; !isOver(); n += 1) {
        const id = `${name}-${n}`;
        if (n % 4 === 3)
          await store.logAll(
            scope,
            [id, `${id}+`].map((one) => ({ id: one, key: "pair", value: id, source: "w" })),
          );
        else await store.supersede(scope, { id, key: `k${n % 2}`, value: id, source: "w" });
        acknowledged.push(id);
      }
    };
    const eraser = async (): Promise<void> => {
      while (!isOver()) {
        await new Promise((resolve) => setTimeout(resolve, 150));
        const { records } = await store.erase(scope);
        counted += records;
        erasures += 1;
      }
    };
    const watcher = async (): Promise<void> => {
      while (!isOver()) {
        for (const key of ["k0", "k1"]) checkTrail(await store.history(scope, key));
        const pairs = (await store.episodes(scope, { limit: 1_000 })).map((hit) => hit.record.id);
        const halves = pairs.filter((id) => !pairs.includes(id.endsWith("+") ? id.slice(0, -1) : `${id}+`));
        // At the end of a full page a pair may be cut.
        if (pairs.length < 1_000) expect(halves).toEqual([]);
        looks += 1;
      }
    };
    await Promise.all([...["a", "b", "c", "d", "e", "f"].map(writer), eraser(), eraser(), watcher(), watcher()]);

    const left = await everything(store, scope);
    const written = acknowledged.reduce((sum, one) => sum + (Number(one.split("-")[1]) % 4 === 3 ? 2 : 1), 0);
    // Every record that was acknowledged was erased and counted once, or is still there.
    expect(counted + left.length).toBe(written);
    expect(looks).toBeGreaterThan(10);
    console.log(`watched ${acknowledged.length} writes, ${erasures} erasures of ${counted} records, ${looks} looks`);
  });
});

// Versions are numbered from 1 without a hole: an erasure takes a key wholly. A read of several chunks may see two lives of
// a key, and then begins again at 1.
function checkTrail(trail: readonly { readonly version?: number; readonly validTo?: number }[]): void {
  expect(trail.map((one) => one.version)).toEqual(trail.map((_, index) => index + 1));
  expect(trail.filter((one) => one.validTo === undefined).length).toBeLessThanOrEqual(1);
}

async function everything(store: PostgresMemoryStore, scope: MemoryScope): Promise<readonly string[]> {
  const ids = (await store.history(scope)).map((one) => one.id);
  let cursor: string | null = null;
  do {
    const page = await store.page(scope, { limit: 1_000 }, { cursor });
    ids.push(...page.hits.map((hit) => hit.record.id));
    cursor = page.cursor;
  } while (cursor !== null);
  return ids;
}
