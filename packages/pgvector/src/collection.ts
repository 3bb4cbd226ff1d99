// A collection: vectors of one width, compared by one metric, in tables of one name. The same options find it that made it.

import { MemorySettingsError, type Metric } from "@memory/core/driver";
import { type CheckedLayout, checkIdentifier, checkLayout, type SchemaLayout } from "@memory/core/sql";
import { isMetric } from "./metric.ts";

/** What tells a collection from others. */
export interface CollectionOptions {
  /** The width of every vector, 1 to 16,000. */
  readonly dimensions: number;
  /** How resemblance is measured. Default `cosine`. */
  readonly metric?: Metric | undefined;
  /** The name of the table; those beside it begin with it. Up to 41 bytes. Default `semantic`. */
  readonly collection?: string | undefined;
  /** The database schema that the tables are in. Default `memory`. */
  readonly schema?: string | undefined;
  /**
   * The model that makes the vectors, as `name@version`: stamped on every row, so that the vectors of two models are never
   * ranked together unseen. Without quotes, backslashes and control characters, up to 256 characters.
   */
  readonly embedder?: string | undefined;
}

/** A collection with its defaults, and how its schema is laid out. */
export interface Collection extends CheckedLayout {
  readonly dimensions: number;
  readonly metric: Metric;
  readonly collection: string;
  readonly embedder: string | undefined;
}

/** The most that pgvector's type `vector` takes. */
const MOST_DIMENSIONS = 16_000;
/** The longest name that is made of a collection's. */
const LONGEST_SUFFIX = "_derivations_condemned";

/**
 * A collection's options with their defaults, checked.
 *
 * @throws {MemorySettingsError} An option is unknown or out of its range; `setting` names it.
 */
export function checkCollection(options: CollectionOptions & SchemaLayout): Collection {
  const { dimensions, metric = "cosine", collection = "semantic", embedder, ...layout } = options;
  if (!(Number.isInteger(dimensions) && dimensions >= 1 && dimensions <= MOST_DIMENSIONS)) {
    throw refusal("dimensions", `must be a whole number from 1 to ${MOST_DIMENSIONS}`);
  }
  if (!isMetric(metric)) throw refusal("metric", "must be cosine, l2 or inner");
  checkIdentifier(collection, "collection");
  checkIdentifier(`${collection}${LONGEST_SUFFIX}`, "collection");
  if (embedder !== undefined && !isStamp(embedder)) {
    throw refusal(
      "embedder",
      "must be 1 to 256 characters, without quotes, backslashes, control characters or outer blanks",
    );
  }
  return { ...checkLayout(layout), dimensions, metric, collection, embedder };
}

function isStamp(text: unknown): boolean {
  return typeof text === "string" && /^[^'"\\\p{C}]{1,256}$/u.test(text) && text.trim() === text;
}

function refusal(setting: string, problem: string): MemorySettingsError {
  return new MemorySettingsError(`${setting} ${problem}`, { setting });
}
