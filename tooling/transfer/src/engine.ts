// What memory can be taken from and to: a store over each engine, and the kinds that are still there when the process has
// ended. Another engine is another function here.

import { createServer } from "node:net";
import { resolve } from "node:path";
import { PGlite } from "@electric-sql/pglite";
import { PGLiteSocketServer } from "@electric-sql/pglite-socket";
import { type MemoryKind, type MemoryRedactor, type MemoryStore, memoryStoreSettings } from "@memory/core";
import { InMemoryMemoryStore } from "@memory/core/in-memory";
import { PostgresMemoryStore } from "@memory/postgres";
import { schemaSql } from "@memory/postgres/schema";
import { RedisMemoryStore } from "@memory/redis";
import { RoutedMemoryStore } from "@memory/routed";

/** An engine that is open. */
export interface Engine extends AsyncDisposable {
  readonly store: MemoryStore;
  /** The kinds that it keeps. What else its store takes would go with this process. */
  readonly kinds: readonly MemoryKind[];
}

/** How to open one. */
export interface EngineOptions {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** What masks; `null`: nothing. */
  readonly redactor: MemoryRedactor | null | undefined;
}

/** An engine was named that there is not, or without what it takes. */
export class EngineError extends Error {
  override readonly name = "EngineError";
}

/**
 * Opens an engine by its name: `servers` (their connection strings from the environment) or `embedded:FOLDER`.
 *
 * @throws {EngineError} There is no such engine, or its connection strings are not set.
 */
export async function openEngine(name: string, options: EngineOptions): Promise<Engine> {
  const [engine, ...place] = name.split(":");
  const folder = place.join(":");
  if (name === "servers") return openServers(options);
  if (engine === "embedded" && folder !== "") return await openEmbedded(resolve(folder), options);
  throw new EngineError(`there is no engine "${name}": name servers or embedded:FOLDER`);
}

function openServers({ environment, redactor }: EngineOptions): Engine {
  const dsn = (variable: string): string => {
    const value = environment[variable];
    if (value === undefined || value === "")
      throw new EngineError(`the engine servers takes ${variable}, which is not set`);
    return value;
  };
  const [redis, postgres] = [dsn("MEMORY_REDIS_DSN"), dsn("MEMORY_POSTGRES_DSN")];
  const store = new RoutedMemoryStore(
    {
      working: RedisMemoryStore.connect(memoryStoreSettings({ dsn: redis })),
      durable: PostgresMemoryStore.connect(memoryStoreSettings({ dsn: postgres })),
      semantic: nowhere("working", "profile", "episodic"),
    },
    { redactor },
  );
  return { store, kinds: ["working", "profile", "episodic"], [Symbol.asyncDispose]: () => store.close() };
}

async function openEmbedded(folder: string, { redactor }: EngineOptions): Promise<Engine> {
  const { durable, ...embedded } = await startEmbedded(folder);
  const here = nowhere("profile", "episodic");
  const store = new RoutedMemoryStore({ working: here, durable, semantic: here }, { redactor });
  return {
    store,
    kinds: ["profile", "episodic"],
    async [Symbol.asyncDispose]() {
      await store.close();
      await embedded[Symbol.asyncDispose]();
    },
  };
}

/** PostgreSQL in this process, with a store over it that is closed before it. */
export interface Embedded extends AsyncDisposable {
  readonly durable: MemoryStore;
}

/** Starts it; its data is in the folder, which it makes. */
export async function startEmbedded(folder: string): Promise<Embedded> {
  const db = await PGlite.create(folder);
  const { rows } = await db.query("SELECT 1 FROM pg_namespace WHERE nspname = 'memory'");
  if (rows.length === 0) await db.exec(schemaSql());
  const port = await freePort();
  const server = new PGLiteSocketServer({ db, port, host: "127.0.0.1", maxConnections: 8 });
  await server.start();
  // One backend, in this process: everybody waits their turn.
  const patient = { poolSize: 1, attemptTimeoutMs: 60_000, queueTimeoutMs: 60_000 };
  const dsn = `postgres://postgres@127.0.0.1:${port}/postgres`;
  return {
    durable: PostgresMemoryStore.connect(memoryStoreSettings({ dsn, ...patient })),
    async [Symbol.asyncDispose]() {
      await server.stop();
      await db.close();
    },
  };
}

/** Holds the kinds that the engine does not keep, so that the store is whole; nothing is ever written to it. */
function nowhere(...without: readonly MemoryKind[]): MemoryStore {
  return new InMemoryMemoryStore({ without });
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
