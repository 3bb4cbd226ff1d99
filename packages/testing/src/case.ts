// What a conformance case is: one promise of the protocol as data, with the code that proves it over any store. Whether
// it applies is read from the store's capabilities and from what the target offers, never from an option of the suite.

import type { MemoryNeeds } from "@memory/core";
import type { CaseContext } from "./context.ts";

/** What a target may offer beside a store: `elapse` moves the server's expiry, `corrupt` damages a stored record. */
export type CaseHook = "elapse" | "corrupt";

/** One promise of the protocol, executable over any store. */
export interface ConformanceCase {
  /** `<concern>/<slug>`: unique and stable, for it is public API (`working/append-position-counts-from-one`). */
  readonly id: string;
  /** The promise, one sentence in the present tense, as `docs/protocol.md` prints it. */
  readonly promise: string;
  /**
   * The version of the suite that brought the case, `x.y.z`; default: the first release. A target that is held to an
   * earlier version is told what would fail, and does not fail for it.
   */
  readonly since?: string;
  /** The capabilities without which the case does not apply. */
  readonly needs: MemoryNeeds;
  /** What the target must offer; without it the case is skipped with that reason. */
  readonly hooks?: readonly CaseHook[];
  /** Rejects when the store breaks the promise. Makes its own tenant, so that cases can run side by side. */
  run(context: CaseContext): Promise<void>;
  /**
   * Runs in the case's place over a store that does not meet `needs`: proves that the operation is refused there. Default:
   * a plain operation of each capability that is missing is refused with `CapabilityError`.
   */
  readonly refusal?: (context: CaseContext) => Promise<void>;
}

/** The concern that a case belongs to: its id's first part. */
export function concernOf(one: Pick<ConformanceCase, "id">): string {
  return one.id.slice(0, one.id.indexOf("/"));
}
