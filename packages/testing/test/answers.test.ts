// What callers see of a driver that answers nonsense: a rejection with `MemoryCorruptionError`, never a crash of a rule,
// never a record of somebody else, never success.

import type { MemoryScope, MemoryStore } from "@memory/core";
import { createMemoryStore, type MemoryDriver } from "@memory/core/driver";
import { inMemoryDriver } from "@memory/core/in-memory";
import { describe, expect, test } from "vitest";
import { untyped } from "../src/untyped.ts";

const scope: MemoryScope = { tenantId: "acme" };
const record = { key: "k", value: 1, source: "test" };
const embedding = [1, 0];
const corruption = { code: "MEMORY_CORRUPTION" };

type Call = (store: MemoryStore) => Promise<unknown>;

/** Operations, by the method that they ask first. */
const OPERATIONS: readonly (readonly [section: string, method: string, call: Call])[] = [
  ["working", "get", (store) => store.read(scope, "k")],
  ["working", "append", (store) => store.append(scope, "k", 1)],
  ["working", "expire", (store) => store.expire(scope, "k", { ttlMs: 1 })],
  ["working", "keys", (store) => store.keys(scope)],
  ["profile", "versions", (store) => store.belief(scope, "k")],
  ["profile", "heads", (store) => store.supersede(scope, record)],
  ["profile", "commit", (store) => store.upsert(scope, record)],
  ["profile", "beliefs", (store) => store.beliefs(scope)],
  ["profile", "history", (store) => store.history(scope)],
  ["episodic", "log", (store) => store.log(scope, record)],
  ["episodic", "page", (store) => store.episodes(scope)],
  ["semantic", "get", (store) => store.recall(scope, "k")],
  ["semantic", "nearest", (store) => store.search(scope, { embedding })],
  ["erasure", "count", (store) => store.erase(scope, { dryRun: true })],
  ["erasure", "tombstone", (store) => store.erase(scope)],
  ["erasure", "condemned", (store) => store.erase(scope)],
  ["erasure", "sweep", (store) => store.erase(scope)],
  ["erasure", "derivations", (store) => store.derivations(scope)],
];

function storeOver(section: string, members: object): MemoryStore {
  const driver = inMemoryDriver({ embeddingDimensions: embedding.length });
  const inner: unknown = Reflect.get(driver, section);
  return createMemoryStore(untyped<MemoryDriver>({ ...driver, [section]: { ...Object(inner), ...members } }));
}

describe.each(OPERATIONS)("%s.%s", (section, method, call) => {
  test.each([undefined, 7, "text", [undefined], [7]])("that answers %j is corruption", async (answer) => {
    const store = storeOver(section, { [method]: async () => answer });
    const isTally = method === "tombstone" || method === "sweep";
    if (isTally && Array.isArray(answer)) return;
    await expect(call(store)).rejects.toMatchObject(corruption);
  });
});

describe("rows of somebody else", () => {
  const row = (of: MemoryScope, key = "k") => ({
    id: "i",
    scope: of,
    key,
    value: "1",
    source: "s",
    confidence: 1,
    validFrom: 1,
    recordedAt: 1,
    version: 1,
    embedding,
  });
  const version = (of: MemoryScope, key?: string) => ({ record: row(of, key), lineage: 1, settles: [] });
  const state = (of: MemoryScope, key: string, ...versions: readonly unknown[]) => ({
    scope: of,
    key,
    recordedAt: 1,
    versions,
  });
  const other = { tenantId: "other" };
  const user = { tenantId: "acme", userId: "u" };

  test.each<[string, string, string, unknown, Call]>([
    ["a key of another tenant", "working", "keys", [{ scope: other, key: "k" }], (store) => store.keys(scope)],
    ["a key that is no text", "working", "keys", [{ scope, key: 7 }], (store) => store.keys(scope)],
    ["a key without a scope", "working", "keys", [{ key: "k" }], (store) => store.keys(scope)],
    [
      "an entry under another key",
      "working",
      "get",
      { head: row(scope, "other"), content: { value: "1" } },
      (store) => store.read(scope, "k"),
    ],
    [
      "an entry of another user",
      "working",
      "get",
      { head: row(user), content: { value: "1" } },
      (store) => store.read(scope, "k"),
    ],
    ["another key's state", "profile", "versions", state(scope, "other"), (store) => store.belief(scope, "k")],
    [
      "a version of another key",
      "profile",
      "beliefs",
      [state(scope, "k", version(scope, "other"))],
      (store) => store.beliefs(scope),
    ],
    [
      "a version of another scope that is under the one asked",
      "profile",
      "beliefs",
      [state(scope, "k", version(user))],
      (store) => store.beliefs(scope, { reach: "under" }),
    ],
    ["a version of another tenant", "profile", "history", [version(other)], (store) => store.history(scope)],
    ["an episode of another tenant", "episodic", "page", [row(other)], (store) => store.episodes(scope)],
    [
      "an episode under a key",
      "episodic",
      "page",
      [row(scope, "other")],
      (store) => store.episodes(scope, { key: "k" }),
    ],
    [
      "a hit of another tenant",
      "semantic",
      "nearest",
      [{ record: row(other), score: 1 }],
      (store) => store.search(scope, { embedding, reach: "under" }),
    ],
    ["a record of another key", "semantic", "get", row(scope, "other"), (store) => store.recall(scope, "k")],
    [
      "an artefact of another tenant",
      "erasure",
      "derivations",
      [{ scope: other, adapter: "a", artefactId: "x", sourceKind: "working", sourceId: "i", mixes: false }],
      (store) => store.derivations(scope),
    ],
  ])("%s is corruption", async (_what, section, method, answer, call) => {
    await expect(call(storeOver(section, { [method]: async () => answer }))).rejects.toMatchObject(corruption);
  });
});
