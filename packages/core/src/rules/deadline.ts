// One piece of work under a deadline, for what happens seldom (closing, purging a derived index). Attempts of store
// operations are many and share one timer instead: rules/watch.

import type { Clock } from "../clock.ts";

/** Something did not answer in time. Internal: what callers see has this as its `cause`. */
export class DeadlineError extends Error {
  override readonly name = "TimeoutError";
  readonly code = "ETIMEDOUT";
  constructor() {
    super("no answer before the deadline");
  }
}

/**
 * Runs `start` and settles as it does, but rejects with {@link DeadlineError} once `ms` have passed and with the signal's
 * reason once `signal` aborts. In both cases the signal that `start` was given aborts, and how it settles later is
 * ignored. A `start` that throws is the same as one that rejects.
 */
export function withDeadline<T>(
  start: (signal: AbortSignal) => Promise<T>,
  options: { readonly clock: Clock; readonly ms: number; readonly signal?: AbortSignal | undefined },
): Promise<T> {
  const { clock, ms, signal } = options;
  if (signal?.aborted) return Promise.reject(signal.reason);
  return new Promise((resolve, reject) => {
    const work = new AbortController();
    const timer = new AbortController();
    const onAbort = () => giveUp(signal?.reason);
    const release = () => {
      timer.abort();
      signal?.removeEventListener("abort", onAbort);
    };
    const giveUp = (reason: unknown) => {
      release();
      reject(reason);
      work.abort(reason);
    };
    signal?.addEventListener("abort", onAbort, { once: true });
    clock.sleep(ms, timer.signal).then(
      () => giveUp(new DeadlineError()),
      () => undefined,
    );
    new Promise<T>((begin) => begin(start(work.signal))).finally(release).then(resolve, reject);
  });
}
