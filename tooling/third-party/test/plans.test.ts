// That what is asked of one scope, or of a scope's leading parts, is found in an index and read in its order: no statement of
// an everyday call walks a table or sorts a page.

import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import type { MemoryScope } from "@memory/core";
import { SqliteMemoryStore } from "../src/index.ts";
import { makeFile, WIDTH } from "./target.ts";

const tenant = { tenantId: "acme" };
const user = { ...tenant, userId: "ada" };
const session = { ...user, sessionId: "s1" };
const whole = { ...session, agent: "guide" };

test("everyday calls are planned by an index", async (t) => {
  const path = makeFile(t, "cosine");
  const database = new DatabaseSync(path);
  const texts = new Set<string>();
  const prepare = database.prepare.bind(database);
  database.prepare = (text, ...rest) => {
    texts.add(text);
    return prepare(text, ...rest);
  };
  const store = new SqliteMemoryStore(database, { dimensions: WIDTH, ttlMs: 60_000 });
  for (const scope of [tenant, user, session, whole]) await callAll(store, scope);
  await store.close();
  assert.ok(texts.size > 50, `${texts.size} statements`);
  const plans = [...texts]
    .filter((text) => !text.startsWith("PRAGMA"))
    .map((text) => {
      const steps = prepare(`EXPLAIN QUERY PLAN ${text}`)
        .all()
        .map(({ detail }) => String(detail));
      return { text, steps };
    });
  const bad = plans.filter(({ steps }) => steps.some((step) => /TEMP B-TREE|SCAN (?!json_each)/.test(step)));
  assert.deepEqual(bad, []);
  database.close();
});

async function callAll(store: SqliteMemoryStore, scope: MemoryScope): Promise<void> {
  const embedding = Array.from({ length: WIDTH }, () => 1);
  const record = (kind: "working" | "profile" | "episodic" | "semantic", key: string) =>
    ({ kind, scope, key, value: key, source: "test", ...(kind === "semantic" ? { embedding } : {}) }) as const;
  for (const key of ["a", "b", "c"]) {
    await store.write(scope, record("working", key));
    await store.append(scope, `${key}s`, key);
    await store.supersede(scope, record("profile", key));
    await store.log(scope, record("episodic", key));
    await store.index(scope, record("semantic", key));
  }
  await store.read(scope, "as", { last: 1 });
  await store.expire(scope, "a", { ttlMs: 1_000 });
  await store.profile(scope, "a", { asOf: 1, knownAt: 2 });
  await store.recall(scope, "a");
  for (const reach of ["exact", "under"] as const) {
    const keys = await store.keys(scope, { reach, limit: 1 });
    await store.keys(scope, { reach, limit: 1, cursor: keys.cursor, keyPrefix: undefined });
    const beliefs = await store.beliefs(scope, { reach, limit: 1 });
    await store.beliefs(scope, { reach, limit: 1, cursor: beliefs.cursor });
    await store.history(scope, undefined, { reach });
    const page = await store.page(scope, { reach, limit: 1 });
    await store.page(scope, { reach, limit: 1 }, { cursor: page.cursor });
    await store.episodes(scope, { reach, since: 1, until: Date.now() });
    await store.search(scope, { reach, embedding });
  }
  await store.history(scope, "a");
}
