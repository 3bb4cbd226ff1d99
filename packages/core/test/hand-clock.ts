// A clock for core's own unit tests that moves by hand only. (The one that callers get is in `@memory/testing`, which core
// must not know.)

import type { Clock } from "../src/clock.ts";

interface Sleeper {
  readonly due: number;
  wake(): void;
}

/** Stands still until `advance`; notes the length of every sleep that was asked for. */
export class HandClock implements Clock {
  readonly sleeps: number[] = [];
  #now: number;
  readonly #sleepers: Set<Sleeper> = new Set();

  constructor(now = 1_000_000) {
    this.#now = now;
  }

  now(): number {
    return this.#now;
  }

  get sleepers(): number {
    return this.#sleepers.size;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    this.sleeps.push(ms);
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const abort = () => {
        if (this.#sleepers.delete(sleeper)) reject(signal?.reason);
      };
      const sleeper: Sleeper = {
        due: this.#now + ms,
        wake: () => {
          this.#sleepers.delete(sleeper);
          signal?.removeEventListener("abort", abort);
          resolve();
        },
      };
      this.#sleepers.add(sleeper);
      signal?.addEventListener("abort", abort, { once: true });
    });
  }

  /** Moves on and lets everything that it woke run. */
  async advance(ms: number): Promise<void> {
    this.#now += ms;
    const due = [...this.#sleepers].filter((sleeper) => sleeper.due <= this.#now).sort((a, b) => a.due - b.due);
    for (const sleeper of due) sleeper.wake();
    await turn();
  }
}

/** Lets everything that is ready run, and the event loop come round once. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
