// The in-memory driver: all four kinds and their erasure, in this process. It is the executable reference of the driver
// contract. Every call is one synchronous step inside its promise, so nothing is ever seen half done.

import type { MemoryDriver, Metric } from "../model/driver.ts";
import { MemorySettingsError } from "../model/errors.ts";
import { MEMORY_KINDS, type MemoryKind } from "../model/record.ts";
import { episodicMemory } from "./episodic.ts";
import { erasureOf } from "./erasure.ts";
import { profileMemory } from "./profile.ts";
import { semanticMemory } from "./semantic.ts";
import { workingMemory } from "./working.ts";

/** A section of the driver. */
export type InMemorySection = MemoryKind | "erasure";

/** How an in-memory driver behaves; every option has a default. */
export interface InMemoryDriverOptions {
  /** How long a working record lives after each write and append, in milliseconds. Default: it does not expire. */
  readonly ttlMs?: number | undefined;
  /** Reading a working record re-arms `ttlMs`, unless an explicit `expire` holds. Default `false`. */
  readonly sliding?: boolean | undefined;
  /** The most elements a sequence may hold. Default 1,000,000. */
  readonly maxElements?: number | undefined;
  /** The width of a vector. Default 384. */
  readonly embeddingDimensions?: number | undefined;
  /** How resemblance is measured. Default `cosine`. */
  readonly metric?: Metric | undefined;
  /** The largest value in UTF-8 JSON bytes. Default 16 MiB. */
  readonly maxValueBytes?: number | undefined;
  /** Sections to leave out, so that a store of fewer kinds can be tried. Default: none. */
  readonly without?: readonly InMemorySection[] | undefined;
}

const SECTIONS: readonly InMemorySection[] = [...MEMORY_KINDS, "erasure"];
const METRICS: readonly Metric[] = ["cosine", "l2", "inner"];
const COUNTS: readonly ("ttlMs" | "maxElements" | "embeddingDimensions" | "maxValueBytes")[] = [
  "ttlMs",
  "maxElements",
  "embeddingDimensions",
  "maxValueBytes",
];

/**
 * A driver that keeps everything in this process, and nothing beyond it.
 *
 * One record among many is found in O(1), and a page costs what it returns, also with `reach: "under"` for a tenant, a
 * user or a session; a scope with gaps (a tenant's agent) walks the scopes, or episodes, of its leading parts. A search looks
 * at every record under its scope.
 *
 * @throws {MemorySettingsError} An option is out of its range.
 */
export function inMemoryDriver(options: InMemoryDriverOptions = {}): MemoryDriver {
  checkOptions(options);
  const has = (section: InMemorySection): boolean => options.without?.includes(section) !== true;
  const { ttlMs, sliding = false, maxElements = 1_000_000, embeddingDimensions = 384, metric = "cosine" } = options;
  const working = has("working") ? workingMemory({ ttlMs, sliding, maxElements }) : undefined;
  const profile = has("profile") ? profileMemory() : undefined;
  const episodic = has("episodic") ? episodicMemory() : undefined;
  const semantic = has("semantic") ? semanticMemory(embeddingDimensions, metric) : undefined;
  const kinds = [working, profile, episodic, semantic].filter((kind) => kind !== undefined);
  return {
    name: "in-memory",
    ...(options.maxValueBytes === undefined ? {} : { maxValueBytes: options.maxValueBytes }),
    ...(working === undefined ? {} : { working: working.section }),
    ...(profile === undefined ? {} : { profile: profile.section }),
    ...(episodic === undefined ? {} : { episodic: episodic.section }),
    ...(semantic === undefined ? {} : { semantic: semantic.section }),
    ...(has("erasure") ? { erasure: erasureOf(kinds) } : {}),
    isTransient: () => false,
    isExhausted: () => false,
    close: async () => {},
  };
}

function checkOptions(options: InMemoryDriverOptions): void {
  for (const setting of COUNTS) {
    const value = options[setting];
    if (value !== undefined && !(Number.isSafeInteger(value) && value > 0)) {
      throw new MemorySettingsError(`${setting} is not a whole number above 0`, { setting });
    }
  }
  const { sliding, metric, without } = options;
  if (sliding !== undefined && typeof sliding !== "boolean") {
    throw new MemorySettingsError("sliding is not true or false", { setting: "sliding" });
  }
  if (metric !== undefined && !METRICS.includes(metric)) {
    throw new MemorySettingsError(`metric is none of ${METRICS.join(", ")}`, { setting: "metric" });
  }
  if (without !== undefined && !(Array.isArray(without) && without.every((section) => SECTIONS.includes(section)))) {
    throw new MemorySettingsError(`without names something else than ${SECTIONS.join(", ")}`, { setting: "without" });
  }
}
