// Every operation of the protocol in a form that can be looped over: for promises that hold at every entry point. A new
// member of `MemoryStore` is added here in the same change.

import type { CallOptions, MemoryCapability, MemoryScope, MemoryStore } from "@memory/core";
import type { CaseContext } from "./context.ts";

/** One operation with valid arguments. */
export interface Operation {
  readonly name: string;
  /** The capability without which it is refused; `null` for what every store has. */
  readonly needs: MemoryCapability | null;
  /** Whether it takes a scope. */
  readonly scoped: boolean;
  /** Whether it changes what is stored. */
  readonly writes: boolean;
  call(store: MemoryStore, scope: MemoryScope, options?: CallOptions): Promise<unknown>;
}

/** Every operation, each with arguments that are valid in a store that has what it needs, under one key. */
export function operations(context: CaseContext, key = "k"): readonly Operation[] {
  const record = { key, value: 1, source: "case" };
  // A store without vectors refuses for that; the width does not matter then.
  const embedding = context.capabilities.embeddingDimensions === null ? [1] : context.vector(1);
  const artefact = { artefactId: "a", sourceKind: "profile", sourceId: "i", adapter: "index" } as const;
  const operation = (
    name: string,
    needs: MemoryCapability | null,
    writes: boolean,
    call: Operation["call"],
    scoped = true,
  ): Operation => ({ name, needs, writes, scoped, call });
  return [
    operation("write", "working", true, (store, scope, options) => store.write(scope, record, options)),
    operation("read", "working", false, (store, scope, options) => store.read(scope, key, options)),
    operation("append", "working", true, (store, scope, options) => store.append(scope, key, 1, options)),
    operation("expire", "working", true, (store, scope, options) => store.expire(scope, key, { ttlMs: 0, ...options })),
    operation("keys", "working", false, (store, scope, options) => store.keys(scope, options)),
    operation("upsert", "profile", true, (store, scope, options) => store.upsert(scope, record, options)),
    operation("supersede", "supersession", true, (store, scope, options) => store.supersede(scope, record, options)),
    operation("profile", "profile", false, (store, scope, options) => store.profile(scope, key, options)),
    operation("belief", "profile", false, (store, scope, options) => store.belief(scope, key, options)),
    operation("beliefs", "profile", false, (store, scope, options) => store.beliefs(scope, options)),
    operation("history", "profile", false, (store, scope, options) => store.history(scope, key, options)),
    operation("log", "episodic", true, (store, scope, options) => store.log(scope, record, options)),
    operation("logAll", "episodic", true, (store, scope, options) => store.logAll(scope, [record], options)),
    operation("episodes", "episodic", false, (store, scope, options) => store.episodes(scope, {}, options)),
    operation("page", "episodic", false, (store, scope, options) => store.page(scope, {}, options)),
    operation("index", "semantic", true, (store, scope, options) =>
      store.index(scope, { ...record, embedding }, options),
    ),
    operation("indexAll", "semantic", true, (store, scope, options) =>
      store.indexAll(scope, [{ ...record, embedding }], options),
    ),
    operation("recall", "semantic", false, (store, scope, options) => store.recall(scope, key, options)),
    operation("search", "semantic", false, (store, scope, options) => store.search(scope, { embedding }, options)),
    operation("erase", "erasure", true, (store, scope, options) => store.erase(scope, options)),
    operation("derived", "erasure", true, (store, scope, options) => store.derived(scope, artefact, options)),
    operation("derivations", "erasure", false, (store, scope, options) => store.derivations(scope, options)),
    operation("verify", null, false, (store, _scope, options) => store.verify(options), false),
  ];
}

/** The operations that the store under test has. */
export function offered(context: CaseContext, key?: string): readonly Operation[] {
  return operations(context, key).filter(({ needs }) => needs === null || context.capabilities[needs]);
}
