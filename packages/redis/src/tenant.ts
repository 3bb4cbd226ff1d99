// A tenant's bookkeeping, read: which erasures are under way and what they hide, and which scopes there are.

import type { MemoryReach, MemoryScope } from "@memory/core";
import { containsScope, sameScope } from "@memory/core/driver";
import { type Names, type Place, placeOf, scopeAt } from "./keys.ts";
import { SURVEY, WHOLE } from "./lua.ts";
import { type RedisClient, type ScriptReply, type Scripts, textsOf } from "./script.ts";

/** An erasure under way: of a scope (and what is under it), or of one key there. */
export interface Tombstone {
  /** Its field in the tenant's hash, and what stands there. */
  readonly name: string;
  readonly value: string;
  readonly scope: MemoryScope;
  readonly reach: MemoryReach;
  readonly key: string | undefined;
  /** The greatest generation of records hidden. */
  readonly hidden: number;
  /** The same of derivations of other kinds than working; -1: none. */
  readonly hiddenDerivations: number;
}

/** The bookkeeping at one instant. */
export class Tenant {
  /** `undefined`: the tenant has none. */
  readonly era: string | undefined;
  readonly tombstones: readonly Tombstone[];
  /** Rows removed so far, by the name of their tombstone. */
  readonly tallies: ReadonlyMap<string, number>;
  /** Heads of records erased by key (with the place), and the generation hidden. */
  readonly notes: readonly { readonly place: Place; readonly head: string; readonly hidden: number }[];

  constructor(tenantId: string, reply: ScriptReply) {
    const fields = textsOf(reply);
    const tombstones: Tombstone[] = [];
    const tallies = new Map<string, number>();
    const notes: { place: Place; head: string; hidden: number }[] = [];
    let era: string | undefined;
    for (let at = 0; at < fields.length; at += 2) {
      const name = fields[at] ?? "";
      const value = fields[at + 1] ?? "";
      const kind = name[0] ?? "";
      if (name === "e") era = value;
      else if (kind === "c") tallies.set(name.slice(1), Number(value));
      else if (kind === "i") {
        const split = name.indexOf("\u0000");
        notes.push({ place: name.slice(1, split), head: name.slice(split + 1), hidden: Number(value) });
      } else if ("txky".includes(kind) && name.length > 1) tombstones.push(readTombstone(tenantId, name, value));
    }
    this.era = era;
    this.tombstones = tombstones;
    this.tallies = tallies;
    this.notes = notes;
  }

  /** The greatest generation hidden in a scope (of the key there, too, when given); -1 when nothing is. */
  hiddenUpTo(scope: MemoryScope, key?: string): number {
    let hidden = -1;
    for (const tombstone of this.tombstones) {
      if (tombstone.key !== undefined && tombstone.key !== key) continue;
      if (covers(tombstone, scope)) hidden = Math.max(hidden, tombstone.hidden);
    }
    return hidden;
  }
}

/** Whether the tombstone means this exact scope. */
export function covers({ scope: of, reach }: Pick<Tombstone, "scope" | "reach">, scope: MemoryScope): boolean {
  return reach === "exact" ? sameScope(of, scope) : containsScope(of, scope);
}

/** Whether all that the tombstone means lies in a target. */
export function isWithin(tombstone: Tombstone, scope: MemoryScope, reach: MemoryReach): boolean {
  if (reach === "under") return containsScope(scope, tombstone.scope);
  return tombstone.reach === "exact" && sameScope(scope, tombstone.scope);
}

/** The name of a tombstone. */
export function tombstoneName(scope: MemoryScope, reach: MemoryReach, key?: string): string {
  if (key === undefined) return `${reach === "under" ? "t" : "x"}${placeOf(scope)}`;
  return `${reach === "under" ? "k" : "y"}${placeOf(scope)}:${key}`;
}

/** Reads bookkeeping. */
export class Tenants {
  readonly #client: RedisClient;
  readonly #scripts: Scripts;
  readonly #names: Names;

  constructor(client: RedisClient, scripts: Scripts, names: Names) {
    this.#client = client;
    this.#scripts = scripts;
    this.#names = names;
  }

  async survey(scope: MemoryScope): Promise<Tenant> {
    return new Tenant(scope.tenantId, await this.#scripts.run(SURVEY, [this.#names.of(scope).meta], []));
  }

  /** The places that may lie under the scope, from the narrowest registry; each that was there throughout, once or more. */
  async *places(scope: MemoryScope): AsyncGenerator<readonly Place[], void, undefined> {
    const { registries } = this.#names.of(scope);
    const [all = "", ...named] = registries;
    // The named parts, user before session before agent: a session has the fewest scopes as a rule.
    const narrowest = scope.sessionId !== undefined && scope.userId !== undefined ? named[1] : named[0];
    const isWhole = async (name: string): Promise<boolean> => (await this.#scripts.run(WHOLE, [all, name], [])) === 1;
    if (narrowest !== undefined && (await isWhole(narrowest))) {
      yield* this.#placesIn(narrowest);
      // Evicted under the walk: what it has missed stands in the tenant's own.
      if (await isWhole(narrowest)) return;
    }
    yield* this.#placesIn(all);
  }

  async *#placesIn(registry: string): AsyncGenerator<readonly Place[], void, undefined> {
    for await (const entries of this.entries(registry, 500)) {
      yield entries.flatMap(([place]) => (place.startsWith("\u0000") ? [] : [place]));
    }
  }

  /** A sorted set of ours, in pages of about `count`; what was there throughout comes once or more. */
  async *entries(name: string, count: number): AsyncGenerator<readonly (readonly [string, number])[], void, undefined> {
    let cursor = "0";
    do {
      await this.#scripts.ready();
      const [next, flat] = await this.#client.zscan(name, cursor, "COUNT", count);
      const page: [string, number][] = [];
      for (let at = 0; at < flat.length; at += 2) page.push([String(flat[at]), scoreOf(String(flat[at + 1]))]);
      yield page;
      cursor = next;
    } while (cursor !== "0");
  }
}

function scoreOf(text: string): number {
  return text === "inf" ? Number.POSITIVE_INFINITY : Number(text);
}

function readTombstone(tenantId: string, name: string, value: string): Tombstone {
  const kind = name[0];
  const parts = name.slice(1).split(":");
  const isKeyed = kind === "k" || kind === "y";
  const [hidden = "-1", hiddenDerivations = "-1"] = value.split(":");
  return {
    name,
    value,
    scope: scopeAt(tenantId, parts.slice(0, 3).join(":")),
    reach: kind === "t" || kind === "k" ? "under" : "exact",
    key: isKeyed ? parts.slice(3).join(":") : undefined,
    hidden: Number(hidden),
    hiddenDerivations: Number(hiddenDerivations),
  };
}
