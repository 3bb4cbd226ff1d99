// Many at once: writers on one key from two processes, bulk logs that overlap in opposite order, and writers, erasers and
// readers whose every call is recorded and judged (watch.ts). MEMORY_RACE_SECONDS says how long the last goes on; the default
// is short.

import { execFile } from "node:child_process";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { type MemoryRecord, type MemoryScope, memoryScope, memoryStoreSettings } from "@memory/core";
import { findPostgres, type PostgresPrimary } from "@tooling/servers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PostgresMemoryStore } from "../src/index.ts";
import { applySchema } from "./target.ts";
import { type Shown, Watch } from "./watch.ts";
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

  // One after the other, as if nobody else had been there: each superseded what the one before it wrote.
  async function expectSerial(tenantId: string, outcomes: readonly Outcome[], count: number): Promise<void> {
    const won = outcomes.flatMap((one) => ("won" in one ? [one] : [])).sort((a, b) => a.won - b.won);
    const versions = [...Array(count).keys()].map((n) => n + 1);
    expect(won.map((one) => one.won)).toEqual(versions);
    expect(won.map((one) => one.superseded)).toEqual([null, ...won.slice(0, -1).map((one) => one.id)]);
    await using store = connect(2);
    const scope = memoryScope({ tenantId });
    const trail = await store.history(scope, "k");
    expect(trail.map((one) => [one.version, one.id])).toEqual(won.map((one) => [one.won, one.id]));
    expect(trail.filter((one) => one.validTo === undefined).map((one) => one.version)).toEqual([count]);
    expect((await store.profile(scope, "k"))?.version).toBe(count);
  }

  it("lets 200 writers of two processes all land on one key, one after the other, with one live", {
    timeout: 120_000,
  }, async () => {
    const outcomes = (await Promise.all([write("land", "a", 100), write("land", "b", 100)])).flat();
    expect(outcomes.filter((one) => "lost" in one)).toEqual([]);
    await expectSerial("land", outcomes, 200);
  });

  it("lets exactly one of 200 writers with the same expected version win, and tells the others which", {
    timeout: 120_000,
  }, async () => {
    await using store = connect(2);
    const scope = memoryScope({ tenantId: "expect" });
    await store.supersede(scope, { id: "first", key: "k", value: 0, source: "test" });
    const outcomes = (await Promise.all([write("expect", "a", 100, "1"), write("expect", "b", 100, "1")])).flat();
    expect(outcomes.filter((one) => "won" in one)).toMatchObject([{ won: 2, superseded: "first" }]);
    const lost = outcomes.flatMap((one) => ("lost" in one ? [one] : []));
    expect(lost).toHaveLength(199);
    expect(new Set(lost.map((one) => `${one.code} ${one.lost}`))).toEqual(new Set(["MEMORY_CONFLICT 2"]));
    expect(await store.history(scope, "k")).toHaveLength(2);
  });

  it("gives who lost the version to expect, so that writers of two processes that insist all land", {
    timeout: 120_000,
  }, async () => {
    const outcomes = (await Promise.all(["a", "b"].map((name) => write("insist", name, 20, "insist")))).flat();
    await expectSerial("insist", outcomes, 40);
    const lost = outcomes.flatMap((one) => ("lost" in one ? [one] : []));
    expect(new Set(lost.map((one) => one.code))).toEqual(new Set(["MEMORY_CONFLICT"]));
    expect(lost.filter((one) => one.lost === null || one.lost <= one.expected)).toEqual([]);
  });

  it("lets 64 callers log overlapping batches in opposite order, and no deadlock reaches any", {
    timeout: 120_000,
  }, async () => {
    await using store = connect(64);
    const scope = memoryScope({ tenantId: "overlap" });
    const records = [...Array(300).keys()].map((n) => ({
      id: `e${n}`,
      key: "turn",
      value: n,
      source: "test",
      validFrom: n,
    }));
    const batches = [...Array(64).keys()].map((caller) => {
      const part = records.slice((caller * 3) % 100, 200 + ((caller * 7) % 100));
      return caller % 2 === 0 ? part : part.toReversed();
    });
    const settled = await Promise.allSettled(batches.map((batch) => store.logAll(scope, batch)));
    expect(settled.filter((one) => one.status === "rejected")).toEqual([]);
    const hits = await store.episodes(scope, { limit: 1_000 });
    const given = new Map(batches.flat().map(({ id, value }) => [id, value]));
    expect(hits).toHaveLength(given.size);
    expect(new Map(hits.map(({ record }) => [record.id, record.value]))).toEqual(given);
    // None reached the store either; a backend hands in its counts when it is idle or ends.
    await store.close();
    const deadlocks = "SELECT deadlocks FROM pg_stat_database WHERE datname = 'memory'";
    expect(await server.psql(`SELECT pg_stat_force_next_flush(); ${deadlocks}`)).toMatch(/\b0$/);
  });

  it("shows a watcher no lost supersession, no two live versions, nothing half erased and every acknowledged write", {
    timeout: WATCH_MS * 2 + 60_000,
  }, async () => {
    await using writing = connect(8);
    await using erasing = connect(2);
    await using watching = connect(4);
    const user = memoryScope({ tenantId: "watch", userId: "u" });
    const sessions = ["s1", "s2"].map((sessionId) => memoryScope({ ...user, sessionId }));
    const watch = new Watch();
    const until = performance.now() + WATCH_MS;
    const isOver = (): boolean => performance.now() > until;
    let cut = 0;

    const writer = async (name: string, index: number): Promise<void> => {
      const scope = sessions[index % 2] ?? user;
      const session = scope.sessionId ?? "";
      for (let n = 0; !isOver(); n += 1) {
        const id = `${name}-${n}`;
        if (n % 3 === 2) {
          const ids = [id, `${id}+`];
          const acknowledge = watch.begin({ kind: "episodic", session, ids });
          await writing.logAll(
            scope,
            ids.map((one) => ({ id: one, key: "pair", value: id, source: "w" })),
          );
          acknowledge();
        } else {
          const key = `k${n % 2}`;
          const acknowledge = watch.begin({ kind: "profile", session, ids: [id], key });
          const { record, superseded } = await writing.supersede(scope, { id, key, value: id, source: "w" });
          acknowledge({ version: record.version ?? 0, superseded: superseded?.id ?? null });
        }
      }
    };
    const eraser = async (scope: MemoryScope): Promise<void> => {
      while (!isOver()) {
        await pause(100);
        const began = performance.now();
        const { records } = await erasing.erase(scope);
        watch.erasures.push({ session: scope.sessionId, began, ended: performance.now(), records });
      }
    };
    // What takes more than one statement is not of one instant.
    const look = async (kind: "profile" | "episodic", read: () => Promise<readonly MemoryRecord[]>): Promise<void> => {
      const began = performance.now();
      const records = await read();
      const ended = performance.now();
      if (kind === "profile" && records.length < 1_000) watch.trails(records.map(shown));
      if (records.length < 1_000) watch.looks.push({ kind, began, ended, seen: new Set(records.map(({ id }) => id)) });
      else cut += 1;
    };
    const all = { reach: "under" } as const;
    const readers = {
      profile: () => watching.history(user, undefined, all),
      episodic: async () => (await watching.episodes(user, { ...all, limit: 1_000 })).map(({ record }) => record),
    };
    const watcher = async (): Promise<void> => {
      while (!isOver()) {
        await look("profile", readers.profile);
        await look("episodic", readers.episodic);
      }
    };
    const follower = async (): Promise<void> => {
      for (let n = 0; !isOver(); n += 1) {
        const scope = sessions[n % 2] ?? user;
        const key = `k${(n >> 1) % 2}`;
        const began = performance.now();
        const version = (await watching.profile(scope, key))?.version ?? 0;
        watch.lives.push({ session: scope.sessionId ?? "", key, began, ended: performance.now(), version });
      }
    };
    const writers = ["a", "b", "c", "d", "e", "f"].map(writer);
    const erasers = [eraser(user), eraser(sessions[0] ?? user)];
    await Promise.all([...writers, ...erasers, watcher(), watcher(), follower()]);
    await look("profile", readers.profile);
    await look("episodic", readers.episodic);

    const { faults, ...counts } = watch.judge();
    expect(faults.slice(0, 20)).toEqual([]);
    // Every record that was written was erased and counted once, or is still there.
    const written = watch.writes.reduce((sum, { ids }) => sum + ids.length, 0);
    const erased = watch.erasures.reduce((sum, { records }) => sum + records, 0);
    const left = watch.looks.slice(-2).reduce((sum, { seen }) => sum + seen.size, 0);
    expect(erased + left).toBe(written);
    expect(Object.entries(counts).filter(([, count]) => count === 0)).toEqual([]);
    const { looks, lives, erasures, writes } = watch;
    const done = {
      writes: writes.length,
      erasures: erasures.length,
      erased,
      looks: looks.length,
      lives: lives.length,
      cut,
    };
    console.log(`watched ${WATCH_MS} ms: ${JSON.stringify({ ...done, ...counts })}`);
  });
});

function shown({ id, key, scope, version, validTo, supersededBy }: MemoryRecord): Shown {
  return { id, key, session: scope.sessionId ?? "", version: version ?? 0, validTo, supersededBy };
}
