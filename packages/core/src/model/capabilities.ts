// What a store can do, as its driver shows it, and the one check at start-up that an application makes of it.

import type { MemoryDriver } from "./driver.ts";
import { CapabilityError, MemoryRecordError } from "./errors.ts";
import { isPlainObject, type MemoryKind } from "./record.ts";

/** A capability that is there or not. */
export type MemoryCapability =
  | MemoryKind
  | "asOf"
  | "knownAt"
  | "supersession"
  | "erasure"
  | "erasureNarrowing"
  | "reach"
  | "filter";

/**
 * What a store can do; derived from the driver, never declared beside it.
 *
 * @sealed a minor may add capabilities.
 */
export interface MemoryCapabilities extends Readonly<Record<MemoryCapability, boolean>> {
  /** The width of a vector; `null` without the semantic kind. */
  readonly embeddingDimensions: number | null;
  /** The largest value, in UTF-8 JSON bytes. */
  readonly maxValueBytes: number;
}

/** What an application needs of a store. */
export type MemoryNeeds = Partial<Record<MemoryCapability, true>> & {
  /** The width of the vectors that it will index. */
  readonly embeddingDimensions?: number;
  /** The largest value that it will write, in UTF-8 JSON bytes. */
  readonly minValueBytes?: number;
};

// In the order in which a `CapabilityError` names them.
const MEMORY_CAPABILITIES: readonly MemoryCapability[] = [
  "working",
  "profile",
  "episodic",
  "semantic",
  "asOf",
  "knownAt",
  "supersession",
  "erasure",
  "erasureNarrowing",
  "reach",
  "filter",
];

/** What a driver can do; a table in `docs/capabilities.md` says which member gives which. */
export function deriveCapabilities(driver: MemoryDriver, maxValueBytes: number): MemoryCapabilities {
  const { working, profile, episodic, semantic, erasure } = driver;
  const lists = [working, profile, episodic, semantic].filter((section) => section !== undefined);
  const filtered = [episodic, semantic].filter((section) => section !== undefined);
  return Object.freeze({
    working: working !== undefined,
    profile: profile !== undefined,
    episodic: episodic !== undefined,
    semantic: semantic !== undefined,
    asOf: profile?.asOf === true,
    knownAt: profile?.knownAt === true,
    supersession: profile?.supersession === true,
    erasure: erasure !== undefined,
    erasureNarrowing: erasure?.narrowing === true && erasure.count !== undefined,
    reach: lists.length > 0 && lists.every((section) => section.under === true),
    filter: filtered.length > 0 && filtered.every((section) => section.filter === true),
    embeddingDimensions: semantic?.dimensions ?? null,
    maxValueBytes,
  });
}

/** Anything with capabilities and a name: a store. */
export interface Capable {
  readonly name: string;
  readonly capabilities: MemoryCapabilities;
}

/**
 * Checks at start-up that a store can do what the application needs, so that it fails there and not in front of a user.
 *
 * @throws {CapabilityError} Something is missing: `missing` names every one, `adapter` the store.
 * @throws {MemoryRecordError} `needs` names a capability that does not exist.
 */
export function requireMemory(store: Capable, needs: MemoryNeeds): void {
  if (!isPlainObject(needs)) throw new MemoryRecordError("needs is not an object", { path: "needs" });
  const missing: string[] = MEMORY_CAPABILITIES.filter((name) => needs[name] === true && !store.capabilities[name]);
  for (const [name, value] of Object.entries(needs)) {
    if (value === undefined) continue;
    const known: boolean =
      name === "embeddingDimensions" || name === "minValueBytes"
        ? Number.isSafeInteger(value) && Number(value) > 0
        : MEMORY_CAPABILITIES.some((flag) => flag === name) && value === true;
    if (!known)
      throw new MemoryRecordError("needs has an unknown capability or a bad value", { path: `needs.${name}` });
  }
  const { embeddingDimensions, minValueBytes } = needs;
  if (embeddingDimensions !== undefined && store.capabilities.embeddingDimensions !== embeddingDimensions) {
    missing.push("embeddingDimensions");
  }
  if (minValueBytes !== undefined && store.capabilities.maxValueBytes < minValueBytes) missing.push("minValueBytes");
  if (missing.length > 0) {
    throw new CapabilityError(`the store ${store.name} lacks: ${missing.join(", ")}`, {
      adapter: store.name,
      missing,
    });
  }
}
