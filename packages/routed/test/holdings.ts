// One user's memory of every kind, and what can be read of it: the same questions for every test of an erasure.

import type { MemoryKind, MemoryScope, MemoryStore } from "@memory/core";

/** How many records {@link fill} writes, by kind (each version counted). */
export const FILLED: Readonly<Record<MemoryKind, number>> = { working: 2, profile: 3, episodic: 2, semantic: 1 };
export const FILLED_RECORDS = 8;

/** Writes records of every kind under a scope, in the scope itself and in a session of it, with a text of choice in each. */
export async function fill(store: MemoryStore, scope: MemoryScope, text = "before"): Promise<void> {
  const session = { ...scope, sessionId: "s" };
  const record = { key: "k", value: text, source: "test" };
  const width = store.capabilities.embeddingDimensions ?? 0;
  await store.write(scope, { ...record, id: "w" });
  await store.append(session, "turns", text);
  for (const id of ["p1", "p2"]) await store.upsert(scope, { ...record, id });
  await store.upsert(session, record);
  await store.log(scope, { ...record, id: "e" });
  await store.log(session, record);
  await store.index(scope, { ...record, id: "v", embedding: Array.from({ length: width }, (_, at) => at + 1) });
}

/** Which kinds can still be read under a scope. */
export async function readable(store: MemoryStore, scope: MemoryScope): Promise<readonly MemoryKind[]> {
  const under = { reach: "under" } as const;
  const embedding = Array.from({ length: store.capabilities.embeddingDimensions ?? 0 }, () => 1);
  const found: readonly (readonly [MemoryKind, number])[] = [
    ["working", (await store.keys(scope, under)).keys.length],
    ["profile", (await store.history(scope, undefined, under)).length],
    ["episodic", (await store.episodes(scope, under)).length],
    ["semantic", (await store.search(scope, { embedding, ...under })).length],
  ];
  return found.flatMap(([kind, count]) => (count > 0 ? [kind] : []));
}
