// What memory can be taken from and to: a store over each engine, and the kinds that are still there when the process has
// ended. Another engine is another one of `engineNamed`.

import { existsSync } from "node:fs";
import { createServer } from "node:net";
import { join, resolve } from "node:path";
import { PGlite } from "@electric-sql/pglite";
import { vector } from "@electric-sql/pglite-pgvector";
import { PGLiteSocketServer } from "@electric-sql/pglite-socket";
import { type MemoryKind, type MemoryRedactor, type MemoryStore, memoryStoreSettings } from "@memory/core";
import { InMemoryMemoryStore } from "@memory/core/in-memory";
import { type CollectionOptions, PgvectorMemoryStore } from "@memory/pgvector";
import { schemaSql as vectorSchemaSql } from "@memory/pgvector/schema";
import { PostgresMemoryStore } from "@memory/postgres";
import { schemaSql } from "@memory/postgres/schema";
import { RedisMemoryStore } from "@memory/redis";
import { RoutedMemoryStore } from "@memory/routed";
import postgres from "postgres";

/** Every kind, in the order of an export. */
export const KINDS: readonly MemoryKind[] = ["profile", "episodic", "semantic", "working"];

/** An engine that is open. */
export interface Engine extends AsyncDisposable {
  readonly store: MemoryStore;
}

/** An engine that is not open yet: until then nothing is made. */
export interface NamedEngine {
  /** The kinds that it keeps. What else its store takes would go with this process. */
  readonly kinds: readonly MemoryKind[];
  /** @throws {EngineError} As a rejection: its connection strings are not set, or the source's folder holds none. */
  open(options: EngineOptions): Promise<Engine>;
}

/** How to open one. */
export interface EngineOptions {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** What masks; `null`: nothing. */
  readonly redactor?: MemoryRedactor | null | undefined;
  /** The width of the vectors; without it no semantic record comes. */
  readonly dimensions?: number | undefined;
  /** The model that makes them, as it is stamped on every row. */
  readonly embedder?: string | undefined;
  /** Where the servers' tables are, the vectors' among them. */
  readonly schema?: string | undefined;
  /** Which of several tables of vectors. */
  readonly collection?: string | undefined;
  /** How its vectors are compared. */
  readonly metric?: CollectionOptions["metric"];
  /** The servers' tables have row security. */
  readonly rowSecurity?: boolean | undefined;
  /** It is read from, and nothing is made that is not there. */
  readonly isSource?: boolean | undefined;
}

/** An engine was named that there is not, or without what it takes. */
export class EngineError extends Error {
  override readonly name = "EngineError";
}

/**
 * The engine of that name: `servers` (their connection strings from the environment) or `embedded:FOLDER`.
 *
 * @throws {EngineError} There is no such engine.
 */
export function engineNamed(name: string): NamedEngine {
  const [engine, ...place] = name.split(":");
  const folder = place.join(":");
  if (name === "servers") return { kinds: KINDS, open: async (options) => openServers(options) };
  if (engine === "embedded" && folder !== "") {
    const kinds = KINDS.filter((kind) => kind !== "working");
    return { kinds, open: (options) => openEmbedded(resolve(folder), options) };
  }
  throw new EngineError(`there is no engine "${name}": name servers or embedded:FOLDER`);
}

function openServers({ environment, redactor, dimensions, ...tables }: EngineOptions): Engine {
  const { schema, rowSecurity, collection, metric, embedder } = tables;
  const at = (variable: string, otherwise?: string) => {
    const dsn = environment[variable] || otherwise;
    if (dsn === undefined) throw new EngineError(`the engine servers takes ${variable}, which is not set`);
    return memoryStoreSettings({ dsn });
  };
  const members = {
    working: RedisMemoryStore.connect(at("MEMORY_REDIS_DSN")),
    durable: PostgresMemoryStore.connect(at("MEMORY_POSTGRES_DSN"), { schema, rowSecurity }),
    semantic:
      dimensions === undefined
        ? nowhere("working", "profile", "episodic")
        : PgvectorMemoryStore.connect(at("MEMORY_PGVECTOR_DSN", environment["MEMORY_POSTGRES_DSN"]), {
            ...{ dimensions, schema, collection, metric, embedder, rowSecurity },
          }),
  };
  const store = new RoutedMemoryStore(members, { redactor });
  return { store, [Symbol.asyncDispose]: () => store.close() };
}

async function openEmbedded(folder: string, options: EngineOptions): Promise<Engine> {
  if (options.isSource === true && !existsSync(join(folder, "PG_VERSION"))) {
    throw new EngineError("there is no database in the folder that the engine embedded names");
  }
  const { durable, semantic, ...embedded } = await startEmbedded(folder, options);
  const members = { working: nowhere("profile", "episodic", "semantic"), durable, semantic };
  const store = new RoutedMemoryStore(members, { redactor: options.redactor });
  return {
    store,
    async [Symbol.asyncDispose]() {
      try {
        await store.close();
      } finally {
        await embedded[Symbol.asyncDispose]();
      }
    },
  };
}

/** PostgreSQL in this process, with stores over it that are closed before it. */
export interface Embedded extends AsyncDisposable {
  readonly durable: MemoryStore;
  readonly semantic: MemoryStore;
}

/** Starts it; its data is in the folder, which it makes, with the tables that are wanting. */
export async function startEmbedded(
  folder: string,
  { dimensions, embedder }: Pick<EngineOptions, "dimensions" | "embedder"> = {},
): Promise<Embedded> {
  const db = await PGlite.create(folder, { extensions: { vector } });
  const closers = [() => db.close()];
  const close = async () => {
    for (const one of closers.splice(0).reverse()) await one();
  };
  try {
    const { rows } = await db.query<{ name: string }>(
      "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'memory'",
    );
    const has = (table: string) => rows.some(({ name }) => name === table);
    if (!has("episodes")) await db.exec(schemaSql());
    if (dimensions !== undefined && !has("semantic")) await db.exec(vectorSchemaSql({ dimensions, embedder }));
    const port = await freePort();
    const server = new PGLiteSocketServer({ db, port, host: "127.0.0.1", maxConnections: 8 });
    await server.start();
    closers.push(() => server.stop());
    // One backend, in this process: one connection for all of them, and everybody waits their turn.
    const sql = postgres(`postgres://postgres@127.0.0.1:${port}/postgres`, { max: 1, onnotice: () => {} });
    closers.push(() => sql.end({ timeout: 1 }));
    const settings = { attemptTimeoutMs: 60_000, queueTimeoutMs: 60_000 };
    return {
      durable: new PostgresMemoryStore(sql, { settings }),
      semantic:
        dimensions === undefined
          ? nowhere("working", "profile", "episodic")
          : new PgvectorMemoryStore(sql, { dimensions, embedder, settings }),
      [Symbol.asyncDispose]: close,
    };
  } catch (error) {
    // What still listens would keep the process for ever.
    await close();
    throw error;
  }
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
