// What is this adapter's own: the file, its schema, what its errors mean, and that each page is read from an index.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { isMemoryError, type MemoryEvent } from "@memory/core";
import { createMemoryStore } from "@memory/core/driver";
import { faultyDriver } from "@memory/testing";
import { SqliteMemoryStore, sqliteDriver } from "../src/index.ts";
import { schemaSql } from "../src/schema.ts";
import { makeFile, WIDTH } from "./target.ts";

const scope = { tenantId: "acme", userId: "ada" };

test("a file that is not there is refused, not made", () => {
  assert.throws(() => SqliteMemoryStore.open("/nowhere/memory.db"), { code: "MEMORY_SETTINGS", setting: "path" });
});

test("the schema can be run again over what is there", async (t) => {
  const path = makeFile(t, "cosine");
  const database = new DatabaseSync(path);
  database.exec(schemaSql({ dimensions: WIDTH }));
  database.close();
  const store = SqliteMemoryStore.open(path, { dimensions: WIDTH });
  t.after(() => store.close());
  await store.verify();
});

test("verify names every table, column and index that is missing or other", async (t) => {
  const path = makeFile(t, "cosine");
  const database = new DatabaseSync(path);
  database.exec(`DROP INDEX memory_profile_ids; DROP TABLE memory_erasures; DROP TRIGGER memory_working_removed;
    ALTER TABLE memory_episodes RENAME COLUMN source TO origin`);
  const store = new SqliteMemoryStore(database, { dimensions: WIDTH });
  t.after(() => store.close());
  const error = await store.verify().catch((reason: unknown) => reason);
  assert.ok(isMemoryError(error, "MEMORY_SCHEMA"));
  for (const part of ["index memory_profile_ids", "column kind", "trigger memory_working_removed", "column source"]) {
    assert.ok(
      error.findings.some((finding) => finding.includes(part)),
      `${part} is not among ${error.findings.join("; ")}`,
    );
  }
  await assert.rejects(store.erase(scope), { code: "MEMORY_SCHEMA" });
  database.close();
});

test("verify refuses vectors of another width, and another metric", async (t) => {
  const path = makeFile(t, "l2");
  const wide = SqliteMemoryStore.open(path, { dimensions: WIDTH + 1, metric: "l2" });
  t.after(() => wide.close());
  await assert.rejects(wide.verify(), {
    code: "EMBEDDING_DIMENSION",
    expected: WIDTH + 1,
    received: WIDTH,
    schema: null,
  });
  const other = SqliteMemoryStore.open(path, { dimensions: WIDTH, metric: "inner" });
  t.after(() => other.close());
  await assert.rejects(other.verify(), { code: "MEMORY_SCHEMA" });
});

test("verify says of a borrowed connection what is unwise", async (t) => {
  const path = makeFile(t, "cosine");
  const database = new DatabaseSync(path);
  database.exec("PRAGMA secure_delete=OFF");
  const events: MemoryEvent[] = [];
  const store = new SqliteMemoryStore(database, { onEvent: (event) => events.push(event) });
  await store.verify();
  const codes = events.flatMap((event) => (event.name === "adk.memory.warning" ? [event.code] : []));
  assert.deepEqual(codes, ["sqlite-journal", "sqlite-secure-delete"]);
  await store.close();
  assert.ok(database.isOpen, "the connection is its owner's to close");
  database.close();
});

test("a store without `dimensions` holds no semantic memory, and the other kinds", async (t) => {
  const path = makeFile(t, "cosine");
  const store = SqliteMemoryStore.open(path);
  t.after(() => store.close());
  const { working, profile, episodic, semantic } = store.capabilities;
  assert.deepEqual([working, profile, episodic, semantic], [true, true, true, false]);
});

test("nothing that was erased is left in the file or its log", async (t) => {
  const path = makeFile(t, "cosine");
  const store = SqliteMemoryStore.open(path, { dimensions: WIDTH });
  t.after(() => store.close());
  const embedding = Array.from({ length: WIDTH }, () => 1);
  await store.append(scope, "turns", "the secret of ada");
  await store.upsert(scope, { kind: "profile", scope, key: "city", value: "the secret of ada", source: "test" });
  await store.log(scope, { kind: "episodic", scope, key: "day", value: "the secret of ada", source: "test" });
  await store.index(scope, {
    kind: "semantic",
    scope,
    key: "note",
    value: "the secret of ada",
    source: "test",
    embedding,
  });
  const holds = () => {
    const folder = dirname(path);
    return readdirSync(folder).filter((name) => readFileSync(join(folder, name)).includes("the secret of ada"));
  };
  assert.notDeepEqual(holds(), []);
  const { counts } = await store.erase(scope);
  assert.deepEqual(counts, { working: 1, profile: 1, episodic: 1, semantic: 1 });
  assert.deepEqual(holds(), []);
});

test("an append whose answer is lost is there once", async (t) => {
  const path = makeFile(t, "cosine");
  const database = new DatabaseSync(path);
  const { driver } = faultyDriver(sqliteDriver(database), [{ on: "working.append", fault: "reply-lost" }]);
  const store = createMemoryStore(driver);
  t.after(() => store.close());
  assert.equal(await store.append(scope, "turns", "hello"), 1);
  assert.deepEqual((await store.read(scope, "turns"))?.value, ["hello"]);
  database.close();
});

test("a full disk is not retried, and nothing of the write is there", async (t) => {
  const path = makeFile(t, "cosine");
  const database = new DatabaseSync(path);
  const store = new SqliteMemoryStore(database);
  const { page_count } = database.prepare("PRAGMA page_count").get() ?? {};
  database.exec(`PRAGMA max_page_count=${page_count}`);
  const large = "x".repeat(1_000_000);
  await assert.rejects(store.append(scope, "turns", large), {
    code: "MEMORY_UNAVAILABLE",
    attempts: 1,
    outcome: "not-applied",
  });
  assert.equal(await store.read(scope, "turns"), null);
  database.close();
});
