// The names of everything in the server. Scope parts and keys are encoded so that no two places can meet in one name, and
// the tenant is the hash tag: all that is a tenant's lies in one slot, so that one script may touch it all.

import { type MemoryScope, MemorySettingsError } from "@memory/core";

/** The parts of a scope below its tenant, each encoded, joined by `:`; an absent part is empty. */
export type Place = string;

/** The names of one exact scope. */
export interface ScopeNames {
  readonly place: Place;
  /** Begins every record's name; the encoded key follows. */
  readonly records: string;
  /** Sorted set: the scope's keys by expiry. */
  readonly index: string;
  /** Hash: the tenant's era, generation and tombstones. */
  readonly meta: string;
  /** Sorted sets of places by the expiry of their index: all of the tenant, then one for each part that is named. */
  readonly registries: readonly string[];
  /** Sorted set: the tenant's derivations. */
  readonly derived: string;
}

/** The namespace where an option does not name another. */
export const DEFAULT_NAMESPACE = "adk:mem";

/** What a name cannot hold as it is: the separators, the escape itself, and controls. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: controls are what has to be found.
const RESERVED = /[%:{}\u0000-\u001f\u007f]/g;

/**
 * Checks a namespace: 1 to 128 characters, printable, without braces (they would move the hash tag) and white space.
 *
 * @throws {MemorySettingsError} `setting` is `namespace`.
 */
export function checkNamespace(namespace: unknown): string {
  if (typeof namespace === "string" && /^[^\s{}\p{C}]{1,128}$/u.test(namespace)) return namespace;
  throw new MemorySettingsError("namespace must be 1 to 128 characters without braces, white space and controls", {
    setting: "namespace",
  });
}

/** One part of a name: no two texts give the same, and `:`, braces and controls are not in it. */
export function encodePart(text: string | undefined): string {
  if (text === undefined) return "";
  RESERVED.lastIndex = 0;
  return RESERVED.test(text)
    ? text.replace(RESERVED, (char) => `%${char.charCodeAt(0).toString(16).padStart(2, "0")}`)
    : text;
}

function decodePart(text: string): string | undefined {
  if (text === "") return undefined;
  return text.replace(/%([0-9a-f]{2})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)));
}

/** The place of a scope. */
export function placeOf({ userId, sessionId, agent }: MemoryScope): Place {
  return `${encodePart(userId)}:${encodePart(sessionId)}:${encodePart(agent)}`;
}

/** The scope at a place of the tenant. */
export function scopeAt(tenantId: string, place: Place): MemoryScope {
  const [userId, sessionId, agent] = place.split(":").map(decodePart);
  return {
    tenantId,
    ...(userId === undefined ? {} : { userId }),
    ...(sessionId === undefined ? {} : { sessionId }),
    ...(agent === undefined ? {} : { agent }),
  };
}

/** How many scopes' names are remembered. */
const REMEMBERED = 1_000;

/** Makes names; those of the scopes used last are remembered, and those of a frozen scope with it. */
export class Names {
  readonly #namespace: string;
  readonly #frozen = new WeakMap<MemoryScope, ScopeNames>();
  #recent = new Map<string, ScopeNames>();

  constructor(namespace: string) {
    this.#namespace = namespace;
  }

  of(scope: MemoryScope): ScopeNames {
    const there = this.#frozen.get(scope);
    if (there !== undefined) return there;
    const made = this.#of(scope);
    if (Object.isFrozen(scope)) this.#frozen.set(scope, made);
    return made;
  }

  #of(scope: MemoryScope): ScopeNames {
    const { tenantId, userId, sessionId, agent } = scope;
    // NUL is refused in scopes, so this is injective.
    const name = `${tenantId}\u0000${userId ?? ""}\u0000${sessionId ?? ""}\u0000${agent ?? ""}`;
    const known = this.#recent.get(name);
    if (known !== undefined) return known;
    if (this.#recent.size >= REMEMBERED) this.#recent = new Map();
    const made = this.#make(scope);
    this.#recent.set(name, made);
    return made;
  }

  #make(scope: MemoryScope): ScopeNames {
    const tenant = `${this.#namespace}:{${encodePart(scope.tenantId)}}`;
    const place = placeOf(scope);
    const parts = [
      ["u", scope.userId],
      ["s", scope.sessionId],
      ["a", scope.agent],
    ] as const;
    return {
      place,
      records: `${tenant}:${place}:working:`,
      index: `${tenant}:${place}:index`,
      meta: `${tenant}:meta`,
      registries: [
        `${tenant}:scopes`,
        ...parts.flatMap(([letter, part]) =>
          part === undefined ? [] : [`${tenant}:scopes:${letter}:${encodePart(part)}`],
        ),
      ],
      derived: `${tenant}:derived`,
    };
  }
}
