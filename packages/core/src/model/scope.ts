// Whose memory it is. A scope is in the first argument of every operation; this file says what a valid one is, and how
// two of them compare. Nothing here trims, folds or normalises: parts are equal when their strings are equal.

import { MemoryScopeError } from "./errors.ts";
import { compareText, isWellFormedText, utf8Bytes } from "./json.ts";

/** Whose memory: a tenant, and inside it optionally a user, a session, an agent. Absent parts are `undefined`. */
export interface MemoryScope {
  readonly tenantId: string;
  readonly userId?: string | undefined;
  readonly sessionId?: string | undefined;
  readonly agent?: string | undefined;
}

/** Which scopes an operation takes: exactly the one given, or every scope that it contains. */
export type MemoryReach = "exact" | "under";

/** The parts of a scope in their order, which is the order that scopes sort in. */
export const SCOPE_PARTS: readonly ["tenantId", "userId", "sessionId", "agent"] = [
  "tenantId",
  "userId",
  "sessionId",
  "agent",
];

/** The largest scope part, in UTF-8 bytes. */
const MAX_SCOPE_PART_BYTES = 256;

// Scopes that were made here are frozen and known to be good, each its own value: checked once, not at every operation.
const known = new WeakMap<object, MemoryScope>();

/**
 * Validates a scope and gives it back frozen; one that came from here is recognised and costs nothing to pass again.
 *
 * @throws {MemoryScopeError} A part is missing, blank, not a string, over 256 UTF-8 bytes, or holds a NUL or a lone
 * surrogate; there is an unknown property; or it is no plain object.
 */
export function memoryScope(input: MemoryScope): MemoryScope {
  return parseScope(input);
}

/** {@link memoryScope} of what need not be a scope. @throws {MemoryScopeError} */
export function parseScope(input: unknown): MemoryScope {
  const there = typeof input === "object" && input !== null ? known.get(input) : undefined;
  if (there !== undefined) return there;
  const scope = checkedScope(input);
  known.set(scope, scope);
  return scope;
}

/** Whether `outer` contains `inner`: every part that `outer` names is equal in `inner`. */
export function containsScope(outer: MemoryScope, inner: MemoryScope): boolean {
  return SCOPE_PARTS.every((part) => outer[part] === undefined || outer[part] === inner[part]);
}

/** Whether both name the same parts with the same values. */
export function sameScope(a: MemoryScope, b: MemoryScope): boolean {
  return a.tenantId === b.tenantId && a.userId === b.userId && a.sessionId === b.sessionId && a.agent === b.agent;
}

/** The order of scopes where lists need one: by tenant, user, session, agent in UTF-8 byte order, absent parts first. */
export function compareScopes(a: MemoryScope, b: MemoryScope): number {
  for (const part of SCOPE_PARTS) {
    const order = compareText(a[part] ?? "", b[part] ?? "");
    if (order !== 0) return order;
  }
  return 0;
}

function checkedScope(input: unknown): MemoryScope {
  if (typeof input !== "object" || input === null || Array.isArray(input)) {
    throw new MemoryScopeError(
      "a scope is missing: pass { tenantId, userId?, sessionId?, agent? } as the first argument",
      { path: "scope" },
    );
  }
  // What a prototype gives could be an unknown property, or one that is not seen: either widens the scope.
  const prototype: unknown = Object.getPrototypeOf(input);
  if (prototype !== null && Object.getPrototypeOf(prototype) !== null) {
    throw new MemoryScopeError("a scope is not a plain object; pass { tenantId, userId?, sessionId?, agent? }", {
      path: "scope",
    });
  }
  for (const name of Reflect.ownKeys(input)) {
    if (!SCOPE_PARTS.some((part) => part === name)) {
      throw new MemoryScopeError(
        "a scope has an unknown property (its name is in `error.path`); it holds tenantId, userId, sessionId and agent only",
        { path: String(name) },
      );
    }
  }
  const scope: { tenantId?: string; userId?: string; sessionId?: string; agent?: string } = {};
  for (const part of SCOPE_PARTS) {
    const value: unknown = Object.hasOwn(input, part) ? Reflect.get(input, part) : undefined;
    if (value === undefined && part !== "tenantId") continue;
    scope[part] = parsePart(part, value);
  }
  return Object.freeze({ ...scope, tenantId: scope.tenantId ?? "" });
}

function parsePart(part: string, value: unknown): string {
  if (typeof value !== "string") {
    throw new MemoryScopeError(
      `scope.${part} is ${value === undefined ? "missing" : "not a string"}; leave a part out where there is none`,
      { path: part },
    );
  }
  if (value.trim() === "") {
    throw new MemoryScopeError(`scope.${part} is blank; leave a part out where there is none`, { path: part });
  }
  if (!isWellFormedText(value)) {
    throw new MemoryScopeError(`scope.${part} holds a NUL or a lone surrogate`, { path: part });
  }
  if (value.length > MAX_SCOPE_PART_BYTES / 3 && utf8Bytes(value) > MAX_SCOPE_PART_BYTES) {
    throw new MemoryScopeError(`scope.${part} is over ${MAX_SCOPE_PART_BYTES} UTF-8 bytes`, { path: part });
  }
  return value;
}
