// Two people in every kind of memory, with something derived from one record of each: what is forgotten of one of them, and
// what is left of the other, is looked for in them.

import { type DerivedIndex, exportScope, type MemoryRecord, type MemoryScope, type MemoryStore } from "@memory/core";
import type { Embedder } from "../src/embed.ts";

/** The tenant of both. */
export const TENANT = "two-people";

/** A person's scope. */
export function person(name: string): MemoryScope {
  return { tenantId: TENANT, userId: name };
}

/** What stands in every value of a person, and nowhere else. */
export function canaryOf(name: string): string {
  return `canary-of-${name}`;
}

/** Puts a person into every kind, a session deep too: six records. */
export async function remember(store: MemoryStore, embedder: Embedder, name: string): Promise<void> {
  const scope = person(name);
  const session = { ...scope, sessionId: "talk" };
  const value = canaryOf(name);
  const [embedding = []] = await embedder.embed(["drinks tea"]);
  await store.append(session, "turns", value);
  await store.upsert(scope, { key: "city", value, source: "a test" });
  await store.supersede(scope, { key: "city", value: `${value} again`, source: "a test" });
  await store.log(session, { id: "episode", key: "turn", value, source: "a test" });
  await store.index(scope, { key: "tea", value, source: "a test", embedding });
  await store.index(session, { key: "tea", value, source: "a test", embedding });
  const record = await store.recall(scope, "tea");
  await store.derived(scope, {
    artefactId: `built of ${name}`,
    sourceKind: "semantic",
    sourceId: record?.id ?? "",
    adapter: "artefacts",
  });
}

/** All the records that an export gives of a person. */
export async function everything(store: MemoryStore, name: string): Promise<readonly MemoryRecord[]> {
  const records: MemoryRecord[] = [];
  for await (const { record } of exportScope(store, person(name))) records.push(record);
  return records;
}

/** Keeps what was purged. */
export class Artefacts implements DerivedIndex {
  readonly name = "artefacts";
  readonly purged: string[] = [];

  async purge(_scope: MemoryScope, artefactIds: readonly string[]): Promise<void> {
    this.purged.push(...artefactIds);
  }
}
