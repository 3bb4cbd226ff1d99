// A clock that a test moves by hand. Nothing of a store that is given one looks at the machine's time, so instants in
// assertions are exact; sleepers (backoff, deadlines) are released by moving it, and by real time unless it is manual.

import type { Clock, EpochMs } from "@memory/core";

interface Sleeper {
  readonly due: EpochMs;
  release(): void;
}

/** A clock that stands still until it is moved. */
export class FakeClock implements Clock {
  #now: EpochMs;
  readonly #manual: boolean;
  readonly #sleepers: Set<Sleeper> = new Set();

  /**
   * @param start Where it stands at first; default: the machine's time, rounded down to a whole second.
   * @param options With `manual`, a sleeper wakes only when the clock is moved. Otherwise it also wakes once its time has
   * really passed (which moves the clock there), so that a retry against a real server goes on without help.
   */
  constructor(start?: EpochMs, options?: { readonly manual?: boolean }) {
    this.#now = start ?? Math.floor(Date.now() / 1_000) * 1_000;
    this.#manual = options?.manual ?? false;
  }

  now(): EpochMs {
    return this.#now;
  }

  /** How many are asleep. */
  get sleepers(): number {
    return this.#sleepers.size;
  }

  /** Moves on by `ms` (a negative number moves back) and wakes, in order, whoever is due. */
  advance(ms: number): void {
    this.set(this.#now + ms);
  }

  /** Moves to an instant, forwards or back, and wakes, in order, whoever is due. */
  set(instant: EpochMs): void {
    this.#now = instant;
    const due = [...this.#sleepers].filter((one) => one.due <= instant).sort((a, b) => a.due - b.due);
    for (const one of due) one.release();
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true) {
        reject(signal.reason);
        return;
      }
      let timer: NodeJS.Timeout | undefined;
      const leave = () => {
        clearTimeout(timer);
        this.#sleepers.delete(sleeper);
        signal?.removeEventListener("abort", abort);
      };
      const abort = () => {
        leave();
        reject(signal?.reason);
      };
      const sleeper: Sleeper = {
        due: this.#now + ms,
        release: () => {
          leave();
          resolve();
        },
      };
      this.#sleepers.add(sleeper);
      signal?.addEventListener("abort", abort);
      // A timer takes a delay of 31 bits at most; longer ones would fire at once.
      if (!this.#manual && ms < 2 ** 31) timer = setTimeout(() => this.set(Math.max(this.#now, sleeper.due)), ms);
    });
  }

  /**
   * Waits for `work`, moving the clock on to the next sleeper whenever nothing else is left to do: hours of backoff
   * pass in no time. Only for work that waits on nothing but this clock.
   */
  async settle<T>(work: Promise<T>): Promise<T> {
    let settled = false;
    const mark = () => {
      settled = true;
    };
    work.then(mark, mark);
    while (!settled) {
      for (let turn = 0; turn < 5 && !settled; turn++) await new Promise<void>((resolve) => setImmediate(resolve));
      if (settled) break;
      const next = Math.min(...[...this.#sleepers].map((one) => one.due));
      if (Number.isFinite(next)) this.set(Math.max(this.#now, next));
    }
    return work;
  }
}
