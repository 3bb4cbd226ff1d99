// The store that callers name: core's store over the drivers of others.

import { DriverMemoryStore } from "@memory/core/driver";
import { composeDriver } from "./driver.ts";
import { distinctMembers, type RoutedMembers } from "./members.ts";
import { composeOptions, type RoutedMemoryStoreOptions } from "./options.ts";

/**
 * Several stores as one: each kind in the member that holds it, every rule once, above all of them, and each member's own
 * gate, retries and deadlines in front of it. `verify` and `close` reach all members and report every failure. An
 * erasure hides what is meant in all members, then purges what was derived, then removes; a member that is down is
 * `outstanding` in the `PartialErasureError`, and running it again finishes. It takes neither `kinds`, `keys`, `reach` nor
 * `dryRun`.
 */
export class RoutedMemoryStore extends DriverMemoryStore {
  /**
   * @throws {MemorySettingsError} A kind is held by no member or by two (every such kind and its members are named), a
   * member is no store that `createMemoryStore` made, members disagree about an option, or an option is refused.
   */
  constructor(members: RoutedMembers, options: RoutedMemoryStoreOptions = {}) {
    const distinct = distinctMembers(members);
    super(composeDriver(distinct), composeOptions(distinct, options));
  }
}
