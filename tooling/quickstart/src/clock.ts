// The time of the conversations. A replay sets it to the instant of each turn, so that a store records each turn when it
// was said; waiting (retries, deadlines) really waits, as a server on the other side needs.

import { setTimeout as wait } from "node:timers/promises";
import type { Clock, EpochMs } from "@memory/core";

/** A clock that stands where it was set, and moves on by what was slept. */
export class StoryClock implements Clock {
  #now: EpochMs;

  constructor(start: EpochMs) {
    this.#now = start;
  }

  now(): EpochMs {
    return this.#now;
  }

  /** Moves to an instant; never back. */
  moveTo(instant: EpochMs): void {
    this.#now = Math.max(this.#now, instant);
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    const until = this.#now + ms;
    await wait(ms, undefined, signal === undefined ? {} : { signal });
    this.moveTo(until);
  }
}
