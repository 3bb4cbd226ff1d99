// A file as a target of the suite: made by the schema, opened anew for every store, damaged by hand.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { MemoryKind, Metric } from "@memory/core";
import type { ConformanceTarget } from "@memory/testing";
import { SqliteMemoryStore } from "../src/index.ts";
import { schemaSql } from "../src/schema.ts";

/** The width of the vectors of these tests. */
export const WIDTH = 8;

/** A database file in a folder of its own. */
export interface TestFile extends Disposable {
  readonly path: string;
}

/** Makes a file by the schema, for vectors where a metric is named; disposing it removes it. */
export function makeFile(metric?: Metric): TestFile {
  const folder = mkdtempSync(join(tmpdir(), "memory-sqlite-"));
  const path = join(folder, "memory.db");
  const database = new DatabaseSync(path);
  database.exec(schemaSql(vectorsBy(metric)));
  database.close();
  return { path, [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) };
}

/** A target over a file: each store has a connection of its own, as each process of a deployment has. */
export function targetOver({ path }: TestFile, metric?: Metric): ConformanceTarget {
  return {
    name: `sqlite ${metric ?? "without vectors"}`,
    open: (options) => SqliteMemoryStore.open(path, { ...options, ...vectorsBy(metric) }),
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

const TABLES: Readonly<Record<MemoryKind, string>> = {
  working: "memory_working",
  profile: "memory_profile",
  episodic: "memory_episodes",
  semantic: "memory_semantic",
};

function vectorsBy(metric: Metric | undefined): { readonly dimensions?: number; readonly metric?: Metric } {
  return metric === undefined ? {} : { dimensions: WIDTH, metric };
}
