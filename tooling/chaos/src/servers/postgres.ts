// PostgreSQL with the tables of the stores and a role that may only read and write rows: alone, with a synchronous standby
// that takes over, behind a pooler, or on a disk that runs full. In none of these is anything lost that was acknowledged.

import { schemaSql as vectorSchemaSql } from "@memory/pgvector/schema";
import { schemaSql } from "@memory/postgres/schema";
import {
  findPostgres,
  type PostgresPrimary,
  type PostgresStandby,
  startProxy,
  type TcpProxy,
  waitFor,
} from "@tooling/servers";
import { DIMENSIONS } from "../stores.ts";
import { networkFaults, openLinks } from "./network.ts";
import { POOLER_CONNECTIONS, startPooler } from "./pooler.ts";
import { postgresFaults } from "./postgres-faults.ts";
import { passwordOf, type Rig } from "./rig.ts";

/** How it is set up. */
export type PostgresForm = "single" | "pair" | "pooled" | "small";

/** Whom the stores come as. */
export const ROLE = "agent";
/** The tables and their indices fit in, and little else. */
const DISK_MB = 144;

/** Settings of the servers. */
export const POSTGRES_SETTINGS: Readonly<Record<string, string>> = {
  max_connections: "40",
  // A standby that lost its primary looks for it again soon.
  wal_retrieve_retry_interval: "200ms",
  max_wal_size: "32MB",
};

/** The servers of a deployment: the one that takes writes, and the standby while there is one. */
export interface PostgresServers {
  primary: PostgresPrimary;
  standby: PostgresStandby | undefined;
}

/** Starts it. */
export async function startPostgresRig(canary: string, form: PostgresForm, hasVectors: boolean): Promise<Rig> {
  const password = passwordOf(canary);
  const started: { stop(): Promise<void> }[] = [];
  const stop = async (): Promise<void> => {
    for (const one of started.toReversed()) await one.stop();
  };
  try {
    const disk = form === "small" ? { diskMb: DISK_MB } : {};
    const extensions = hasVectors ? ["vector"] : [];
    const lane = findPostgres({ extensions });
    const primary = await lane.start({ password, settings: POSTGRES_SETTINGS, extensions, ...disk });
    started.push(primary);
    await prepareDatabase(primary, password, hasVectors);
    const standby = form === "pair" ? await primary.createStandby({ synchronous: true }) : undefined;
    if (standby !== undefined) started.push(standby);
    const servers: PostgresServers = { primary, standby };
    const pooler = form === "pooled" ? await startPooler(primary, ROLE, password) : undefined;
    if (pooler !== undefined) started.push(pooler);
    const targets = [pooler ?? primary, standby];
    const proxies: TcpProxy[] = [];
    for (const target of targets) if (target !== undefined) proxies.push(await startProxy(target));
    started.push(...proxies);
    const hosts = proxies.map(({ host, port }) => `${host}:${port}`).join(",");
    return {
      server: "postgres",
      form,
      dsn: `postgres://${ROLE}:${password}@${hosts}/${primary.database}`,
      prepare: form !== "pooled",
      faults: { ...networkFaults(proxies), ...postgresFaults(servers, form, ROLE, proxies), ...(pooler?.faults ?? {}) },
      heal: async () => {
        for (const proxy of proxies) proxy.set({});
        await healServers(servers, form);
        await pooler?.heal();
      },
      stuck: async (clients, most) => {
        const idle = Number(
          await servers.primary.psql(
            `SELECT count(*) FROM pg_stat_activity WHERE usename = '${ROLE}' AND state LIKE 'idle in transaction%'`,
          ),
        );
        const open = Number(
          await servers.primary.psql(`SELECT count(*) FROM pg_stat_activity WHERE usename = '${ROLE}'`),
        );
        const bound = form === "pooled" ? POOLER_CONNECTIONS : clients * most;
        return [
          ...openLinks(proxies, clients * most),
          ...(idle > 0 ? [`${idle} transactions that nobody ended`] : []),
          ...(open > bound ? [`${open} connections at the server, ${bound} at most`] : []),
        ];
      },
      leftovers: async () => {
        const found: string[] = [];
        for (const table of await tablesOf(servers.primary)) {
          const count = Number(await servers.primary.psql(`SELECT count(*) FROM memory."${table}"`));
          if (count > 0) found.push(`${count} rows in ${table}`);
        }
        return found;
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Resolves when the server that takes writes does, and its standby follows. */
export async function healServers({ primary, standby }: PostgresServers, form: PostgresForm): Promise<void> {
  if (form === "small") primary.freeDisk();
  await primary.resume();
  if (!primary.isRunning) await primary.restart();
  await waitFor(
    "PostgreSQL to take writes",
    async () => (await primary.psql("SELECT NOT pg_is_in_recovery()")) === "t",
  );
  if (standby !== undefined) await waitForStandby(primary);
}

/** Resolves when the standby confirms commits. */
export async function waitForStandby(primary: PostgresPrimary): Promise<void> {
  await waitFor(
    "the standby to follow",
    async () => (await primary.psql("SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'")) === "1",
    30_000,
  );
}

/** Makes the tables of all stores, and the role that may read and write their rows. */
export async function prepareDatabase(primary: PostgresPrimary, password: string, hasVectors: boolean): Promise<void> {
  await primary.psql(schemaSql());
  if (hasVectors) await primary.psql(vectorSchemaSql({ dimensions: DIMENSIONS }));
  await primary.psql(
    `CREATE ROLE ${ROLE} LOGIN PASSWORD '${password}';
     GRANT USAGE ON SCHEMA memory TO ${ROLE};
     GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA memory TO ${ROLE}`,
  );
}

// Of all stores; what is a partition of another table is counted with it.
async function tablesOf(primary: PostgresPrimary): Promise<readonly string[]> {
  const sql = `SELECT relname FROM pg_class c WHERE relnamespace = 'memory'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition`;
  return (await primary.psql(sql)).split("\n").filter((name) => name !== "");
}
