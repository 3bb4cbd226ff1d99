// Several processes on one file: nothing is lost, nothing is doubled, nobody sees half, and nobody is refused for waiting.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { SqliteMemoryStore } from "../src/index.ts";
import { makeFile } from "./target.ts";

const PROCESSES = 4;
const WRITES = 50;
const scope = { tenantId: "acme", userId: "ada" };

test("appends and facts of several processes are all there, in one order", async (t) => {
  const path = makeFile(t);
  const writer = fileURLToPath(new URL("writer.ts", import.meta.url));
  const children = Array.from({ length: PROCESSES }, (_, index) =>
    spawn(process.execPath, [...process.execArgv, writer, path, String(index), String(WRITES)], {
      stdio: "inherit",
    }),
  );
  const codes = await Promise.all(children.map((child) => once(child, "exit")));
  assert.deepEqual(
    codes.map(([code]) => code),
    children.map(() => 0),
  );
  const store = SqliteMemoryStore.open(path);
  t.after(() => store.close());
  const turns = await store.read(scope, "turns");
  assert.ok(Array.isArray(turns?.value));
  assert.equal(new Set(turns.value).size, PROCESSES * WRITES);
  assert.equal(turns.value.length, PROCESSES * WRITES);
  const versions = await store.history(scope, "count");
  assert.deepEqual(
    versions.map(({ version }) => version),
    Array.from({ length: PROCESSES * WRITES }, (_, index) => index + 1),
  );
});

test("a write waits for another connection's transaction without blocking the process", async (t) => {
  const path = makeFile(t);
  const store = SqliteMemoryStore.open(path);
  t.after(() => store.close());
  const other = new DatabaseSync(path);
  other.exec("BEGIN IMMEDIATE");
  const written = store.append(scope, "turns", "hello");
  // Reads go on, and so does this process, which then lets the writer in.
  assert.equal(await store.read(scope, "turns"), null);
  other.exec("COMMIT");
  assert.equal(await written, 1);
  other.close();
});

test("a write that waits in vain is unavailable and had no effect", async (t) => {
  const path = makeFile(t);
  const settings = { attemptTimeoutMs: 30, maxAttempts: 2, backoffMs: 1 };
  const store = SqliteMemoryStore.open(path, { settings });
  t.after(() => store.close());
  const other = new DatabaseSync(path);
  other.exec("BEGIN IMMEDIATE");
  await assert.rejects(store.append(scope, "turns", "hello"), { code: "MEMORY_UNAVAILABLE", attempts: 2 });
  other.exec("ROLLBACK");
  other.close();
  assert.equal(await store.read(scope, "turns"), null);
});
