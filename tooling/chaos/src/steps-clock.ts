// A clock that is moved while it is read: forth and back, as machines' clocks are when somebody sets them.

import { type Clock, type EpochMs, SystemClock } from "@memory/core";

/** The machine's clock and an offset. Waiting takes as long as it takes, wherever the hands are moved meanwhile. */
export class StepsClock implements Clock {
  offsetMs = 0;
  readonly #system: SystemClock = new SystemClock();

  now(): EpochMs {
    return this.#system.now() + this.offsetMs;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return this.#system.sleep(ms, signal);
  }
}
