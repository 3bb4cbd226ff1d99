// PostgreSQL with pgvector in this process (PGlite), its data in a folder.

import { PGlite } from "@electric-sql/pglite";
import { vector } from "@electric-sql/pglite-pgvector";
import { PGLiteSocketServer } from "@electric-sql/pglite-socket";
import { PgvectorMemoryStore } from "@memory/pgvector";
import { schemaSql as vectorSchemaSql } from "@memory/pgvector/schema";
import { PostgresMemoryStore } from "@memory/postgres";
import { schemaSql } from "@memory/postgres/schema";
import postgres from "postgres";
import { collectionOf, type Database, type Model } from "./database.ts";

// One backend, in this process: everybody waits their turn.
const PATIENT = { attemptTimeoutMs: 60_000, queueTimeoutMs: 60_000, maxQueued: 10_000 };

/** Starts it in a folder, which it makes, with the tables that are wanting. Some seconds where the folder is new. */
export async function startEmbedded(folder: string, model: Model): Promise<Database> {
  const collection = collectionOf(model);
  const db = await PGlite.create(folder, { extensions: { vector } });
  if (!(await hasTable(db, "memory.episodes"))) await db.exec(schemaSql());
  if (!(await hasTable(db, "memory.semantic"))) await db.exec(vectorSchemaSql(collection));
  const server = new PGLiteSocketServer({ db, port: 0, maxConnections: 8 });
  await server.start();
  // One connection for both stores: there is one backend.
  const sql = postgres(`postgres://postgres@${server.getServerConn()}/postgres`, { max: 1, onnotice: () => {} });
  return {
    where: `PGlite in ${folder}`,
    startOver: `delete the folder ${folder}`,
    open: ({ clock, ...rules }) => ({
      durable: new PostgresMemoryStore(sql, { clock, settings: PATIENT, ...rules }),
      semantic: new PgvectorMemoryStore(sql, { clock, settings: PATIENT, ...collection }),
    }),
    close: async () => {
      await sql.end();
      await server.stop();
      await db.close();
    },
  };
}

async function hasTable(db: PGlite, name: string): Promise<boolean> {
  const { rows } = await db.query("SELECT 1 WHERE to_regclass($1) IS NOT NULL", [name]);
  return rows.length > 0;
}
