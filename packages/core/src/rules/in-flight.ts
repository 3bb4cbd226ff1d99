// What closing is about: how much is under way, waiting for it to end, and what comes too late. The store counts its
// operations by it, the guard of a driver its calls.

import type { Clock } from "../clock.ts";
import { MemoryUnavailableError } from "../model/errors.ts";
import { withDeadline } from "./deadline.ts";

/** Counts what is under way. */
export class InFlight {
  #count = 0;
  #drained: (() => void) | undefined = undefined;

  enter(): void {
    this.#count += 1;
  }

  leave(): void {
    this.#count -= 1;
    if (this.#count === 0) this.#drained?.();
  }

  /** Waits, `ms` at most, until nothing is under way; tells whether it came to that. To be called once. */
  async drain(clock: Clock, ms: number): Promise<boolean> {
    if (this.#count === 0) return true;
    const drained = new Promise<void>((resolve) => {
      this.#drained = resolve;
    });
    return await withDeadline(() => drained, { clock, ms }).then(
      () => true,
      () => false,
    );
  }
}

/** What a call on a closed store rejects with. */
export function closedError(store: string): MemoryUnavailableError {
  return new MemoryUnavailableError(`${store}: the store is closed`, { store, attempts: 0, outcome: "not-applied" });
}
