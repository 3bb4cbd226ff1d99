// The executable reference: all four kinds in one process, no network. Where an adapter and this store disagree, one of
// them has a bug. Also the store to write an application's own tests against.

import { type InMemoryDriverOptions, type InMemorySection, inMemoryDriver } from "./in-memory/driver.ts";
import { MemorySettingsError } from "./model/errors.ts";
import type { MemoryStoreOptions } from "./store/context.ts";
import { DriverMemoryStore } from "./store.ts";

export { type InMemoryDriverOptions, type InMemorySection, inMemoryDriver };

/** What {@link InMemoryMemoryStore} takes: what every store does, and what its driver does. */
export interface InMemoryMemoryStoreOptions extends MemoryStoreOptions, InMemoryDriverOptions {}

/**
 * A store whose records live in this process and go with it. Every promise of the protocol holds, expiry by the store's
 * clock included. One key among a million is not a scan, and a page costs what it returns.
 */
export class InMemoryMemoryStore extends DriverMemoryStore {
  /** @throws {MemorySettingsError} An option is unknown, of a wrong type, or out of bounds. */
  constructor(options: InMemoryMemoryStoreOptions = {}) {
    if (typeof options !== "object" || options === null) {
      throw new MemorySettingsError("a store's options are not an object", { setting: "options" });
    }
    const { ttlMs, sliding, maxElements, embeddingDimensions, metric, without, ...rest } = options;
    const own = {
      ttlMs,
      sliding,
      maxElements,
      embeddingDimensions,
      metric,
      without,
      maxValueBytes: rest.maxValueBytes,
    };
    const given = Object.fromEntries(Object.entries(own).filter(([, value]) => value !== undefined));
    super(inMemoryDriver(given), rest);
  }
}
