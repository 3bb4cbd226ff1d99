// Calls that no store may accept, each refused before anything is stored. In a random sequence they stand among good
// calls, so that a refusal that leaves something behind is seen by everything that follows.

import type { MemoryKind, MemoryScope, MemoryStore } from "@memory/core";
import { untyped } from "../untyped.ts";

/** A call that must be refused, and the kind that the store has to have for it. */
export interface Fault {
  readonly kind: MemoryKind;
  run(store: MemoryStore, scope: MemoryScope, key: string): Promise<unknown>;
}

const good = (key: string) => ({ id: `fault-${key}`, key, value: "fault", source: "fault" });

/** By name. */
export const FAULTS: Readonly<Record<string, Fault>> = {
  "write to a blank tenant": { kind: "working", run: (store, _, key) => store.write({ tenantId: " " }, good(key)) },
  "append under an unknown part": {
    kind: "working",
    run: (store, scope, key) => store.append(untyped({ ...scope, userid: "x" }), key, "fault"),
  },
  "read with an empty part": { kind: "working", run: (store, scope, key) => store.read({ ...scope, agent: "" }, key) },
  "write for another scope": {
    kind: "working",
    run: (store, scope, key) => store.write(scope, { ...good(key), scope: { ...scope, agent: "fault" } }),
  },
  "write of another kind": {
    kind: "working",
    run: (store, scope, key) => store.write(scope, { ...good(key), kind: "profile" }),
  },
  "write of undefined inside": {
    kind: "working",
    run: (store, scope, key) => store.write(scope, { ...good(key), value: untyped({ a: [1, { b: undefined }] }) }),
  },
  "append of NaN": { kind: "working", run: (store, scope, key) => store.append(scope, key, [Number.NaN]) },
  "write to a blank key": { kind: "working", run: (store, scope) => store.write(scope, good("  ")) },
  "keys with limit 0": { kind: "working", run: (store, scope) => store.keys(scope, { limit: 0 }) },
  "keys with a cursor of nowhere": { kind: "working", run: (store, scope) => store.keys(scope, { cursor: "nowhere" }) },
  "upsert with confidence 2": {
    kind: "profile",
    run: (store, scope, key) => store.upsert(scope, { ...good(key), confidence: 2 }),
  },
  "upsert of a Date": {
    kind: "profile",
    run: (store, scope, key) => store.upsert(scope, { ...good(key), value: untyped({ at: new Date(0) }) }),
  },
  "upsert of an unknown property": {
    kind: "profile",
    run: (store, scope, key) => store.upsert(scope, untyped({ ...good(key), valid_from: 0 })),
  },
  "upsert of a window that ends before it begins": {
    kind: "profile",
    run: (store, scope, key) => store.upsert(scope, { ...good(key), validFrom: 2, validTo: 1 }),
  },
  "log for another tenant": {
    kind: "episodic",
    run: (store, scope, key) => store.log(scope, { ...good(key), scope: { ...scope, tenantId: "other" } }),
  },
  "logAll with a bad last": {
    kind: "episodic",
    run: (store, scope, key) =>
      store.logAll(scope, [good(key), { ...good(key), id: "fault-2", value: untyped(() => 0) }]),
  },
  "episodes with limit 1,001": { kind: "episodic", run: (store, scope) => store.episodes(scope, { limit: 1_001 }) },
  "page of a cursor of nowhere": {
    kind: "episodic",
    run: (store, scope) => store.page(scope, {}, { cursor: "nowhere" }),
  },
  "index without an embedding": { kind: "semantic", run: (store, scope, key) => store.index(scope, good(key)) },
  "index of a narrow embedding": {
    kind: "semantic",
    run: (store, scope, key) => store.index(scope, { ...good(key), embedding: [] }),
  },
  "indexAll with a bad last": {
    kind: "semantic",
    run: (store, scope, key) => {
      const embedding = unit(store);
      const infinite = embedding.map((component) => component * 1e39);
      return store.indexAll(scope, [
        { ...good(key), embedding },
        { ...good(key), embedding: infinite },
      ]);
    },
  },
  "search of a wide embedding": {
    kind: "semantic",
    run: (store, scope) => store.search(scope, { embedding: [...unit(store), 0] }),
  },
};

function unit(store: MemoryStore): number[] {
  const width = store.capabilities.embeddingDimensions ?? 1;
  return Array.from({ length: width }, (_, at) => (at === 0 ? 1 : 0));
}
