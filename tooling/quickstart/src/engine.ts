// Which store the demo runs on, and nothing else: everything beside this file is written against `MemoryStore`. Another
// engine is another function that gives an `Engine`.

import { createServer } from "node:net";
import { resolve } from "node:path";
import { PGlite } from "@electric-sql/pglite";
import { PGLiteSocketServer } from "@electric-sql/pglite-socket";
import { type Clock, type DecayPolicy, type DerivedIndex, type MemoryStore, memoryStoreSettings } from "@memory/core";
import { createMemoryStore } from "@memory/core/driver";
import { InMemoryMemoryStore } from "@memory/core/in-memory";
import { PostgresMemoryStore } from "@memory/postgres";
import { schemaSql } from "@memory/postgres/schema";
import { joined } from "./join.ts";

/** What the demo asks of a store. */
export interface StoreWishes {
  readonly clock: Clock;
  readonly decay: DecayPolicy;
  readonly derivedIndices: readonly DerivedIndex[];
  /** The width of the vectors to come. */
  readonly embeddingDimensions: number;
}

/** Something that stores can be opened on. */
export interface Engine {
  /** What a person is told about it. */
  readonly label: string;
  open(wishes: StoreWishes): MemoryStore;
  /** Stops what the engine started, after its stores were closed. */
  close(): Promise<void>;
}

/** Where profiles and episodes are kept; nowhere but in this process where neither is named. */
export interface EngineOptions {
  /** A folder: PostgreSQL runs in this process and keeps its data there. */
  readonly data?: string | undefined;
  /** The connection string of a server whose tables are there already. */
  readonly postgres?: string | undefined;
}

// One backend, in this process: everybody waits their turn.
const PATIENT = { poolSize: 1, attemptTimeoutMs: 60_000, queueTimeoutMs: 60_000, maxQueued: 10_000 };

/** Starts the engine that is asked for. */
export async function startEngine({ data, postgres }: EngineOptions = {}): Promise<Engine> {
  if (postgres !== undefined) {
    return {
      label: "profiles and episodes in PostgreSQL, the rest in this process",
      open: (wishes) => openOn(postgres, {}, wishes),
      close: async () => {},
    };
  }
  if (data !== undefined) return await startEmbedded(resolve(data));
  return {
    label: "in-memory, in this process",
    open: (wishes) => new InMemoryMemoryStore(wishes),
    close: async () => {},
  };
}

async function startEmbedded(folder: string): Promise<Engine> {
  const db = await PGlite.create(folder);
  const { rows } = await db.query("SELECT 1 FROM pg_namespace WHERE nspname = 'memory'");
  if (rows.length === 0) await db.exec(schemaSql());
  const port = await freePort();
  const server = new PGLiteSocketServer({ db, port, host: "127.0.0.1", maxConnections: 8 });
  await server.start();
  return {
    label: `profiles and episodes in ${folder} (PGlite), the rest in this process`,
    open: (wishes) => openOn(`postgres://postgres@127.0.0.1:${port}/postgres`, PATIENT, wishes),
    close: async () => {
      await server.stop();
      await db.close();
    },
  };
}

function openOn(
  dsn: string,
  pace: Partial<typeof PATIENT>,
  { embeddingDimensions, ...rest }: StoreWishes,
): MemoryStore {
  const settings = memoryStoreSettings({ dsn, ...pace });
  const here = new InMemoryMemoryStore({ clock: rest.clock, embeddingDimensions, without: ["profile", "episodic"] });
  const there = PostgresMemoryStore.connect(settings, { clock: rest.clock });
  return createMemoryStore(joined(here, there), { ...rest, settings });
}

function freePort(): Promise<number> {
  return new Promise((settle, fail) => {
    const probe = createServer();
    probe.once("error", fail);
    probe.listen(0, "127.0.0.1", () => {
      const address = probe.address();
      probe.close(() => settle(typeof address === "object" && address !== null ? address.port : 0));
    });
  });
}
