// The places of a run: the tenants, scopes and keys of one store, few enough that callers meet, named so that they begin
// like each other, and all with the canary in them. What is written there says which call wrote it.

import type { JsonValue, MemoryScope } from "@memory/core";
import { containsScope, sameScope } from "@memory/core/driver";

/** What stands at a key; by the key's first letter. */
export type PlaceKind = "register" | "brief" | "sequence" | "fact" | "branch" | "episode" | "vector";

const letters: Readonly<Record<string, PlaceKind>> = {
  r: "register",
  x: "brief",
  q: "sequence",
  f: "fact",
  b: "branch",
  e: "episode",
  v: "vector",
};

/** Which scopes an erasure of the workload may name: a tenant that is erased, one of which a user is, one that is not. */
export type Fate = "erased" | "touched" | "kept";

/** The scopes of one store in a run, and the texts of everything in them. */
export interface World {
  readonly canary: string;
  readonly scopes: readonly MemoryScope[];
  /** By the scope's number. */
  readonly fates: readonly Fate[];
}

const FATES: readonly (readonly [Fate, string])[] = [
  ["erased", "t"],
  ["touched", "t1"],
  ["kept", "t10"],
];

/** The world of a store: three tenants of its own, six scopes in each, of which some contain others. */
export function worldOf(canary: string, store: string): World {
  const scopes: MemoryScope[] = [];
  const fates: Fate[] = [];
  for (const [fate, name] of FATES) {
    const tenantId = `${canary}:${store}:${name}`;
    const [one, other] = [`${canary} u1`, `${canary} u10`];
    const parts = [
      {},
      { userId: one },
      { userId: one, sessionId: `${canary}*s` },
      { userId: other },
      { userId: other, sessionId: `${canary}*s`, agent: `${canary}{g}` },
      { sessionId: `${canary}*s` },
    ];
    for (const part of parts) {
      scopes.push({ tenantId, ...part });
      fates.push(fate);
    }
  }
  return { canary, scopes, fates };
}

/** The scope of this number. @throws {RangeError} There is none. */
export function scopeAt(world: World, number: number): MemoryScope {
  const scope = world.scopes[number];
  if (scope === undefined) throw new RangeError(`no scope ${number}`);
  return scope;
}

/** The number of this scope, or -1 where it is none of the world's. */
export function numberOf(world: World, scope: MemoryScope): number {
  return world.scopes.findIndex((one) => sameScope(one, scope));
}

/** The numbers of the scopes that a list with this reach looks into. */
export function reached(world: World, number: number, reach: "exact" | "under"): readonly number[] {
  if (reach === "exact") return [number];
  const outer = scopeAt(world, number);
  return world.scopes.flatMap((inner, at) => (containsScope(outer, inner) ? [at] : []));
}

/** The key as stores see it. */
export function keyText(world: World, key: string): string {
  return `${key}%${world.canary}`;
}

/** The key of such a text; `undefined` where it is none of the world's. */
export function keyOf(world: World, text: string): string | undefined {
  const end = `%${world.canary}`;
  return text.endsWith(end) ? text.slice(0, -end.length) : undefined;
}

/** What stands at the key. @throws {RangeError} It is none of the world's. */
export function kindOf(key: string): PlaceKind {
  const kind = letters[key[0] ?? ""];
  if (kind === undefined) throw new RangeError(`no place is called ${key}`);
  return kind;
}

/** What an item's writing stores as its value: which item it is, and the canary, with `pad` more bytes. */
export function payload(world: World, item: string, pad = 0): JsonValue {
  return { item, canary: world.canary, ...(pad === 0 ? {} : { pad: world.canary.repeat(Math.ceil(pad / 12)) }) };
}

/** The item whose value this is, or `undefined` where it is not a whole value of this world. */
export function itemOf(world: World, value: unknown): string | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const item: unknown = Reflect.get(value, "item");
  return typeof item === "string" && Reflect.get(value, "canary") === world.canary ? item : undefined;
}

/** The vector that belongs to an item, of this width: a value and another's vector are a record in halves. */
export function vectorOf(item: string, width: number): readonly number[] {
  let hash = 2_166_136_261;
  for (const character of item) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 16_777_619) >>> 0;
  return Array.from({ length: width }, (_, at) => {
    hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d) >>> 0;
    return at === 0 ? 1 : Math.fround((hash % 2_001) / 1_000 - 1);
  });
}
