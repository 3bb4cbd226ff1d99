// The same demo on real servers: Redis for working memory, PostgreSQL with pgvector for the rest. Both remember from run to
// run, and what else is on them is left alone.

import { findPostgres, findRedis, type PostgresPrimary, type RedisServer } from "@tooling/servers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startEngine } from "../src/engine.ts";
import { forgetsOnePerson, type Places, remembersEveryRun } from "./engine-cases.ts";
import { canaryOf } from "./people.ts";
import { run } from "./surroundings.ts";

const TIMEOUT_MS = 180_000;
const redisLane = await findRedis();
const postgresLane = findPostgres({ extensions: ["vector"] });

describe.skipIf(redisLane.isMissing || postgresLane.isMissing)("real servers", () => {
  let redis: RedisServer;
  let postgres: PostgresPrimary;

  beforeAll(async () => {
    redis = await redisLane.start();
    postgres = await postgresLane.start();
  });
  afterAll(async () => {
    await redis?.stop();
    await postgres?.stop();
  });

  async function places(database: string): Promise<Places> {
    return { redis: redis.url, postgres: await postgres.createDatabase(database) };
  }

  it("remember every run, working memory too", { timeout: TIMEOUT_MS }, async () => {
    await redis.cli("SET", "somebody-elses", "x");
    const output = await remembersEveryRun(await places("runs"), true);
    expect(output).toMatch(/working +Redis, keys memory-demo:\*.*\n +durable +PostgreSQL.*\n +semantic +PostgreSQL/);
    const schemas = await postgres.psql(
      "SELECT nspname FROM pg_namespace WHERE nspname !~ '^pg_' AND nspname <> 'information_schema' ORDER BY 1",
      "runs",
    );
    expect(schemas.trim().split("\n")).toEqual(["memory_demo", "public"]);
    // Nothing of a conversation is left.
    const names = String(await redis.cli("KEYS", "*")).split(",");
    expect(names.filter((name) => !name.startsWith("memory-demo:"))).toEqual(["somebody-elses"]);
    expect(names.filter((name) => name.includes("transcript"))).toEqual([]);
  });

  it("forget one person and nobody else", { timeout: TIMEOUT_MS }, async () => {
    await forgetsOnePerson(await places("people"), async () => {
      const inRedis = await contentsOf(redis);
      expect(inRedis).toContain(canaryOf("bert"));
      return `${await contentsIn(postgres, "people")}\n${inRedis}`;
    });
  });

  it("may be one of the two, the rest in this process", { timeout: TIMEOUT_MS }, async () => {
    const { postgres: dsn = "" } = await places("alone");
    for (const args of [
      ["--postgres", dsn],
      ["--redis", redis.url],
    ]) {
      const { code, output } = await run(args, { startEngine });
      expect(code).toBe(0);
      expect(output).toMatch(/ in this process\n/);
    }
  });

  it("tell a role that may not make the tables what it needs", { timeout: TIMEOUT_MS }, async () => {
    const dsn = await postgres.createDatabase("closed");
    await postgres.psql("CREATE ROLE reader LOGIN", "closed");
    const url = new URL(dsn);
    url.username = "reader";
    const { code, complaints, wasOpened } = await run(["--postgres", url.href], { startEngine });
    expect([code, wasOpened]).toEqual([1, false]);
    expect(complaints).toContain("42501");
    expect(complaints).toContain("GRANT CREATE ON DATABASE");
  });
});

async function contentsIn(server: PostgresPrimary, database: string): Promise<string> {
  const tables = await server.psql(
    "SELECT format('%I.%I', schemaname, tablename) FROM pg_tables WHERE schemaname = 'memory_demo'",
    database,
  );
  const rows = await Promise.all(
    tables
      .trim()
      .split("\n")
      .map((table) => server.psql(`SELECT t::text FROM ${table} t`, database)),
  );
  return rows.join("\n");
}

const CONTENTS = `
local found = {}
for _, name in ipairs(redis.call('KEYS', '*')) do
  local kind = redis.call('TYPE', name).ok
  local content
  if kind == 'string' then content = redis.call('GET', name)
  elseif kind == 'list' then content = redis.call('LRANGE', name, 0, -1)
  elseif kind == 'hash' then content = redis.call('HGETALL', name)
  elseif kind == 'zset' then content = redis.call('ZRANGE', name, 0, -1)
  else return redis.error_reply('a dump of ' .. kind .. ' is missing') end
  found[#found + 1] = { name, content }
end
return found`;

async function contentsOf(server: RedisServer): Promise<string> {
  return JSON.stringify(await server.cli("EVAL", CONTENTS, 0));
}
