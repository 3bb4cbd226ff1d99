// Memory on its way: from this process through real servers and PGlite and back, as files; cut in the middle and done
// again; and the command that people call.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { exportScope, importRecords, type MemoryStore, memoryStoreSettings } from "@memory/core";
import { InMemoryMemoryStore } from "@memory/core/in-memory";
import { PgvectorMemoryStore } from "@memory/pgvector";
import { schemaSql as vectorSchemaSql } from "@memory/pgvector/schema";
import { PostgresMemoryStore } from "@memory/postgres";
import { schemaSql } from "@memory/postgres/schema";
import { RedisMemoryStore } from "@memory/redis";
import { RoutedMemoryStore } from "@memory/routed";
import { findPostgres, findRedis, type PostgresPrimary, type RedisServer } from "@tooling/servers";
import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
import { startEmbedded } from "../src/engine.ts";
import { partOf, readLines, writeLines } from "../src/lines.ts";
import { transfer } from "../src/transfer.ts";
import { ann, everything, remember, WIDTH } from "./memory.ts";

const TIMEOUT_MS = 180_000;
const redisLane = await findRedis();
const postgresLane = findPostgres({ extensions: ["vector"] });

describe.skipIf(redisLane.isMissing || postgresLane.isMissing)("memory on its way", () => {
  let redis: RedisServer;
  let postgres: PostgresPrimary;
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "memory-transfer-"));
    redis = await redisLane.start();
    postgres = await postgresLane.start();
    await postgres.psql(schemaSql());
    await postgres.psql(vectorSchemaSql({ dimensions: WIDTH }));
  });
  afterAll(async () => {
    await redis?.stop();
    await postgres?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const here = (...without: readonly ("working" | "profile" | "episodic" | "semantic")[]) =>
    new InMemoryMemoryStore({ embeddingDimensions: WIDTH, without, redactor: null });
  const onServers = (): MemoryStore =>
    new RoutedMemoryStore(
      {
        working: RedisMemoryStore.connect(memoryStoreSettings({ dsn: redis.url })),
        durable: PostgresMemoryStore.connect(memoryStoreSettings({ dsn: postgres.url })),
        semantic: PgvectorMemoryStore.connect(memoryStoreSettings({ dsn: postgres.url }), { dimensions: WIDTH }),
      },
      { redactor: null },
    );
  const environment = () => ({ MEMORY_REDIS_DSN: redis.url, MEMORY_POSTGRES_DSN: postgres.url });

  async function clear(): Promise<void> {
    await using store = onServers();
    await store.erase({ tenantId: "acme" });
  }

  const WIDE = ["--dimensions", String(WIDTH)] as const;
  const wide = (...args: readonly string[]) => run(...args, ...WIDE);

  async function run(...args: readonly string[]): Promise<{ readonly code: number; readonly said: string }> {
    const said: string[] = [];
    const code = await transfer(args, { environment: environment(), say: (text) => said.push(text) });
    return { code, said: said.join("\n") };
  }

  it("comes back record for record: this process, three servers, PGlite, this process", {
    timeout: TIMEOUT_MS,
  }, async () => {
    await using first = here();
    await remember(first, 1_200);
    const whole = await everything(first);
    expect(whole.length).toBeGreaterThan(1_220);
    await using servers = onServers();
    await using database = await startEmbedded(join(folder, "round"), { dimensions: WIDTH });
    // What PGlite does not hold is held in this process.
    const { durable, semantic } = database;
    const members = { working: here("profile", "episodic", "semantic"), durable, semantic };
    await using embedded = new RoutedMemoryStore(members, { redactor: null });
    await using last = here();
    let from: MemoryStore = first;
    for (const [n, to] of [servers, embedded, last].entries()) {
      const path = join(folder, `hop-${n}.jsonl`);
      await writeLines(path, exportScope(from, ann));
      const receipt = await importRecords(to, readLines(path));
      expect(receipt.records).toBe(whole.length);
      expect(await everything(to)).toEqual(whole);
      from = to;
    }
    await clear();
  });

  describe("that was cut", () => {
    it("is never a whole file: it stands under another name until its last line is written", async () => {
      await using store = here();
      await remember(store, 30);
      const path = join(folder, "half.jsonl");
      async function* broken() {
        let count = 0;
        for await (const line of exportScope(store, ann)) {
          if (++count > 20) throw new Error("the power is gone");
          yield line;
        }
      }
      await expect(writeLines(path, broken())).rejects.toThrow("the power is gone");
      await expect(stat(path)).rejects.toMatchObject({ code: "ENOENT" });
      await writeLines(path, exportScope(store, ann));
      await expect(stat(partOf(path))).rejects.toMatchObject({ code: "ENOENT" });
      expect((await stat(path)).mode & 0o077).toBe(0);
      await using again = here();
      await importRecords(again, readLines(path));
      expect(await everything(again)).toEqual(await everything(store));
    });

    it("in the middle of a line is refused by that line before anything of it is imported", {
      timeout: TIMEOUT_MS,
    }, async () => {
      await using store = here();
      await remember(store);
      const path = join(folder, "cut.jsonl");
      await writeLines(path, exportScope(store, ann));
      const text = await readFile(path, "utf8");
      const cut = join(folder, "cut-short.jsonl");
      await writeFile(cut, text.slice(0, Math.floor(text.length / 2)));
      const lines = text.slice(0, Math.floor(text.length / 2)).split("\n").length;
      const half = await wide("import", "--to", "servers", "--file", cut, "--as-is");
      expect(half.code).toBe(1);
      expect(half.said).toContain(`line ${lines} has no end`);
      await using servers = onServers();
      expect(await everything(servers)).toEqual([]);
      const whole = await wide("import", "--to", "servers", "--file", path, "--as-is");
      expect(whole).toMatchObject({ code: 0 });
      expect(await everything(servers)).toEqual(await everything(store));
      await clear();
    });

    it("by killing the importing process again and again is completed without doubling", {
      timeout: TIMEOUT_MS,
    }, async () => {
      await using store = here();
      await remember(store, 4_000);
      const path = join(folder, "killed.jsonl");
      await writeLines(path, exportScope(store, ann));
      await using servers = onServers();
      const there = async (): Promise<number> => {
        const versions = await servers.history(ann, undefined, { reach: "under" });
        const [episodes] = (await postgres.psql("SELECT count(*) FROM memory.episodes")).split("\n");
        return versions.length + Number(episodes);
      };
      // Among the versions, between them and the episodes, and among these.
      for (const least of [1, 8, 500, 2_000]) {
        const child = command("import", "--to", "servers", "--file", path, "--as-is", ...WIDE);
        const exited = once(child, "exit");
        while ((await there()) < least && child.exitCode === null) {
          await new Promise((resolve) => setImmediate(resolve));
        }
        child.kill("SIGKILL");
        expect(await exited).toEqual([null, "SIGKILL"]);
      }
      const child = command("import", "--to", "servers", "--file", path, "--as-is", ...WIDE);
      expect(await once(child, "exit")).toEqual([0, null]);
      expect(await everything(servers)).toEqual(await everything(store));
      await clear();
    });
  });

  describe("by the command", () => {
    it("goes from servers to a folder and back, with what the folder does not keep left out by name", {
      timeout: TIMEOUT_MS,
    }, async () => {
      await using servers = onServers();
      await remember(servers);
      const path = join(folder, "out.jsonl");
      const back = join(folder, "back.jsonl");
      const data = `embedded:${join(folder, "pglite")}`;
      const out = await wide("export", "--from", "servers", "--tenant", "acme", "--user", "ann", "--file", path);
      expect(out).toMatchObject({ code: 0, said: expect.stringMatching(/^exported \d+ records/) });
      const refused = await wide("import", "--to", data, "--file", path);
      expect(refused).toMatchObject({ code: 1, said: expect.stringMatching(/does not keep working records/) });
      const kinds = ["--kinds", "profile,episodic,semantic"];
      expect(await wide("import", "--to", data, "--file", path, "--as-is", ...kinds)).toMatchObject({
        code: 0,
        said: expect.stringMatching(/left out$/),
      });
      await wide("export", "--from", data, "--tenant", "acme", "--user", "ann", "--file", back);
      const durable = (text: string) => text.split("\n").filter((line) => /"kind":"(?!working)/.test(line));
      expect(durable(await readFile(back, "utf8"))).toEqual(durable(await readFile(path, "utf8")));
      await clear();
    });

    it("masks what it imports unless it is told not to", { timeout: TIMEOUT_MS }, async () => {
      await using store = here();
      await store.upsert(ann, { key: "mail", value: "write to ann@example.org", source: "test" });
      const path = join(folder, "mail.jsonl");
      await writeLines(path, exportScope(store, ann));
      await using servers = onServers();
      expect(await wide("import", "--to", "servers", "--file", path)).toMatchObject({ code: 0 });
      expect((await servers.profile(ann, "mail"))?.value).toBe("write to [redacted]");
      await clear();
      expect(await wide("import", "--to", "servers", "--file", path, "--as-is")).toMatchObject({ code: 0 });
      expect((await servers.profile(ann, "mail"))?.value).toBe("write to ann@example.org");
      await clear();
    });

    test.each([
      [[], /name one command/],
      [["copy"], /name one command/],
      [["export", "--from", "servers", "--file", "f"], /--tenant/],
      [["import", "--file", "f"], /--to/],
      [["import", "--to", "servers"], /--file/],
      [["import", "--to", "paper", "--file", "f", "--dimensions", "3"], /no engine "paper"/],
      [["import", "--to", "servers", "--file", "f"], /--dimensions/],
      [["import", "--to", "servers", "--file", "f", "--dimensions", "wide"], /--dimensions/],
      [["import", "--to", "servers", "--file", "f", "--kinds", "dreams"], /no kind "dreams"/],
      [["import", "--to", "servers", "--file", "f", "--metric", "ell2"], /no metric "ell2"/],
      [["import", "--to", "servers", "--fil", "f"], /--fil/],
      [["import", "--to", "servers", "--file", "f", "--dimensions", "3", "--tenant", "acme"], /no --tenant/],
      [["import", "--to", "servers", "--file", "f", "--dimensions", "3", "--agent", "a"], /no --agent/],
      [["export", "--from", "servers", "--file", "f", "--tenant", "acme", "--as-is"], /no --as-is/],
      [["export", "--from", "servers", "--file", "f", "--tenant", ""], /tenantId/],
      [["export", "--from", "servers", "--file", "f", "--tenant", "acme", "--user", " "], /userId/],
    ])("%j cannot be used: exit code 2, and how it is called", async (args, text) => {
      const { code, said } = await run(...args);
      expect(code).toBe(2);
      expect(said).toMatch(text);
      expect(said).toMatch(/npm run transfer/);
    });

    it("tells nothing of a line that it cannot read, and names a file that is not there", async () => {
      const path = join(folder, "damaged.jsonl");
      await writeFile(path, '{"record":"canary\n');
      const damaged = await wide("import", "--to", "servers", "--file", path);
      expect(damaged).toEqual({ code: 1, said: "the file cannot be used: line 1 is no JSON in UTF-8" });
      const none = join(folder, "none.jsonl");
      const missing = await wide("import", "--to", "servers", "--file", none);
      expect(missing).toEqual({ code: 1, said: `cannot be used (ENOENT): ${none}` });
    });

    test.each([
      ["is not there", undefined, /ENOENT/],
      ["was cut", '{"record":', /line 1 has no end/],
      ["holds what it would not keep", '{"record":{"kind":"working"}}\n{"records":1}\n', /does not keep working/],
    ])("makes no database for a file that %s", async (_what, text, complaint) => {
      const path = join(folder, "unusable.jsonl");
      if (text !== undefined) await writeFile(path, text);
      const data = join(folder, "unmade");
      const { code, said } = await wide("import", "--to", `embedded:${data}`, "--file", path);
      expect([code, said]).toEqual([1, expect.stringMatching(complaint)]);
      await expect(stat(data)).rejects.toHaveProperty("code", "ENOENT");
    });

    it("opens both of the servers' stores with row security where it is told to", async () => {
      const path = join(folder, "walled.jsonl");
      const args = ["export", "--from", "servers", "--tenant", "acme", "--file", path, "--row-security"];
      const { code, said } = await wide(...args);
      expect(code).toBe(1);
      expect(said).toMatch(/postgres: .* has no row security.*pgvector: .* has no row security/);
    });

    it("opens the schema, the collection and the metric that it is told", { timeout: TIMEOUT_MS }, async () => {
      const named = { schema: "notes", collection: "faces", metric: "l2" } as const;
      await postgres.psql(schemaSql({ schema: named.schema }));
      await postgres.psql(vectorSchemaSql({ dimensions: WIDTH, ...named }));
      const tables = ["--schema", "notes", "--collection", "faces"];
      const path = join(folder, "notes.jsonl");
      const args = ["export", "--from", "servers", "--tenant", "acme", "--file", path, ...tables];
      const other = await wide(...args);
      expect(other).toEqual({ code: 1, said: expect.stringMatching(/pgvector: .*"notes"."faces"/) });
      const told = await wide(...args, "--metric", "l2");
      expect(told).toEqual({ code: 0, said: "exported 0 records" });
    });

    it("ends when the folder's database cannot be opened as it is told", { timeout: TIMEOUT_MS }, async () => {
      const data = `embedded:${join(folder, "narrow")}`;
      const path = join(folder, "narrow.jsonl");
      await writeFile(path, '{"records":0}\n');
      expect(await wide("import", "--to", data, "--file", path)).toMatchObject({ code: 0 });
      const args = ["--from", data, "--tenant", "acme", "--file", path, "--dimensions", "99999"];
      expect(await once(command("export", ...args), "exit")).toEqual([1, null]);
    });

    it("says what is out of reach, of every server", { timeout: TIMEOUT_MS }, async () => {
      const said: string[] = [];
      const gone = { MEMORY_REDIS_DSN: "redis://127.0.0.1:1", MEMORY_POSTGRES_DSN: "postgres://app@127.0.0.1:1/app" };
      const args = ["export", "--from", "servers", "--tenant", "acme", "--file", join(folder, "gone.jsonl"), ...WIDE];
      expect(await transfer(args, { environment: gone, say: (text) => said.push(text) })).toBe(1);
      expect(said.join()).toMatch(/MEMORY_UNAVAILABLE.*redis.*postgres.*pgvector/);
    });
  });

  function command(...args: readonly string[]) {
    const main = fileURLToPath(new URL("../src/main.ts", import.meta.url));
    const { NODE_OPTIONS: _, NODE_TEST_CONTEXT: __, ...env } = process.env;
    return spawn(process.execPath, ["--conditions=@memory/source", main, ...args], {
      stdio: ["ignore", "inherit", "inherit"],
      env: { ...env, ...environment() },
    });
  }
});
