// A file as a target of the suite: made by the schema, opened anew for every store, damaged by hand.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { MemoryKind, Metric } from "@memory/core";
import type { ConformanceTarget } from "@memory/testing";
import manifest from "../package.json" with { type: "json" };
import { SqliteMemoryStore } from "../src/index.ts";
import { schemaSql } from "../src/schema.ts";

/** The width of the vectors of these tests. */
export const WIDTH = 8;

/** Where what a test made is given back: the context of a test, or `node:test` itself. */
export interface Ends {
  after(end: () => unknown): void;
}

/** Makes a file by the schema, for vectors where a metric is named, and gives its path; it goes with the test. */
export function makeFile(ends: Ends, metric?: Metric): string {
  const folder = mkdtempSync(join(tmpdir(), "memory-sqlite-"));
  ends.after(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, "memory.db");
  const database = new DatabaseSync(path);
  database.exec(schemaSql(vectorsBy(metric)));
  database.close();
  return path;
}

/** A target over a file: each store has a connection of its own, as each process of a deployment has. */
export function targetOver(path: string, metric?: Metric): ConformanceTarget {
  return {
    name: `sqlite ${metric ?? "without vectors"}`,
    version: manifest.version,
    server: () => `SQLite ${process.versions.sqlite}`,
    open: (options) => new SqliteMemoryStore(openUnsynced(path), { ...options, ...vectorsBy(metric) }, true),
    // Expiry goes by the store's clock, which is moved already.
    elapse: () => {},
    corrupt: ({ tenantId, userId = "", sessionId = "", agent = "" }, kind, key) => {
      const database = new DatabaseSync(path);
      const place = [tenantId, userId, sessionId, agent, key];
      const where = "tenant_id=? AND user_id=? AND session_id=? AND agent=? AND key=?";
      database
        .prepare(
          `UPDATE ${TABLES[kind]} SET confidence=7 WHERE rowid=(SELECT rowid FROM ${TABLES[kind]} WHERE ${where} LIMIT 1)`,
        )
        .run(...place);
      database.close();
    },
  };
}

// As the store opens it, but for the wait until a commit is on disk: thousands of them are the most of the time.
function openUnsynced(path: string): DatabaseSync {
  const database = new DatabaseSync(path);
  database.exec("PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF; PRAGMA secure_delete=ON");
  return database;
}

const TABLES: Readonly<Record<MemoryKind, string>> = {
  working: "memory_working",
  profile: "memory_profile",
  episodic: "memory_episodes",
  semantic: "memory_semantic",
};

function vectorsBy(metric: Metric | undefined): { readonly dimensions?: number; readonly metric?: Metric } {
  return metric === undefined ? {} : { dimensions: WIDTH, metric };
}
