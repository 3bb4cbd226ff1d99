// What is kept by scope and key. Each scope has a shelf, on which a map finds an entry at once and a sorted set lists them;
// the shelves stand in the order of their scopes, so that everything under a scope is a range of shelves.

import type { ErasureTarget, KeyPageRequest, KeyPosition } from "../model/driver.ts";
import { compareText } from "../model/json.ts";
import { compareScopes, containsScope, type MemoryReach, type MemoryScope, sameScope } from "../model/scope.ts";
import { placeOf } from "../rules/key.ts";
import { Ordered } from "./ordered.ts";

interface Shelf<E extends object> {
  readonly scope: MemoryScope;
  readonly byKey: Map<string, E>;
  readonly inOrder: Ordered<E>;
}

/** A map by (scope, key) that is also listed in that order. A scope without entries leaves nothing behind. */
export class Keyed<E extends KeyPosition> {
  readonly #byScope = new Map<string, Shelf<E>>();
  readonly #shelves = new Ordered<Shelf<E>>((a, b) => compareScopes(a.scope, b.scope));
  // Where the last call looked: calls come in runs of one scope, and comparing its parts is cheaper than encoding them.
  #last: Shelf<E> | undefined;

  /** The entry at (scope, key). O(1). */
  get(scope: MemoryScope, key: string): E | undefined {
    return this.#shelfOf(scope)?.byKey.get(key);
  }

  /** Adds an entry where there is none. O(log n). */
  add(entry: E): void {
    let shelf = this.#shelfOf(entry.scope);
    if (shelf === undefined) {
      const { scope } = entry;
      shelf = { scope, byKey: new Map(), inOrder: new Ordered((a, b) => compareText(a.key, b.key)) };
      this.#byScope.set(placeOf(scope, ""), shelf);
      this.#shelves.add(shelf);
    }
    shelf.byKey.set(entry.key, entry);
    shelf.inOrder.add(entry);
  }

  /** Removes an entry. O(log n). */
  delete(entry: E): void {
    const shelf = this.#shelfOf(entry.scope);
    if (shelf === undefined || !shelf.byKey.delete(entry.key)) return;
    shelf.inOrder.delete(entry);
    if (shelf.byKey.size > 0) return;
    this.#byScope.delete(placeOf(entry.scope, ""));
    this.#shelves.delete(shelf);
    this.#last = undefined;
  }

  /**
   * The entries of a page request in (scope, key) order, strictly after its `after`; the caller stops at the limit.
   *
   * Costs what it gives and O(log n) for each scope that it looks into. `reach: "under"` looks into the scopes it contains
   * when the scope names its leading parts (tenant, user, session in that order), else it passes over those of the leading
   * ones.
   */
  *page({ scope, reach, keyPrefix = "", after }: Omit<KeyPageRequest, "limit">): Generator<E, void, undefined> {
    for (const shelf of this.#under(scope, reach, after?.scope)) {
      const last = after !== undefined && sameScope(shelf.scope, after.scope) ? after.key : undefined;
      const isBefore = ({ key }: E): boolean =>
        compareText(key, keyPrefix) < 0 || (last !== undefined && compareText(key, last) <= 0);
      for (const entry of shelf.inOrder.ascending(isBefore)) {
        if (!entry.key.startsWith(keyPrefix)) break;
        yield entry;
      }
    }
  }

  /** The entries with exactly this key, in scope order, strictly after `after`. O(1) for each scope that it looks into. */
  *named({ scope, reach, after }: Omit<KeyPageRequest, "limit">, key: string): Generator<E, void, undefined> {
    for (const shelf of this.#under(scope, reach, after?.scope)) {
      const entry = shelf.byKey.get(key);
      if (entry !== undefined && !(after !== undefined && sameScope(shelf.scope, after.scope))) yield entry;
    }
  }

  /** The entries under the target's scope, of its keys when it names some (then O(1) for each scope and key). */
  meant({ scope, reach, keys }: Pick<ErasureTarget, "scope" | "reach" | "keys">): E[] {
    const found = new Set<E>();
    for (const { byKey } of this.#under(scope, reach, undefined)) {
      for (const key of keys ?? byKey.keys()) {
        const entry = byKey.get(key);
        if (entry !== undefined) found.add(entry);
      }
    }
    return [...found];
  }

  #shelfOf(scope: MemoryScope): Shelf<E> | undefined {
    if (this.#last !== undefined && sameScope(this.#last.scope, scope)) return this.#last;
    const shelf = this.#byScope.get(placeOf(scope, ""));
    if (shelf !== undefined) this.#last = shelf;
    return shelf;
  }

  // The shelves of a scope in order, beginning at `from`.
  *#under(scope: MemoryScope, reach: MemoryReach, from: MemoryScope | undefined): Generator<Shelf<E>, void, undefined> {
    if (reach === "exact") {
      const shelf = this.#shelfOf(scope);
      if (shelf !== undefined) yield shelf;
      return;
    }
    const leading = leadingParts(scope);
    const start = from ?? leading;
    for (const shelf of this.#shelves.ascending((other) => compareScopes(other.scope, start) < 0)) {
      if (!containsScope(leading, shelf.scope)) return;
      if (containsScope(scope, shelf.scope)) yield shelf;
    }
  }
}

// The scope's parts up to the first that is absent: what lies under them stands together in the order of scopes.
function leadingParts({ tenantId, userId, sessionId, agent }: MemoryScope): MemoryScope {
  if (userId === undefined) return { tenantId };
  if (sessionId === undefined) return { tenantId, userId };
  return agent === undefined ? { tenantId, userId, sessionId } : { tenantId, userId, sessionId, agent };
}
