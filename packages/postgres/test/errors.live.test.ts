// What the server says when something is wrong, as the driver hears it: each row of core's table of states, raised by a real
// server; and those that a server comes to by itself, brought about.

import { setTimeout as pause } from "node:timers/promises";
import { isMemoryError, memoryScope, memoryStoreSettings } from "@memory/core";
import { BorrowedClient, clientSide, isFromServer } from "@memory/core/postgres-js";
import { SQL_STATES } from "@memory/core/sql";
import type { PostgresServer } from "@tooling/servers";
import postgres from "postgres";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type PostgresClient, PostgresMemoryStore } from "../src/index.ts";
import { describeOnEach } from "./lanes.ts";
import { applySchema } from "./target.ts";

/** How a driver judges; this client never connects. */
const { hadNoEffect, isExhausted, isTransient, toMemoryError } = clientSide("postgres", new BorrowedClient(postgres()));

/** Brings the state about; rejects with what the server said. */
type Cause = (sql: PostgresClient, server: PostgresServer) => Promise<unknown>;

const causes: Readonly<Record<string, Cause>> = {
  "40001": async (sql) => {
    await sql.unsafe("CREATE TABLE s40001 (n int); INSERT INTO s40001 VALUES (1)");
    const [one, two] = [await sql.reserve(), await sql.reserve()];
    try {
      await one.unsafe("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT n FROM s40001");
      await two.unsafe("UPDATE s40001 SET n = 2");
      await one.unsafe("UPDATE s40001 SET n = 3");
    } finally {
      await one.unsafe("ROLLBACK");
      one.release();
      two.release();
    }
  },
  "40P01": async (sql) => {
    await sql.unsafe("CREATE TABLE s40p01 (n int); INSERT INTO s40p01 VALUES (1), (2)");
    const [one, two] = [await sql.reserve(), await sql.reserve()];
    try {
      await one.unsafe("SET deadlock_timeout = '10ms'; BEGIN; UPDATE s40p01 SET n = n WHERE n = 1");
      await two.unsafe("SET deadlock_timeout = '10s'; BEGIN; UPDATE s40p01 SET n = n WHERE n = 2");
      const waits = two.unsafe("UPDATE s40p01 SET n = n WHERE n = 1").execute();
      await pause(50);
      const victim = one.unsafe("UPDATE s40p01 SET n = n WHERE n = 2");
      await Promise.all([victim, waits]);
    } finally {
      await Promise.all([one.unsafe("ROLLBACK"), two.unsafe("ROLLBACK")]);
      one.release();
      two.release();
    }
  },
  "55P03": async (sql) => {
    await sql.unsafe("CREATE TABLE s55p03 (n int)");
    const one = await sql.reserve();
    try {
      await one.unsafe("BEGIN; LOCK TABLE s55p03");
      await sql.unsafe("DO $$ BEGIN LOCK TABLE s55p03 NOWAIT; END $$");
    } finally {
      await one.unsafe("ROLLBACK");
      one.release();
    }
  },
  "57014": (sql) => sql.unsafe("SET statement_timeout = '20ms'; SELECT pg_sleep(5)"),
  "25006": async (sql) => {
    const one = await sql.reserve();
    try {
      await one.unsafe("SET default_transaction_read_only = on");
      await one.unsafe("CREATE TABLE s25006 (n int)");
    } finally {
      one.release();
    }
  },
  "25P02": async (sql) => {
    const one = await sql.reserve();
    try {
      await one.unsafe("BEGIN");
      await one.unsafe("SELECT 1 / 0").catch(() => {});
      await one.unsafe("SELECT 1");
    } finally {
      await one.unsafe("ROLLBACK");
      one.release();
    }
  },
  "53300": async (_sql, server) => {
    await server.psql("CREATE ROLE s53300 LOGIN CONNECTION LIMIT 0");
    await connectAs(server.url.replace("postgres@", "s53300@"));
  },
  "53200": (sql) =>
    sql.unsafe("DO $$ BEGIN FOR n IN 1..100000 LOOP PERFORM pg_advisory_xact_lock(n); END LOOP; END $$"),
  "53400": (sql) =>
    sql.unsafe(
      "SET temp_file_limit = '64kB'; SET work_mem = '64kB'; SELECT g FROM generate_series(1, 100000) g ORDER BY g DESC",
    ),
  "26000": (sql) => sql.unsafe("EXECUTE nobody"),
  "42P05": (sql) => sql.unsafe("PREPARE twice AS SELECT 1; PREPARE twice AS SELECT 1"),
  "28000": (_sql, server) => connectAs(server.url.replace("postgres@", "nobody@")),
  "3D000": (_sql, server) => connectAs(server.url.replace("/memory", "/nowhere")),
  "3F000": (sql) => sql.unsafe("CREATE TABLE nowhere.t (n int)"),
  "42P01": (sql) => sql.unsafe("SELECT n FROM nowhere"),
  "42703": (sql) => sql.unsafe("SELECT nothing FROM pg_class"),
  "42883": (sql) => sql.unsafe("SELECT nothing()"),
  "42704": (sql) => sql.unsafe("SELECT NULL::nothing"),
  "42501": async (sql) => {
    await sql.unsafe("CREATE ROLE s42501");
    await sql.unsafe("SET ROLE s42501; SELECT pg_read_file('/etc/hostname')");
  },
  "0A000": (sql) => sql.unsafe("SELECT 1 UNION SELECT 2 FOR UPDATE"),
};

async function connectAs(url: string): Promise<void> {
  const own = postgres(url, { max: 1, fetch_types: false, onnotice: () => {} });
  try {
    await own.unsafe("SELECT 1");
  } finally {
    await own.end({ timeout: 0 });
  }
}

describeOnEach("states", (lane) => {
  let server: PostgresServer;
  let sql: PostgresClient;

  beforeAll(async () => {
    server = await lane.start({ settings: { max_connections: "40", max_locks_per_transaction: "10" } });
    await applySchema(server.url);
    sql = postgres(server.url, { max: 6, onnotice: () => {} });
  });
  afterAll(async () => {
    await sql?.end({ timeout: 1 });
    await server?.stop();
  });

  it.each([...SQL_STATES.values()])("$code $name is $class", async ({ code, class: stateClass, hadNoEffect: had }) => {
    const error: unknown = await sql
      .unsafe(`DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = '${code}'; END $$`)
      .catch((reason: unknown) => reason);
    expect(isFromServer(error) ? error.code : error).toBe(code);
    expect(isTransient(error)).toBe(stateClass === "transient");
    expect(isExhausted(error)).toBe(stateClass === "exhausted");
    expect(hadNoEffect(error)).toBe(had);
  });

  it.each(Object.entries(causes))("%s comes about as the table says", async (code, cause) => {
    const error: unknown = await cause(sql, server).then(
      () => "nothing was wrong",
      (reason: unknown) => reason,
    );
    expect(isFromServer(error) ? error.code : error).toBe(code);
    expect(SQL_STATES.has(code)).toBe(true);
    // Sessions were set up for the cause; new ones take their place.
    await sql.end({ timeout: 1 });
    sql = postgres(server.url, { max: 6, onnotice: () => {} });
  });

  it("hears of an ended backend as of a closed connection, which is tried again", async () => {
    const error: unknown = await sql
      .unsafe("SELECT pg_terminate_backend(pg_backend_pid())")
      .catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: "CONNECTION_CLOSED" });
    expect(isTransient(error)).toBe(true);
    expect(hadNoEffect(error)).toBe(false);
  });

  it("says of a missing table that the schema is missing, and hides what the server told", async () => {
    await using store = PostgresMemoryStore.connect(memoryStoreSettings({ dsn: server.url }), { schema: "elsewhere" });
    const error: unknown = await store
      .log(memoryScope({ tenantId: "t" }), { key: "secret-key", value: "secret-value", source: "s" })
      .catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: "MEMORY_SCHEMA" });
    expect(JSON.stringify(isMemoryError(error) ? [error, error.cause, error.stack] : error)).not.toContain("secret");
    expect(toMemoryError(new Error("no"))).toBeUndefined();
  });
});
