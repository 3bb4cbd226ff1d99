// Which stores the demo runs on, and nothing else: everything beside this file is written against `MemoryStore`. Another
// engine is another function that gives an `Engine`.

import { createServer } from "node:net";
import { resolve } from "node:path";
import { PGlite } from "@electric-sql/pglite";
import { vector } from "@electric-sql/pglite-pgvector";
import { PGLiteSocketServer } from "@electric-sql/pglite-socket";
import { type Clock, type DecayPolicy, type DerivedIndex, type MemoryStore, memoryStoreSettings } from "@memory/core";
import { createMemoryStore } from "@memory/core/driver";
import { InMemoryMemoryStore } from "@memory/core/in-memory";
import { PgvectorMemoryStore } from "@memory/pgvector";
import { schemaSql as vectorSchemaSql } from "@memory/pgvector/schema";
import { PostgresMemoryStore } from "@memory/postgres";
import { schemaSql } from "@memory/postgres/schema";
import postgres from "postgres";
import type { Embedder } from "./embed.ts";
import { joined } from "./join.ts";

/** What the demo asks of a store. */
export interface StoreWishes {
  readonly clock: Clock;
  readonly decay: DecayPolicy;
  readonly derivedIndices: readonly DerivedIndex[];
}

/** Something that stores can be opened on. */
export interface Engine {
  /** What a person is told about it. */
  readonly label: string;
  open(wishes: StoreWishes): MemoryStore;
  /** Stops what the engine started, after its stores were closed. */
  close(): Promise<void>;
}

/** Where things are kept; nowhere but in this process where neither is named. */
export interface EngineOptions {
  /** A folder: PostgreSQL runs in this process and keeps its data there. */
  readonly data?: string | undefined;
  /** The connection string of a server whose tables are there already. */
  readonly postgres?: string | undefined;
  /** Whose vectors are to come. */
  readonly embedder: Pick<Embedder, "name" | "dimensions">;
}

// One backend, in this process: everybody waits their turn.
const PATIENT = { attemptTimeoutMs: 60_000, queueTimeoutMs: 60_000, maxQueued: 10_000 };

/** Starts the engine that is asked for. */
export async function startEngine({ data, postgres, embedder }: EngineOptions): Promise<Engine> {
  if (postgres !== undefined) return onServer(postgres, embedder);
  if (data !== undefined) return await startEmbedded(resolve(data), embedder);
  return {
    label: "in-memory, in this process",
    open: (wishes) => new InMemoryMemoryStore({ ...wishes, embeddingDimensions: embedder.dimensions }),
    close: async () => {},
  };
}

function onServer(dsn: string, embedder: EngineOptions["embedder"]): Engine {
  const settings = memoryStoreSettings({ dsn });
  return {
    label: "profiles, episodes and vectors in PostgreSQL, the rest in this process",
    open: ({ clock, ...rest }) => {
      const durable = PostgresMemoryStore.connect(settings, { clock });
      const semantic = PgvectorMemoryStore.connect(settings, { clock, ...collectionOf(embedder) });
      return createMemoryStore(joined(durable, semantic, working(clock)), { clock, settings, ...rest });
    },
    close: async () => {},
  };
}

async function startEmbedded(folder: string, embedder: EngineOptions["embedder"]): Promise<Engine> {
  const collection = collectionOf(embedder);
  const db = await PGlite.create(folder, { extensions: { vector } });
  if (!(await hasTable(db, "memory.episodes"))) await db.exec(schemaSql());
  if (!(await hasTable(db, "memory.semantic"))) await db.exec(vectorSchemaSql(collection));
  const port = await freePort();
  const server = new PGLiteSocketServer({ db, port, host: "127.0.0.1", maxConnections: 8 });
  await server.start();
  // One connection for both stores: there is one backend.
  const sql = postgres(`postgres://postgres@127.0.0.1:${port}/postgres`, { max: 1, onnotice: () => {} });
  return {
    label: `profiles, episodes and vectors in ${folder} (PGlite), the rest in this process`,
    open: ({ clock, ...rest }) => {
      const durable = new PostgresMemoryStore(sql, { clock, settings: PATIENT });
      const semantic = new PgvectorMemoryStore(sql, { clock, settings: PATIENT, ...collection });
      return createMemoryStore(joined(durable, semantic, working(clock)), { clock, settings: PATIENT, ...rest });
    },
    close: async () => {
      await sql.end();
      await server.stop();
      await db.close();
    },
  };
}

// Whose vectors a collection holds stands in its table and on every row: `verify()` refuses those of another model.
function collectionOf({ name, dimensions }: EngineOptions["embedder"]): {
  readonly dimensions: number;
  readonly embedder: string;
} {
  return { dimensions, embedder: name };
}

function working(clock: Clock): MemoryStore {
  return new InMemoryMemoryStore({ clock, without: ["profile", "episodic", "semantic"] });
}

async function hasTable(db: PGlite, name: string): Promise<boolean> {
  const { rows } = await db.query("SELECT 1 WHERE to_regclass($1) IS NOT NULL", [name]);
  return rows.length > 0;
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
