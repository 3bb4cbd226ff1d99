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
  const database = new DatabaseSync(path);
  const tables = database
    .prepare("SELECT name FROM sqlite_schema WHERE type='table' AND name<>'memory_settings'")
    .all();
  assert.equal(tables.length, 8);
  const full = tables.filter(({ name }) => database.prepare(`SELECT 1 FROM ${name}`).get() !== undefined);
  assert.deepEqual(full, [], "bookkeeping is left");
  database.close();
});

test("what is called again because its answer was lost is there once, also when others wrote meanwhile", async (t) => {
  const path = makeFile(t);
  const database = new DatabaseSync(path);
  const others = SqliteMemoryStore.open(path);
  t.after(() => others.close());
  const fact = (value: string) => ({ kind: "profile", scope, key: "city", value, source: "test" }) as const;
  const driver = sqliteDriver(database);
  const { working, profile } = driver;
  assert.ok(working !== undefined && profile !== undefined);
  const methods = ["working.append", "profile.commit", "episodic.log", "erasure.tombstone", "erasure.sweep"];
  const plan = methods.map((on) => ({ on, fault: "reply-lost" as const }));
  const faulty = faultyDriver(
    {
      ...driver,
      working: {
        ...working,
        async append(request, call) {
          const reply = await working.append(request, call);
          if (call.attempt === 1) await others.append(scope, "turns", "theirs");
          return reply;
        },
      },
      profile: {
        ...profile,
        async commit(request, call) {
          const isWritten = await profile.commit(request, call);
          if (call.attempt === 1) await others.upsert(scope, fact("theirs"));
          return isWritten;
        },
      },
    },
    plan,
  );
  const store = createMemoryStore(faulty.driver);
  assert.equal(await store.append(scope, "turns", "ours"), 1);
  assert.deepEqual((await store.read(scope, "turns"))?.value, ["ours", "theirs"]);
  assert.equal((await store.upsert(scope, fact("ours"))).version, 1);
  assert.deepEqual(
    (await store.history(scope, "city")).map(({ value }) => value),
    ["ours", "theirs"],
  );
  await store.log(scope, { kind: "episodic", scope, key: "day", value: "ours", source: "test" });
  assert.equal((await store.episodes(scope)).length, 1);
  assert.deepEqual((await store.erase(scope)).counts, { working: 1, profile: 2, episodic: 1 });
  for (const method of methods) assert.ok(faulty.calls.filter((call) => call === method).length > 1, method);
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
