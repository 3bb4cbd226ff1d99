// Cursors: where a list goes on. A cursor is opaque, carries its version, and is bound to the store kind, the operation,
// the scope and the query that it came from: used with any other it is refused, so that no page mixes two lists.

import { createHash } from "node:crypto";
import { MemoryCursorError } from "../model/errors.ts";
import { isWellFormedText, utf8Bytes } from "../model/json.ts";
import { isInstant, MAX_KEY_BYTES } from "../model/record.ts";
import { containsScope, type MemoryScope, memoryScope, sameScope } from "../model/scope.ts";

const VERSION = 1;

/** What a position is made of. */
export type CursorPart = string | number;

/** The list that a cursor belongs to. */
export interface CursorBinding {
  readonly store: string;
  readonly operation: string;
  readonly scope: MemoryScope;
  /** Everything of the query that decides which rows it has and in what order (not the limit). */
  readonly query: readonly unknown[];
}

/** Writes a position of the list as a cursor. */
export function writeCursor(binding: CursorBinding, scope: MemoryScope, parts: readonly CursorPart[]): string {
  const place = [scope.userId ?? null, scope.sessionId ?? null, scope.agent ?? null];
  return Buffer.from(JSON.stringify([VERSION, digest(binding), place, parts])).toString("base64url");
}

/**
 * Reads a cursor of the list back.
 *
 * @param shape The types of the parts.
 * @throws {MemoryCursorError} It is damaged, of another version, or belongs to another list.
 */
export function readCursor(
  binding: CursorBinding,
  reach: "exact" | "under",
  cursor: string,
  shape: readonly ("string" | "number")[],
): { readonly scope: MemoryScope; readonly parts: readonly CursorPart[] } {
  const [version, bound, place, parts] = parse(cursor);
  if (version !== VERSION) throw new MemoryCursorError("the cursor is of another version, or damaged");
  if (bound !== digest(binding)) {
    throw new MemoryCursorError("the cursor belongs to another scope, query or store: begin again without one");
  }
  if (!isParts(parts) || parts.length !== shape.length || !parts.every((part, i) => typeof part === shape[i])) {
    throw new MemoryCursorError("the cursor is damaged");
  }
  const scope = placeScope(binding.scope, place);
  const within = reach === "under" ? containsScope(binding.scope, scope) : sameScope(binding.scope, scope);
  if (!within) throw new MemoryCursorError("the cursor is damaged");
  return { scope, parts };
}

function parse(cursor: string): readonly unknown[] {
  try {
    const read: unknown = JSON.parse(Buffer.from(cursor, "base64url").toString());
    if (Array.isArray(read) && read.length === 4) return read;
  } catch {
    // Not JSON: damaged, as below.
  }
  throw new MemoryCursorError("the cursor is damaged");
}

function placeScope(bound: MemoryScope, place: unknown): MemoryScope {
  if (Array.isArray(place) && place.length === 3) {
    const [userId, sessionId, agent]: readonly unknown[] = place;
    try {
      const parts = Object.entries({ userId, sessionId, agent }).filter(([, part]) => part !== null);
      return memoryScope({ ...Object.fromEntries(parts), tenantId: bound.tenantId });
    } catch {
      // An invalid part: damaged, as below.
    }
  }
  throw new MemoryCursorError("the cursor is damaged");
}

// Nothing but what a record can have: a server would refuse the rest, and not as a cursor.
function isParts(parts: unknown): parts is readonly CursorPart[] {
  return Array.isArray(parts) && parts.every((part) => (typeof part === "string" ? isName(part) : isInstant(part)));
}

function isName(part: string): boolean {
  return part !== "" && utf8Bytes(part) <= MAX_KEY_BYTES && isWellFormedText(part);
}

// JSON of a fixed array of parts is injective, and absent parts are null.
function digest({ store, operation, scope, query }: CursorBinding): string {
  const bound = [store, operation, scope.tenantId, scope.userId, scope.sessionId, scope.agent, query];
  return createHash("sha256").update(JSON.stringify(bound)).digest("base64url").slice(0, 22);
}
