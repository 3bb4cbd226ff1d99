// PgBouncer before a server, in transaction mode, looked after as a system looks after its services: one that ends is
// started again. (PgBouncer 1.18.0 ends by itself when clients go while their cancellations wait.)

import { setTimeout as pause } from "node:timers/promises";
import { findPgBouncer, type PgBouncer, type PostgresPrimary, waitFor } from "@tooling/servers";
import postgres from "postgres";
import { allHarmless, type FaultAction } from "./rig.ts";

/** Connections that it keeps to the server: fewer than clients make to it. */
export const POOLER_CONNECTIONS = 5;

const LOOK_MS = 100;

/** A pooler that is looked after. */
export interface Pooler {
  readonly host: string;
  readonly port: number;
  readonly faults: Readonly<Record<string, FaultAction>>;
  /** Resolves when it reaches the server: for a while it tells clients that the server is gone. */
  heal(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts it; clients come as this role and need no password. */
export async function startPooler(primary: PostgresPrimary, role: string, password: string): Promise<Pooler> {
  const target = new URL(primary.url);
  target.username = role;
  target.password = password;
  const pooler = await findPgBouncer().start({ target: target.href, poolSize: POOLER_CONNECTIONS });
  let starting: Promise<void> | undefined;
  const start = async (): Promise<void> => {
    starting ??= pooler.restart().finally(() => {
      starting = undefined;
    });
    await starting;
  };
  const look = setInterval(() => {
    if (!pooler.isRunning) start().catch(() => undefined);
  }, LOOK_MS).unref();
  return {
    host: primary.host,
    port: pooler.port,
    faults: allHarmless({
      pooler: async (ms) => {
        await start();
        await pause(ms);
      },
    }),
    heal: () => waitForServer(pooler),
    stop: async () => {
      clearInterval(look);
      await starting;
      await pooler.stop();
    },
  };
}

// A client for each question: one would keep the answer.
async function waitForServer({ url }: PgBouncer): Promise<void> {
  await waitFor("the pooler to reach the server", async () => {
    const sql = postgres(url, { max: 1, fetch_types: false, prepare: false, onnotice: () => undefined });
    try {
      return (await sql.unsafe("SELECT 1")).length === 1;
    } finally {
      await sql.end({ timeout: 1 });
    }
  });
}
