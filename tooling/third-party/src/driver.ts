// The driver: its sections over one connection.

import type { DatabaseSync } from "node:sqlite";
import type { Metric } from "@memory/core";
import { type MemoryDriver, MemorySettingsError } from "@memory/core/driver";
import { Connection } from "./connection.ts";
import { episodicSection } from "./episodic.ts";
import { erasureSection } from "./erasure.ts";
import { isBusy, toMemoryError } from "./errors.ts";
import { profileSection } from "./profile.ts";
import { semanticSection } from "./semantic.ts";
import { verify } from "./verify.ts";
import { type SqliteWorkingOptions, workingSection } from "./working.ts";

/** How the driver behaves; every option has a default. */
export interface SqliteDriverOptions extends SqliteWorkingOptions {
  /** The width of a vector, as the schema was made with. Default: the store holds no semantic memory. */
  readonly dimensions?: number | undefined;
  /** How resemblance is measured, as the schema was made with. Default `cosine`. */
  readonly metric?: Metric | undefined;
}

/**
 * A driver over a database connection, which is closed with it when `owns` says so.
 *
 * @throws {MemorySettingsError} An option is out of its range.
 */
export function sqliteDriver(database: DatabaseSync, options: SqliteDriverOptions = {}, owns = false): MemoryDriver {
  checkOptions(options);
  const { dimensions, metric = "cosine" } = options;
  const connection = new Connection(database);
  return {
    name: "sqlite",
    client: database,
    working: workingSection(connection, options),
    profile: profileSection(connection),
    episodic: episodicSection(connection),
    ...(dimensions === undefined ? {} : { semantic: semanticSection(connection, dimensions, metric) }),
    erasure: erasureSection(connection, dimensions !== undefined),
    verify: async () => verify(connection, { dimensions, metric }),
    isTransient: isBusy,
    isExhausted: () => false,
    hadNoEffect: (error) => connection.isUndone(error),
    toMemoryError,
    close: async () => {
      if (owns && database.isOpen) database.close();
    },
  };
}

function checkOptions(options: SqliteDriverOptions): void {
  for (const setting of ["ttlMs", "maxElements", "dimensions"] as const) {
    const value: unknown = options[setting];
    if (value !== undefined && !(Number.isSafeInteger(value) && Number(value) > 0)) {
      throw new MemorySettingsError(`${setting} is not a whole number above 0`, { setting });
    }
  }
  const { sliding, metric } = options;
  if (sliding !== undefined && typeof sliding !== "boolean") {
    throw new MemorySettingsError("sliding is not true or false", { setting: "sliding" });
  }
  if (metric !== undefined && !["cosine", "l2", "inner"].includes(metric)) {
    throw new MemorySettingsError("metric is none of cosine, l2, inner", { setting: "metric" });
  }
}
