// Deadlines for many short waits of one length. Because all of them last equally long, the one that began first ends
// first: they stand in a FIFO list, and one timer for its head is enough. A wait that ends in time costs two list steps.
//
// Under `SystemClock` that is one native timer, armed only for what is still pending when the event loop comes round;
// under any other clock it is one `clock.sleep`.

import { type Clock, SystemClock } from "../clock.ts";

/** Something that waits, to be added to one {@link Watch} at a time. The fields belong to the watch. */
export abstract class Watched {
  watch: WatchList | undefined = undefined;
  previous: Watched | undefined = undefined;
  next: Watched | undefined = undefined;
  /** When it is over, by the watch's own time; 0 until the watch has set it. */
  deadline = 0;
  /** Its time has passed: it was taken off the watch just before this call. Must not throw. */
  abstract expire(): void;
}

/** A set of waits of one length. */
export interface Watch {
  /** Begins a wait. */
  add(entry: Watched): void;
  /** Ends a wait before its time; nothing when it is not on this watch. */
  remove(entry: Watched): void;
}

/**
 * A watch on waits of `ms` milliseconds. With `keepsAlive` the process stays up while something waits, and exits freely
 * when nothing does; without it never holds the process (under a clock that is not `SystemClock`, that is the clock's to say).
 */
export function createWatch(clock: Clock, ms: number, options: { readonly keepsAlive: boolean }): Watch {
  // A subclass may have a `sleep` or `now` of its own, so only the class itself is taken for the machine's time.
  const isSystem = Object.getPrototypeOf(clock) === SystemClock.prototype;
  return isSystem ? new TimerWatch(ms, options.keepsAlive) : new SleepWatch(clock, ms);
}

abstract class WatchList implements Watch {
  protected head: Watched | undefined = undefined;
  protected tail: Watched | undefined = undefined;

  abstract add(entry: Watched): void;
  abstract remove(entry: Watched): void;

  protected append(entry: Watched): void {
    const { tail } = this;
    entry.watch = this;
    entry.previous = tail;
    if (tail === undefined) this.head = entry;
    else tail.next = entry;
    this.tail = entry;
  }

  protected unlink(entry: Watched): void {
    const { previous, next } = entry;
    if (previous === undefined) this.head = next;
    else previous.next = next;
    if (next === undefined) this.tail = previous;
    else next.previous = previous;
    entry.watch = entry.previous = entry.next = undefined;
  }
}

class TimerWatch extends WatchList {
  readonly #ms: number;
  readonly #keepsAlive: boolean;
  /** The first entry whose deadline is not set yet; all after it are without one, too. */
  #fresh: Watched | undefined = undefined;
  #isStampDue = false;
  #timer: NodeJS.Timeout | undefined = undefined;
  #isHolding = false;
  readonly #stamp = (): void => this.#stampFresh();
  readonly #fire = (): void => this.#deferExpiry();
  readonly #expire = (): void => this.#expireDue();

  constructor(ms: number, keepsAlive: boolean) {
    super();
    this.#ms = ms;
    this.#keepsAlive = keepsAlive;
  }

  add(entry: Watched): void {
    entry.deadline = 0;
    this.append(entry);
    this.#fresh ??= entry;
    if (this.#isStampDue) return;
    // The time is read once for everything that is still pending when the loop comes round, not once per wait.
    this.#isStampDue = true;
    this.#soon(this.#stamp);
  }

  remove(entry: Watched): void {
    if (entry.watch !== this) return;
    if (this.#fresh === entry) this.#fresh = entry.next;
    this.unlink(entry);
    if (this.head === undefined && this.#isHolding) {
      this.#isHolding = false;
      this.#timer?.unref();
    }
  }

  #soon(step: () => void): void {
    const immediate = setImmediate(step);
    if (!this.#keepsAlive) immediate.unref();
  }

  #stampFresh(): void {
    this.#isStampDue = false;
    const now = performance.now();
    for (let entry = this.#fresh; entry !== undefined; entry = entry.next) entry.deadline = now + this.#ms;
    this.#fresh = undefined;
    this.#arm(now);
  }

  /** Sees to it that a timer fires no later than the head's deadline; one that was armed for an earlier head will do. */
  #arm(now: number): void {
    if (this.head === undefined) return;
    if (this.#timer === undefined) {
      this.#timer = setTimeout(this.#fire, Math.max(1, Math.ceil(this.head.deadline - now)));
      if (!this.#keepsAlive) this.#timer.unref();
      this.#isHolding = this.#keepsAlive;
    } else if (this.#keepsAlive && !this.#isHolding) {
      this.#isHolding = true;
      this.#timer.ref();
    }
  }

  /** After a blocked event loop timers run before sockets are read: an answer that lies there already comes first. */
  #deferExpiry(): void {
    this.#timer = undefined;
    this.#isHolding = false;
    if (this.head !== undefined) this.#soon(this.#expire);
  }

  #expireDue(): void {
    const now = performance.now();
    for (let entry = this.head; entry !== undefined && isDue(entry, now); entry = this.head) {
      this.remove(entry);
      entry.expire();
    }
    if (this.head !== undefined && this.head.deadline !== 0) this.#arm(now);
  }
}

// Node's timers count whole milliseconds and may fire up to one early by `performance.now()`.
function isDue(entry: Watched, now: number): boolean {
  return entry.deadline !== 0 && entry.deadline <= now + 1;
}

class SleepWatch extends WatchList {
  readonly #clock: Clock;
  readonly #ms: number;
  #sleeping: AbortController | undefined = undefined;
  #isCancelDue = false;

  constructor(clock: Clock, ms: number) {
    super();
    this.#clock = clock;
    this.#ms = ms;
  }

  add(entry: Watched): void {
    entry.deadline = this.#clock.now() + this.#ms;
    this.append(entry);
    if (this.#sleeping === undefined) this.#sleepUntil(entry.deadline, this.#ms);
  }

  remove(entry: Watched): void {
    if (entry.watch !== this) return;
    this.unlink(entry);
    if (this.head !== undefined || this.#sleeping === undefined || this.#isCancelDue) return;
    // Not at once: the next operation of this turn can use the same sleep.
    this.#isCancelDue = true;
    setImmediate(() => {
      this.#isCancelDue = false;
      if (this.head === undefined) this.#cancel();
    });
  }

  #cancel(): void {
    const sleeping = this.#sleeping;
    this.#sleeping = undefined;
    sleeping?.abort();
  }

  #sleepUntil(wake: number, ms: number): void {
    const sleeping = new AbortController();
    this.#sleeping = sleeping;
    this.#clock.sleep(ms, sleeping.signal).then(
      () => {
        if (this.#sleeping === sleeping) this.#expireDue(wake);
      },
      () => {
        if (this.#sleeping === sleeping) this.#sleeping = undefined;
      },
    );
  }

  #expireDue(wake: number): void {
    // A sleep that ended counts as passed even where `now()` says otherwise; a fixed clock would loop here for ever.
    const now = Math.max(this.#clock.now(), wake);
    this.#sleeping = undefined;
    for (let entry = this.head; entry !== undefined && entry.deadline <= now; entry = this.head) {
      this.unlink(entry);
      entry.expire();
    }
    if (this.head !== undefined && this.#sleeping === undefined) {
      this.#sleepUntil(this.head.deadline, this.head.deadline - now);
    }
  }
}
