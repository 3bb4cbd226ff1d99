// The store: the protocol's operations over a driver. This is the only place where rules meet a driver; each operation is
// a few lines in `store/`, and this class gives it its call, its event and its options.

import type { Belief, BeliefPage, Supersession } from "./model/belief.ts";
import type { MemoryCapabilities } from "./model/capabilities.ts";
import type { MemoryDriver } from "./model/driver.ts";
import type { DerivationPage, ErasureReceipt } from "./model/erasure.ts";
import { MemorySettingsError } from "./model/errors.ts";
import type { JsonValue } from "./model/json.ts";
import type {
  CallOptions,
  DerivedInput,
  EraseOptions,
  KeyPageOptions,
  MemoryKeyPage,
  MemoryStore,
  ProfileOptions,
} from "./model/protocol.ts";
import type { MemoryHit, MemoryPage, MemoryQuery } from "./model/query.ts";
import type { MemoryRecord, MemoryRecordInput } from "./model/record.ts";
import type { MemoryReach, MemoryScope } from "./model/scope.ts";
import { type MemoryStoreOptions, StoreContext } from "./store/context.ts";
import { episodes, log, logAll, page } from "./store/episodic.ts";
import { derivations, derived, erase } from "./store/erase.ts";
import { belief, beliefs, history, profile, supersede, upsert } from "./store/profile.ts";
import { index, indexAll, recall, search } from "./store/semantic.ts";
import { append, expire, keys, read, write } from "./store/working.ts";

// Registered, so that a store made by another copy of this package is known as one.
const CONTEXT = Symbol.for("@memory/core/store");

/** Puts a store over a driver; the driver stays reachable through {@link driverOf}. */
export function createMemoryStore(driver: MemoryDriver, options: MemoryStoreOptions = {}): MemoryStore {
  return new DriverMemoryStore(driver, options);
}

/**
 * The driver of a store made by {@link createMemoryStore}, guarded: its sections pass the store's own gate, retry and
 * deadlines. What composes stores, exports them or imports into them works on this.
 *
 * @throws {MemorySettingsError} The store was not made here.
 */
export function driverOf(store: MemoryStore): MemoryDriver {
  return contextOf(store).driver;
}

/**
 * The options of a store as it was given them, with its settings and `maxValueBytes` filled in. What composes stores goes by
 * it where it is not told otherwise.
 *
 * @throws {MemorySettingsError} The store was not made here.
 */
export function optionsOf(store: MemoryStore): MemoryStoreOptions {
  return contextOf(store).options;
}

/** The parts of a store, for what else in this package works on it. */
export function contextOf(store: MemoryStore): StoreContext {
  const context: unknown = Reflect.get(Object(store), CONTEXT);
  if (typeof context === "object" && context !== null) return context as StoreContext;
  throw new MemorySettingsError("the store was not made by createMemoryStore", { setting: "store" });
}

/** The protocol over a driver: the base of the store classes, which add only how their driver is made. */
export class DriverMemoryStore implements MemoryStore {
  readonly #store: StoreContext;

  /** @throws {MemorySettingsError} An option is unknown or of a wrong type. */
  constructor(driver: MemoryDriver, options: MemoryStoreOptions = {}) {
    this.#store = new StoreContext(driver, options);
    Object.defineProperty(this, CONTEXT, { value: this.#store, enumerable: false });
  }

  get name(): string {
    return this.#store.driver.name;
  }

  get capabilities(): MemoryCapabilities {
    return this.#store.capabilities;
  }

  write(scope: MemoryScope, record: MemoryRecordInput, options?: CallOptions): Promise<MemoryRecord> {
    const store = this.#store;
    return store.operate("working", "write", "call", options, (call) => write(store, scope, record, call));
  }

  read(
    scope: MemoryScope,
    key: string,
    options?: CallOptions & { readonly last?: number | undefined },
  ): Promise<MemoryRecord | null> {
    const store = this.#store;
    return store.operate("working", "read", "read", options, (call, parsed) => read(store, scope, key, parsed, call));
  }

  append(
    scope: MemoryScope,
    key: string,
    value: JsonValue,
    options?: CallOptions & { readonly source?: string | undefined; readonly after?: number | undefined },
  ): Promise<number> {
    const store = this.#store;
    return store.operate("working", "append", "append", options, (call, parsed) =>
      append(store, scope, key, value, parsed, call),
    );
  }

  expire(scope: MemoryScope, key: string, options: CallOptions & { readonly ttlMs: number }): Promise<boolean> {
    const store = this.#store;
    return store.operate("working", "expire", "expire", options, (call, parsed) =>
      expire(store, scope, key, parsed, call),
    );
  }

  keys(scope: MemoryScope, options?: KeyPageOptions): Promise<MemoryKeyPage> {
    const store = this.#store;
    return store.operate("working", "keys", "keys", options, (call, parsed) => keys(store, scope, parsed, call));
  }

  upsert(scope: MemoryScope, record: MemoryRecordInput, options?: CallOptions): Promise<MemoryRecord> {
    const store = this.#store;
    return store.operate("profile", "upsert", "call", options, (call) => upsert(store, scope, record, call));
  }

  supersede(
    scope: MemoryScope,
    record: MemoryRecordInput,
    options?: CallOptions & {
      readonly expectedVersion?: number | undefined;
      readonly resolves?: readonly string[] | undefined;
    },
  ): Promise<Supersession> {
    const store = this.#store;
    return store.operate("profile", "supersede", "supersede", options, (call, parsed) =>
      supersede(store, scope, record, parsed, call),
    );
  }

  profile(scope: MemoryScope, key: string, options?: ProfileOptions): Promise<MemoryRecord | null> {
    const store = this.#store;
    return store.operate("profile", "profile", "profile", options, (call, parsed) =>
      profile(store, scope, key, parsed, call),
    );
  }

  belief(scope: MemoryScope, key: string, options?: ProfileOptions): Promise<Belief> {
    const store = this.#store;
    return store.operate("profile", "belief", "profile", options, (call, parsed) =>
      belief(store, scope, key, parsed, call),
    );
  }

  beliefs(scope: MemoryScope, options?: ProfileOptions & KeyPageOptions): Promise<BeliefPage> {
    const store = this.#store;
    return store.operate("profile", "beliefs", "beliefs", options, (call, parsed) =>
      beliefs(store, scope, parsed, call),
    );
  }

  history(
    scope: MemoryScope,
    key?: string,
    options?: CallOptions & { readonly reach?: MemoryReach | undefined },
  ): Promise<readonly MemoryRecord[]> {
    const store = this.#store;
    return store.operate("profile", "history", "history", options, (call, parsed) =>
      history(store, scope, key, parsed, call),
    );
  }

  log(scope: MemoryScope, record: MemoryRecordInput, options?: CallOptions): Promise<MemoryRecord> {
    const store = this.#store;
    return store.operate("episodic", "log", "call", options, (call) => log(store, scope, record, call));
  }

  logAll(
    scope: MemoryScope,
    records: readonly MemoryRecordInput[],
    options?: CallOptions,
  ): Promise<readonly MemoryRecord[]> {
    const store = this.#store;
    return store.operate("episodic", "logAll", "call", options, (call) => logAll(store, scope, records, call));
  }

  episodes(scope: MemoryScope, query?: MemoryQuery, options?: CallOptions): Promise<readonly MemoryHit[]> {
    const store = this.#store;
    return store.operate("episodic", "episodes", "call", options, (call) => episodes(store, scope, query, call));
  }

  page(
    scope: MemoryScope,
    query?: MemoryQuery,
    options?: CallOptions & { readonly cursor?: string | null | undefined },
  ): Promise<MemoryPage> {
    const store = this.#store;
    return store.operate("episodic", "page", "page", options, (call, parsed) =>
      page(store, scope, query, parsed, call),
    );
  }

  index(scope: MemoryScope, record: MemoryRecordInput, options?: CallOptions): Promise<MemoryRecord> {
    const store = this.#store;
    return store.operate("semantic", "index", "call", options, (call) => index(store, scope, record, call));
  }

  indexAll(
    scope: MemoryScope,
    records: readonly MemoryRecordInput[],
    options?: CallOptions,
  ): Promise<readonly MemoryRecord[]> {
    const store = this.#store;
    return store.operate("semantic", "indexAll", "call", options, (call) => indexAll(store, scope, records, call));
  }

  recall(scope: MemoryScope, key: string, options?: CallOptions): Promise<MemoryRecord | null> {
    const store = this.#store;
    return store.operate("semantic", "recall", "call", options, (call) => recall(store, scope, key, call));
  }

  search(
    scope: MemoryScope,
    query: MemoryQuery & { readonly embedding: readonly number[] },
    options?: CallOptions,
  ): Promise<readonly MemoryHit[]> {
    const store = this.#store;
    return store.operate("semantic", "search", "call", options, (call) => search(store, scope, query, call));
  }

  erase(scope: MemoryScope, options?: EraseOptions): Promise<ErasureReceipt> {
    const store = this.#store;
    return store.operate(null, "erase", "erase", options, (call, parsed) => erase(store, scope, parsed, call));
  }

  derived(scope: MemoryScope, artefact: DerivedInput, options?: CallOptions): Promise<void> {
    const store = this.#store;
    return store.operate(null, "derived", "call", options, (call) => derived(store, scope, artefact, call));
  }

  derivations(scope: MemoryScope, options?: Omit<KeyPageOptions, "keyPrefix">): Promise<DerivationPage> {
    const store = this.#store;
    return store.operate(null, "derivations", "derivations", options, (call, parsed) =>
      derivations(store, scope, parsed, call),
    );
  }

  verify(options?: CallOptions): Promise<void> {
    const store = this.#store;
    return store.operate(null, "verify", "call", options, async (call) => {
      const warnings = (await store.driver.verify?.(undefined, call)) ?? [];
      for (const warning of warnings) {
        store.emit({ name: "adk.memory.warning", store: store.driver.name, ...warning });
      }
    });
  }

  close(): Promise<void> {
    return this.#store.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}
