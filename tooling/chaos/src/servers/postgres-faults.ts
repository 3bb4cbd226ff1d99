// What can be done to PostgreSQL itself: its process, its backends, its locks, its connections, its disk, its place as the
// one that takes writes.

import { setTimeout as pause } from "node:timers/promises";
import type { PostgresPrimary, TcpProxy } from "@tooling/servers";
import postgres from "postgres";
import { healServers, type PostgresForm, type PostgresServers, waitForStandby } from "./postgres.ts";
import { allHarmless, type FaultAction } from "./rig.ts";

/** Every table of the stores, whichever there are. */
const LOCK_ALL = `DO $$ DECLARE one regclass; BEGIN
  FOR one IN SELECT oid FROM pg_class WHERE relnamespace = 'memory'::regnamespace AND relkind IN ('r', 'p') ORDER BY oid
  LOOP EXECUTE format('LOCK TABLE %s IN ACCESS EXCLUSIVE MODE', one); END LOOP; END $$`;

/** The faults that this form of deployment knows. */
export function postgresFaults(
  servers: PostgresServers,
  form: PostgresForm,
  role: string,
  proxies: readonly TcpProxy[],
): Readonly<Record<string, FaultAction>> {
  const signal = (what: "terminate" | "cancel") => async (ms: number) => {
    const sql = `SELECT pg_${what}_backend(pid) FROM pg_stat_activity WHERE usename = '${role}'`;
    for (let rest = ms; rest > 0; rest -= 300) {
      await servers.primary.psql(sql);
      await pause(Math.min(rest, 300));
    }
  };
  return allHarmless({
    kill: async (ms) => {
      await servers.primary.kill();
      await pause(ms);
      await servers.primary.restart();
      if (servers.standby !== undefined) await waitForStandby(servers.primary);
    },
    restart: async () => {
      await servers.primary.restart();
      if (servers.standby !== undefined) await waitForStandby(servers.primary);
    },
    pause: async (ms) => {
      await servers.primary.pause();
      await pause(ms);
      await servers.primary.resume();
    },
    terminate: signal("terminate"),
    cancel: signal("cancel"),
    lock: (ms) => lock(servers.primary, ms),
    crowd: (ms) => crowd(servers.primary, role, ms),
    ...(form === "small" ? { "disk-full": (ms: number) => fill(servers, ms) } : {}),
    ...(form === "pair"
      ? { promote: (ms: number, number: number) => promote(servers, proxies, ms, number % 2 === 0) }
      : {}),
  });
}

/** Every connection of every pool waits for the same lock. */
async function lock({ url }: PostgresPrimary, ms: number): Promise<void> {
  const sql = postgres(url, { max: 1, onnotice: () => undefined });
  try {
    await sql.begin(async (transaction) => {
      await transaction.unsafe(LOCK_ALL);
      await pause(ms);
    });
  } finally {
    await sql.end({ timeout: 1 });
  }
}

/** Others take every connection that the server has. */
async function crowd(primary: PostgresPrimary, role: string, ms: number): Promise<void> {
  const url = new URL(primary.url);
  // Not the superuser, who would be let into the last ones.
  url.username = role;
  const others = Array.from({ length: 40 }, () => postgres(url.href, { max: 1, onnotice: () => undefined }));
  try {
    await primary.psql(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '${role}'`);
    await Promise.allSettled(others.map((sql) => sql`SELECT 1`));
    await pause(ms);
  } finally {
    await Promise.allSettled(others.map((sql) => sql.end({ timeout: 1 })));
  }
}

async function fill(servers: PostgresServers, ms: number): Promise<void> {
  servers.primary.fillDisk();
  await pause(ms);
  await healServers(servers, "small");
}

async function promote(
  servers: PostgresServers,
  proxies: readonly TcpProxy[],
  ms: number,
  isAway: boolean,
): Promise<void> {
  const { primary, standby } = servers;
  if (standby === undefined) throw new Error("there is no standby any more");
  await waitForStandby(primary);
  await primary.kill();
  // Its machine is gone with it, or something before it still takes connections and drops them.
  if (isAway) await proxies[0]?.stop();
  await pause(ms);
  await standby.promote();
  servers.primary = standby;
  servers.standby = undefined;
}
