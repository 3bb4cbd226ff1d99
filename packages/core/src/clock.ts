// Time as a store sees it: what "now" is, and waiting. Everything that waits (backoff, queue, deadline) goes through the
// clock that the caller injected, so that a test moves time by hand.

import type { EpochMs } from "./model/record.ts";

// A longer delay overflows Node's timer and fires after 1 ms (Node.js API, timers, setTimeout).
const MAX_TIMER_MS = 2_147_483_647;

/** Where a store takes the time from. `sleep` and `now` must agree: after `sleep(ms)` resolved, `now()` is `ms` later. */
export interface Clock {
  /** The current instant, in whole milliseconds since the epoch. */
  now(): EpochMs;
  /** Resolves after `ms` milliseconds; rejects with the signal's reason as soon as `signal` aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** The machine's clock: the default of every store. Holds no state; any number of stores may share one. */
export class SystemClock implements Clock {
  now(): EpochMs {
    return Date.now();
  }

  /**
   * Waits on one native timer, which is cleared when `signal` aborts and keeps the process alive until then. `ms` is taken
   * into the timer's range, 0 to 2,147,483,647 (about 24.8 days); what is not a number waits as 0.
   */
  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) {
        reject(signal.reason);
        return;
      }
      const onAbort = () => {
        clearTimeout(timer);
        reject(signal?.reason);
      };
      const timer = setTimeout(
        () => {
          signal?.removeEventListener("abort", onAbort);
          resolve();
        },
        ms > 0 ? Math.min(ms, MAX_TIMER_MS) : 0,
      );
      signal?.addEventListener("abort", onAbort, { once: true });
    });
  }
}
