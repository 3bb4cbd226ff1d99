// What core itself costs: a store over a driver that does nothing, beside the bare driver call; and the in-memory store at
// a thousand and at a million keys.

import { type MemoryScope, type MemoryStore, memoryScope } from "@memory/core";
import { createMemoryStore, type MemoryDriver, type StoredRecord, type WorkingEntry } from "@memory/core/driver";
import { InMemoryMemoryStore } from "@memory/core/in-memory";
import { keep, printTable } from "./report.ts";
import { compare, type Table } from "./rounds.ts";
import { VALUE } from "./value.ts";

/** Runs the suite. */
export async function benchCore(): Promise<void> {
  const tables = [...(await rulesTables()), ...(await sizeTables())];
  for (const table of tables) printTable(table);
  console.log(`\nkept in ${keep("core", tables)}`);
}

async function rulesTables(): Promise<readonly Table[]> {
  const scope = memoryScope({ tenantId: "acme", userId: "ada", sessionId: "s-1" });
  const driver = idleDriver(scope);
  const events: string[] = [];
  const store = createMemoryStore(driver, { onEvent: ({ name }) => (events[0] = name) });
  const bare = createMemoryStore(driver, { redactor: null });
  const text = JSON.stringify(VALUE);
  const record = { key: "plan", value: VALUE, source: "turn" };
  const rows = [...Array(100).keys()];
  return [
    await compare("one write of a 386-byte value, over a driver that does nothing", [
      { name: "JSON.stringify alone", run: () => JSON.stringify(VALUE) },
      { name: "write: checks, masking, gate, retry, event", run: () => store.write(scope, record) },
      { name: "write, scope not validated before", run: () => store.write({ ...scope }, record) },
      { name: "write, nothing masked", run: () => bare.write(scope, record) },
      { name: "append", run: () => store.append(scope, "turns", VALUE) },
    ]),
    await compare("one read of the same", [
      { name: "JSON.parse alone", run: () => JSON.parse(text) },
      { name: "read", run: () => store.read(scope, "plan") },
    ]),
    await compare("a page of 100 episodes, per row", [
      { name: "JSON.parse alone", run: () => rows.map(() => JSON.parse(text)), operations: rows.length },
      { name: "episodes", run: () => store.episodes(scope, { limit: 100 }), operations: rows.length },
    ]),
  ];
}

// What is cold costs its cache misses, in a bare map as much as in a store; what is hot costs the same at any size.
async function sizeTables(): Promise<readonly Table[]> {
  const small = await filled(1_000, 1_000);
  const large = await filled(1_000_000, 200_000);
  return [
    await compare("in-memory: one key read, of 1,000 and of 1,000,000 over 1,000 scopes", [
      { name: "of 1,000", run: reader(small, 1_000) },
      { name: "of 1,000,000, 1,000 of them over and over", run: reader(large, 1_000) },
      { name: "of 1,000,000, any of them", run: reader(large, 1_000_000) },
      { name: "a bare Map of 1,000", run: bareReader(1_000) },
      { name: "a bare Map of 1,000,000, any of them", run: bareReader(1_000_000) },
    ]),
    await compare("in-memory: newest 20 of a scope, of 1,000 episodes and of 200,000 over 1,000 scopes", [
      { name: "of 1,000", run: newest(small, 1) },
      { name: "of 200,000, one scope over and over", run: newest(large, 1) },
      { name: "of 200,000, any scope", run: newest(large, 1_000) },
    ]),
  ];
}

const scopes: readonly MemoryScope[] = [...Array(1_000).keys()].map((n) =>
  memoryScope({ tenantId: `tenant-${n % 10}`, userId: `user-${n}` }),
);

function scopeOf(n: number): MemoryScope {
  return scopes[n % scopes.length] ?? memoryScope({ tenantId: "none" });
}

// The small store's episodes are all in one scope, the large one's 200 in each: a page of 20 is there in both.
async function filled(keys: number, episodes: number): Promise<MemoryStore> {
  const store = new InMemoryMemoryStore({ redactor: null });
  for (let n = 0; n < keys; n += 1) await store.write(scopeOf(n), { key: `key-${n}`, value: n, source: "bench" });
  const spread = episodes > 1_000 ? scopes.length : 1;
  for (let n = 0; n < episodes; n += 1) {
    await store.log(scopeOf(n % spread), { id: `e-${n}`, key: "turn", value: n, source: "bench", validFrom: n });
  }
  return store;
}

function reader(store: MemoryStore, keys: number): () => unknown {
  let n = 0;
  return () => {
    n = (n + 7_919) % keys;
    return store.read(scopeOf(n), `key-${n}`);
  };
}

// The least that finding one key of many can cost: a map of texts, and the text parsed.
function bareReader(keys: number): () => unknown {
  const map = new Map([...Array(keys).keys()].map((n) => [`scope-${n % scopes.length}/key-${n}`, JSON.stringify(n)]));
  let n = 0;
  return async () => {
    n = (n + 7_919) % keys;
    return JSON.parse(map.get(`scope-${n % scopes.length}/key-${n}`) ?? "null");
  };
}

function newest(store: MemoryStore, spread: number): () => unknown {
  let n = 0;
  return () => {
    n = (n + 1) % spread;
    return store.episodes(scopeOf(n), { limit: 20 });
  };
}

function idleDriver(scope: MemoryScope): MemoryDriver {
  const row: StoredRecord = {
    id: "0b9f2c1e-7a3d-7f7e-9b1a-2f6f7c9d8e10",
    scope,
    key: "plan",
    value: JSON.stringify(VALUE),
    source: "turn",
    confidence: 1,
    validFrom: 1,
    validTo: undefined,
    subject: undefined,
    predicate: undefined,
    metadata: undefined,
    redacted: undefined,
    recordedAt: 1,
    version: undefined,
    embedding: undefined,
  };
  const entry: WorkingEntry = { head: { ...row, value: "" }, content: { value: row.value } };
  const page = Array(100).fill(row);
  return {
    name: "idle",
    working: {
      put: async () => undefined,
      get: async () => entry,
      append: async () => ({ outcome: "appended", length: 1 }),
      expire: async () => true,
      keys: async () => [],
    },
    episodic: { log: async () => [], page: async () => page },
    isTransient: () => false,
    isExhausted: () => false,
    close: async () => undefined,
  };
}
