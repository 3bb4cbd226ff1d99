// The embedded default, which needs nothing installed: a folder remembers from run to run and forgets whom it is asked to,
// and what cannot be used is told with what to do about it.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PGlite } from "@electric-sql/pglite";
import { vector } from "@electric-sql/pglite-pgvector";
import { PGLiteSocketServer } from "@electric-sql/pglite-socket";
import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
import { startEngine } from "../src/engine.ts";
import { forgetsOnePerson, remembersEveryRun } from "./engine-cases.ts";
import { run } from "./surroundings.ts";

const TIMEOUT_MS = 180_000;

describe("a data folder", () => {
  let folder: string;
  let data: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "quickstart-data-"));
    data = join(folder, "data");
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it("remembers every run, but for working memory", { timeout: TIMEOUT_MS }, async () => {
    const output = await remembersEveryRun({ data }, false);
    expect(output).toMatch(/working +in this process\n +durable +PGlite in .*\n(?: {21}.*\n)* +semantic +PGlite in /);
  });

  it("forgets one person and nobody else", { timeout: TIMEOUT_MS }, async () => {
    const dump = async (): Promise<string> => {
      const db = await PGlite.create(data, { extensions: { vector } });
      const found = await dumpOf(db);
      await db.close();
      // Working memory went with its store.
      return found;
    };
    await forgetsOnePerson({ data }, dump);
  });

  it("of another version is told with what is wrong and how to begin anew", { timeout: TIMEOUT_MS }, async () => {
    const older = join(folder, "older");
    const db = await PGlite.create(older, { extensions: { vector } });
    await db.exec(
      "CREATE SCHEMA memory; CREATE TABLE memory.episodes (id text); CREATE TABLE memory.semantic (id text)",
    );
    await db.close();
    const { code, complaints } = await run(["--data", older], { startEngine });
    expect(code).toBe(1);
    expect(complaints).toContain("profile_versions");
    expect(complaints).toContain(`delete the folder ${older}`);
  });
});

test("a PostgreSQL without pgvector is told by what it lacks", { timeout: TIMEOUT_MS }, async () => {
  const db = await PGlite.create();
  const server = new PGLiteSocketServer({ db, port: 0 });
  await server.start();
  try {
    const dsn = `postgres://postgres@${server.getServerConn()}/postgres`;
    const { code, complaints, wasOpened } = await run(["--postgres", dsn], { startEngine });
    expect([code, wasOpened]).toEqual([1, false]);
    expect(complaints).toContain('no extension "vector"');
    const { rows } = await db.query("SELECT 1 FROM pg_namespace WHERE nspname = 'memory_demo'");
    expect(rows).toEqual([]);
  } finally {
    await server.stop();
    await db.close();
  }
});

// Nobody listens on port 1.
test.each([
  [
    "PostgreSQL",
    ["--postgres", "postgres://agent:secret-word@127.0.0.1:1/app"],
    "PostgreSQL cannot be used (ECONNREFUSED)",
  ],
  ["Redis", ["--redis", "redis://agent:secret-word@127.0.0.1:1"], "MEMORY_UNAVAILABLE"],
])("a %s that is not there is told, without its password", { timeout: TIMEOUT_MS }, async (_server, args, words) => {
  const { code, output, complaints } = await run(args, { startEngine });
  expect(code).toBe(1);
  expect(complaints).toContain(words);
  expect(output + complaints).not.toContain("secret-word");
});

test.each([
  ["no connection string", ["--postgres", "nonsense"], "MEMORY_SETTINGS"],
  ["no connection string of Redis", ["--redis", "http://127.0.0.1"], "MEMORY_SETTINGS"],
  ["two places for the same", ["--data", "x", "--postgres", "postgres://127.0.0.1/x"], "--data and --postgres"],
])("%s is refused", async (_what, args, words) => {
  const { code, output, complaints } = await run(args, { startEngine });
  expect([code, output]).toEqual([1, ""]);
  expect(complaints).toContain(words);
});

async function dumpOf(db: PGlite): Promise<string> {
  const tables = await db.query<{ name: string }>(
    "SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables WHERE schemaname = 'memory'",
  );
  const found: string[] = [];
  for (const { name } of tables.rows) {
    const { rows } = await db.query<{ row: string }>(`SELECT t::text AS row FROM ${name} t`);
    found.push(...rows.map(({ row }) => row));
  }
  return found.join("\n");
}
