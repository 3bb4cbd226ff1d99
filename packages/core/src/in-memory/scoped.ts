// What is listed in an order of its own (episodes by time, derivations by artefact) and asked for by scope. An item stands
// in one list for its exact scope and in one for each leading run of its parts, so that a page under a tenant, a user or a
// session costs what it gives.

import { containsScope, type MemoryReach, type MemoryScope } from "../model/scope.ts";
import { encodeKey } from "../rules/key.ts";
import { Ordered } from "./ordered.ts";

/** Sorted sets by scope. */
export class Scoped<T extends { readonly scope: MemoryScope }> {
  readonly #compare: (a: T, b: T) => number;
  readonly #lists = new Map<string, Ordered<T>>();

  /** @param compare The order of the items; see {@link Ordered}. */
  constructor(compare: (a: T, b: T) => number) {
    this.#compare = compare;
  }

  /** Adds an item; nothing when an equal one is there. O(log n). */
  add(item: T): void {
    for (const name of listsOf(item.scope)) {
      let list = this.#lists.get(name);
      if (list === undefined) {
        list = new Ordered(this.#compare);
        this.#lists.set(name, list);
      }
      list.add(item);
    }
  }

  /** Removes an item. O(log n). */
  delete(item: T): void {
    for (const name of listsOf(item.scope)) {
      const list = this.#lists.get(name);
      if (list?.delete(item) === true && list.size === 0) this.#lists.delete(name);
    }
  }

  /** The items of a scope that are not `below`, upwards. A scope with gaps (a tenant's agent) walks its leading parts. */
  *ascending(scope: MemoryScope, reach: MemoryReach, below?: (item: T) => boolean): Generator<T, void, undefined> {
    const list = this.#lists.get(listFor(scope, reach));
    if (list !== undefined) for (const item of list.ascending(below)) if (isIn(item, scope, reach)) yield item;
  }

  /** The items of a scope that are `below`, downwards; else as {@link Scoped.ascending}. */
  *descending(scope: MemoryScope, reach: MemoryReach, below?: (item: T) => boolean): Generator<T, void, undefined> {
    const list = this.#lists.get(listFor(scope, reach));
    if (list !== undefined) for (const item of list.descending(below)) if (isIn(item, scope, reach)) yield item;
  }
}

function isIn(item: { readonly scope: MemoryScope }, scope: MemoryScope, reach: MemoryReach): boolean {
  return reach === "exact" || containsScope(scope, item.scope);
}

function listsOf({ tenantId, userId, sessionId, agent }: MemoryScope): string[] {
  const names = [encodeKey(["=", tenantId, userId, sessionId, agent]), encodeKey(["tenant", tenantId])];
  if (userId === undefined) return names;
  names.push(encodeKey(["user", tenantId, userId]));
  if (sessionId !== undefined) names.push(encodeKey(["session", tenantId, userId, sessionId]));
  return names;
}

// The shortest list that holds everything asked for.
function listFor(scope: MemoryScope, reach: MemoryReach): string {
  const { tenantId, userId, sessionId, agent } = scope;
  const isWhole = userId !== undefined && sessionId !== undefined && agent !== undefined;
  if (reach === "exact" || isWhole) return encodeKey(["=", tenantId, userId, sessionId, agent]);
  if (userId === undefined) return encodeKey(["tenant", tenantId]);
  if (sessionId === undefined) return encodeKey(["user", tenantId, userId]);
  return encodeKey(["session", tenantId, userId, sessionId]);
}
