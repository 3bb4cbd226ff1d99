// One string for several parts, so that a map can be asked by scope and key at once. It stands alone because this is where
// two scopes would meet if the encoding were careless.

import type { MemoryScope } from "../model/scope.ts";

/** One text for a scope and a name (a key, an id) in it. */
export function placeOf(scope: MemoryScope, name: string): string {
  return encodeKey([scope.tenantId, scope.userId, scope.sessionId, scope.agent, name]);
}

/**
 * Joins parts into one text that no other parts give, and that sorts (in UTF-8 byte order) as the parts do, one by one,
 * absent ones first.
 *
 * The parts must be free of NUL, and an absent part is the same as an empty one: every door refuses NUL and blank parts in
 * scopes, keys, ids and names. Lists that are compared with each other have equally many parts.
 *
 * @example `encodeKey([scope.tenantId, scope.userId, key])`
 */
export function encodeKey(parts: readonly (string | undefined)[]): string {
  let text = parts[0] ?? "";
  for (let index = 1; index < parts.length; index += 1) text += `\u0000${parts[index] ?? ""}`;
  return text;
}
