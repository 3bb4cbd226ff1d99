// One operation on a driver, tried until it is settled: gate, attempt under a deadline, judgement of the failure, backoff.
// Everything here happens once per operation of every store, so it is written for few allocations: no signal, no timer
// and no promise beyond the one that the caller waits for and the one that the driver gives.

import type { Clock } from "../clock.ts";
import { innermostCode } from "../model/cause.ts";
import type { DriverCall, MemoryDriver } from "../model/driver.ts";
import { MemoryUnavailableError, PoolExhaustedError } from "../model/errors.ts";
import type { EpochMs } from "../model/record.ts";
import { checkAnswer } from "./answers.ts";
import { DeadlineError } from "./deadline.ts";
import type { Gate } from "./gate.ts";
import { LazySignal, type Quiet } from "./lazy-signal.ts";
import { type RetrySettings, retryBudgetMs, retryDelayMs } from "./retry.ts";
import { hasWritten } from "./sections.ts";
import { judge } from "./verdict.ts";
import { type Watch, Watched } from "./watch.ts";

/** What the operations of one guarded driver share. */
export interface Surroundings {
  readonly driver: MemoryDriver;
  readonly clock: Clock;
  readonly entropy: () => number;
  readonly settings: RetrySettings;
  readonly gate: Gate;
  /** Attempts that are waited for. */
  readonly pending: Watch;
  /** Attempts that were given up and whose connection may still be busy. */
  readonly stray: Watch;
  /** From here on no attempt is begun any more. */
  readonly isTerminated: boolean;
  /** Called when an operation has settled. Must not throw. */
  settled(): void;
}

/** A driver's method, and whether it only reads. */
export interface Effect<Q, R> {
  readonly name: string;
  readonly isRead: boolean;
  run(request: Q, call: DriverCall): Promise<R>;
}

/** What is kept of the store's operation that an operation on a driver is a step of. */
export interface Progress {
  /** How many attempts its steps took so far, over all drivers it went to. */
  attempts: number;
  /** Whether any of its steps so far may have had an effect. */
  mayHaveEffect: boolean;
}

/** One operation. {@link Operation.begin} is called once; the promise's functions are called once. */
export class Operation<Q, R> {
  readonly around: Surroundings;
  readonly #effect: Effect<Q, R>;
  readonly #request: Q;
  readonly #call: DriverCall;
  readonly #progress: Progress | undefined;
  readonly #signal: AbortSignal | undefined;
  readonly #resolve: (value: R) => void;
  readonly #reject: (reason: unknown) => void;
  #attempts = 0;
  #mayHaveEffect = false;
  #lastError: unknown = undefined;
  #isSettled = false;
  #attempt: Attempt<Q, R> | undefined = undefined;
  #onAbort: (() => void) | undefined = undefined;

  constructor(
    around: Surroundings,
    effect: Effect<Q, R>,
    request: Q,
    call: DriverCall,
    progress: Progress | undefined,
    signal: AbortSignal | undefined,
    resolve: (value: R) => void,
    reject: (reason: unknown) => void,
  ) {
    this.around = around;
    this.#effect = effect;
    this.#request = request;
    this.#call = call;
    this.#progress = progress;
    this.#signal = signal;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  begin(): void {
    if (this.#signal !== undefined) {
      this.#onAbort = () => this.#abort();
      this.#signal.addEventListener("abort", this.#onAbort, { once: true });
    }
    this.#enter();
  }

  /** The attempt gave a value in time. */
  succeed(value: R): void {
    this.#settle();
    if (hasWritten(this.#effect.name, value)) this.#noteEffect();
    try {
      checkAnswer(this.#effect.name, value);
      this.#resolve(value);
    } catch (error) {
      this.#reject(error);
    }
  }

  /** The attempt failed in time. */
  fail(error: unknown): void {
    const { driver } = this.around;
    const verdict = judge(driver, error);
    const hadNoEffect = verdict.isExhausted || verdict.hadNoEffect || this.#effect.isRead;
    if (!hadNoEffect) this.#noteEffect();
    this.#lastError = error;
    if (verdict.raise !== undefined) this.#fail(verdict.raise);
    // "Exhausted" promises that nothing was begun; after an attempt that may have had an effect it would be a lie.
    else if (verdict.isExhausted && !this.#mayHaveEffect) this.#fail(refused(driver, this.around.gate, error));
    else if (verdict.isTransient && !verdict.isExhausted) this.#again();
    else this.#fail(this.#unavailable());
  }

  /** The attempt's time has passed. */
  expire(attempt: Attempt<Q, R>): void {
    const error = new DeadlineError();
    attempt.abandon(error);
    if (!this.#effect.isRead) this.#noteEffect();
    this.#lastError = error;
    this.#again();
  }

  #noteEffect(): void {
    this.#mayHaveEffect = true;
    if (this.#progress !== undefined) this.#progress.mayHaveEffect = true;
  }

  #enter(): void {
    const waiting = this.around.gate.enter(this.#signal);
    if (waiting === undefined) {
      this.#try();
      return;
    }
    waiting.then(
      () => {
        if (this.#isSettled) this.around.gate.leave();
        else this.#try();
      },
      (error: unknown) => {
        if (this.#isSettled) return;
        // Refused before the first attempt: nothing was begun. After one, what made it fail is the news.
        this.#fail(this.#attempts === 0 ? error : this.#unavailable());
      },
    );
  }

  #try(): void {
    const { around } = this;
    if (around.isTerminated) {
      around.gate.leave();
      this.#fail(this.#unavailable());
      return;
    }
    this.#attempts += 1;
    if (this.#progress !== undefined) this.#progress.attempts += 1;
    const attempt = new Attempt(this, this.#call.now, this.#attempts, this.#budgetMs());
    this.#attempt = attempt;
    around.pending.add(attempt);
    attempt.follow(this.#run(attempt));
  }

  #run(attempt: Attempt<Q, R>): Promise<R> {
    try {
      // Also a driver in plain JavaScript that forgot its promise, or a client's lazy thenable.
      return Promise.resolve(this.#effect.run(this.#request, attempt));
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /**
   * What is left by the count of attempts, not by the clock: a clock that is set forward must not make a driver forget a
   * token that the next attempt will ask for.
   */
  #budgetMs(): number {
    const { settings } = this.around;
    const { budgetMs } = this.#call;
    if (this.#attempts === 1) return budgetMs;
    const left = retryBudgetMs(settings, this.#attempts);
    return left + Math.max(0, budgetMs - retryBudgetMs(settings));
  }

  #again(): void {
    this.#attempt = undefined;
    const { clock, entropy, settings, isTerminated } = this.around;
    if (this.#attempts >= settings.maxAttempts || isTerminated) {
      this.#fail(this.#unavailable());
      return;
    }
    // A clock or an entropy that throws must not leave the caller waiting.
    const rest = new Promise<void>((begin) => {
      begin(clock.sleep(retryDelayMs(settings, this.#attempts, entropy), this.#signal));
    });
    rest.then(
      () => {
        if (!this.#isSettled) this.#enter();
      },
      () => {
        if (!this.#isSettled) this.#fail(this.#unavailable());
      },
    );
  }

  #abort(): void {
    if (this.#isSettled) return;
    const reason: unknown = this.#signal?.reason;
    this.#attempt?.abandon(reason);
    this.#fail(reason);
  }

  #fail(reason: unknown): void {
    this.#settle();
    this.#reject(reason);
  }

  #settle(): void {
    this.#isSettled = true;
    this.#attempt = undefined;
    if (this.#onAbort !== undefined) this.#signal?.removeEventListener("abort", this.#onAbort);
    this.around.settled();
  }

  #unavailable(): MemoryUnavailableError {
    const store = this.around.driver.name;
    const attempts = this.#attempts;
    const outcome = this.#mayHaveEffect ? "unknown" : "not-applied";
    const effect = outcome === "unknown" ? "whether it had an effect is unknown" : "it had no effect";
    const code = innermostCode(this.#lastError);
    const tried = `${attempts} ${attempts === 1 ? "attempt" : "attempts"}${code === undefined ? "" : ` (${code})`}`;
    const message = `${store}: the operation failed after ${tried}; ${effect}`;
    return new MemoryUnavailableError(message, { store, attempts, outcome }, this.#lastError);
  }
}

/** One call of the driver, and the slot in the gate that it occupies. */
class Attempt<Q, R> extends Watched implements DriverCall, Quiet {
  readonly now: EpochMs;
  readonly attempt: number;
  readonly budgetMs: number;
  readonly #operation: Operation<Q, R>;
  #lazy: LazySignal | undefined = undefined;
  #isAbandoned = false;
  #hasSlot = true;

  constructor(operation: Operation<Q, R>, now: EpochMs, attempt: number, budgetMs: number) {
    super();
    this.#operation = operation;
    this.now = now;
    this.attempt = attempt;
    this.budgetMs = budgetMs;
  }

  get signal(): AbortSignal {
    this.#lazy ??= new LazySignal();
    return this.#lazy.signal;
  }

  onAbort(stop: () => void): () => void {
    this.#lazy ??= new LazySignal();
    return this.#lazy.onAbort(stop);
  }

  follow(promise: Promise<R>): void {
    promise.then(
      (value) => {
        this.#release();
        if (!this.#isAbandoned) this.#operation.succeed(value);
      },
      (error: unknown) => {
        this.#release();
        if (!this.#isAbandoned) this.#operation.fail(error);
      },
    );
  }

  /**
   * Gives up waiting. The connection is busy until the driver settles, so the slot stays taken, but not for ever: a driver
   * that never settles gets as long again as an attempt may take.
   */
  abandon(reason: unknown): void {
    this.#isAbandoned = true;
    this.watch?.remove(this);
    this.#operation.around.stray.add(this);
    this.#lazy ??= new LazySignal();
    this.#lazy.abort(reason);
  }

  override expire(): void {
    if (this.#isAbandoned) this.#release();
    else this.#operation.expire(this);
  }

  #release(): void {
    this.watch?.remove(this);
    if (!this.#hasSlot) return;
    this.#hasSlot = false;
    this.#operation.around.gate.leave();
  }
}

function refused(driver: MemoryDriver, gate: Gate, cause: unknown): PoolExhaustedError {
  const store = driver.name;
  const message = `${store}: the server has no connection to spare; slow down, or give it more`;
  return new PoolExhaustedError(message, { store, queued: gate.queued }, cause);
}
