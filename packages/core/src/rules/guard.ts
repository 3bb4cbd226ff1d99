// A driver made safe to call: the same sections, each method behind the gate, the deadlines and the retries, and all of
// it closable. Adapters need know nothing of this; the store above knows only that every promise settles.

import type { Clock } from "../clock.ts";
import type { DriverCall, MemoryDriver } from "../model/driver.ts";
import { isMemoryError, MemoryUnavailableError } from "../model/errors.ts";
import type { EpochMs } from "../model/record.ts";
import { type Effect, Operation, type Progress, type Surroundings } from "./attempts.ts";
import { withDeadline } from "./deadline.ts";
import { type Gate, gateOf } from "./gate.ts";
import { closedError, InFlight } from "./in-flight.ts";
import { LazySignal } from "./lazy-signal.ts";
import type { RetrySettings } from "./retry.ts";
import { isRead, type Run, type Wrap, wrapMethods } from "./sections.ts";
import { createWatch, type Watch } from "./watch.ts";

/** The settings that a guard goes by. */
export interface GuardSettings extends RetrySettings {
  readonly maxQueued: number;
}

/** What a guard needs beside the driver. */
export interface GuardOptions {
  readonly clock: Clock;
  /** Jitter: 0..1, as `Math.random`. */
  readonly entropy: () => number;
  readonly settings: GuardSettings;
}

/** A driver whose every call settles within its budget. */
export interface GuardedDriver extends MemoryDriver {
  readonly guarded: true;
  /**
   * Refuses new calls, waits up to `deadlineMs` (default `attemptTimeoutMs`) for those in flight, then closes the driver,
   * waiting `attemptTimeoutMs` at most. Every call of it gives the same promise.
   *
   * @throws {MemoryUnavailableError} As a rejection: the driver could not be closed, or not in time.
   */
  close(deadlineMs?: number): Promise<void>;
}

// Registered, so that the guards of another copy of this package keep its progress too.
const CALL = Symbol.for("@memory/core/call");

/** What accompanies one store operation down into its drivers; the guard makes a call of its own per attempt out of it. */
export class OperationCall implements DriverCall, Progress {
  readonly now: EpochMs;
  readonly attempt = 1;
  readonly budgetMs: number;
  /** The caller's own signal, if one was given. */
  readonly callerSignal: AbortSignal | undefined;
  attempts = 0;
  mayHaveEffect: boolean;
  #own: LazySignal | undefined = undefined;
  #signal: AbortSignal | undefined = undefined;

  static {
    Object.defineProperty(OperationCall.prototype, CALL, { value: true });
  }

  constructor(details: {
    readonly now: EpochMs;
    readonly budgetMs: number;
    readonly signal?: AbortSignal | undefined;
    /** Whether what it goes on with may have had an effect already. */
    readonly mayHaveEffect?: boolean | undefined;
  }) {
    this.mayHaveEffect = details.mayHaveEffect ?? false;
    this.now = details.now;
    this.budgetMs = details.budgetMs;
    this.callerSignal = details.signal;
  }

  /** Aborts with the caller's signal, or when the operation is given up. */
  get signal(): AbortSignal {
    this.#own ??= new LazySignal();
    this.#signal ??=
      this.callerSignal === undefined ? this.#own.signal : AbortSignal.any([this.callerSignal, this.#own.signal]);
    return this.#signal;
  }

  /** Gives the operation up: its deadline has passed. */
  abandon(reason: unknown): void {
    this.#own ??= new LazySignal();
    this.#own.abort(reason);
  }
}

/**
 * Puts the guard around a driver: the same name, flags and optional members. A driver that says it is `guarded` already
 * gets only the handling of `close`; its members bound their own calls and their own closing.
 *
 * A method of the result rejects with the driver's own `MemoryError`s as they are, and otherwise:
 * with the caller's reason, at once, when its signal aborts (also while queueing or backing off);
 * with `PoolExhaustedError` when the gate or the server has no room, before anything was done;
 * with `MemoryUnavailableError` when it is closed, failed for good, or failed as often as it may.
 */
export function guardDriver(driver: MemoryDriver, options: GuardOptions): GuardedDriver {
  const guard = new Guard(driver, options);
  const wrap: Wrap = driver.guarded ? (_name, run) => guard.pass(run) : (name, run) => guard.around(name, run);
  const { client, concurrency, maxValueBytes } = driver;
  const guarded: GuardedDriver = {
    name: driver.name,
    guarded: true,
    ...(concurrency === undefined ? {} : { concurrency }),
    ...(maxValueBytes === undefined ? {} : { maxValueBytes }),
    ...wrapMethods(driver, wrap),
    isTransient: (error) => driver.isTransient(error),
    isExhausted: (error) => driver.isExhausted(error),
    ...(driver.hadNoEffect === undefined ? {} : { hadNoEffect: (error) => driver.hadNoEffect?.(error) ?? false }),
    ...(driver.toMemoryError === undefined ? {} : { toMemoryError: (error) => driver.toMemoryError?.(error) }),
    close: (deadlineMs) => guard.close(deadlineMs),
  };
  // Clients print their passwords (ioredis #1229), so that none hangs where `util.inspect` looks.
  return client === undefined ? guarded : Object.defineProperty(guarded, "client", { value: client });
}

class Guard implements Surroundings {
  readonly driver: MemoryDriver;
  readonly clock: Clock;
  readonly entropy: () => number;
  readonly settings: GuardSettings;
  readonly gate: Gate;
  readonly pending: Watch;
  readonly stray: Watch;
  isTerminated = false;
  readonly #inFlight: InFlight = new InFlight();
  #closing: Promise<void> | undefined = undefined;

  constructor(driver: MemoryDriver, { clock, entropy, settings }: GuardOptions) {
    this.driver = driver;
    this.clock = clock;
    this.entropy = entropy;
    this.settings = settings;
    this.gate = gateOf(driver.client ?? driver, {
      store: driver.name,
      clock,
      limit: driver.concurrency ?? Number.POSITIVE_INFINITY,
      maxQueued: settings.maxQueued,
      queueTimeoutMs: settings.queueTimeoutMs,
    });
    this.pending = createWatch(clock, settings.attemptTimeoutMs, { keepsAlive: true });
    this.stray = createWatch(clock, settings.attemptTimeoutMs, { keepsAlive: false });
  }

  around<Q, R>(name: string, run: Run<Q, R>): Run<Q, R> {
    const effect: Effect<Q, R> = { name, isRead: isRead(name), run };
    return (request, call) => {
      if (this.#closing !== undefined) return Promise.reject(closedError(this.driver.name));
      // Reading `signal` of a call of another make would make one; of ours the caller's own is known.
      const own = isOperationCall(call) ? call : undefined;
      const signal = own === undefined ? call.signal : own.callerSignal;
      if (signal?.aborted) return Promise.reject(signal.reason);
      this.#inFlight.enter();
      return new Promise((resolve, reject) => {
        new Operation(this, effect, request, call, own, signal, resolve, reject).begin();
      });
    };
  }

  pass<Q, R>(run: Run<Q, R>): Run<Q, R> {
    return (request, call) => {
      if (this.#closing !== undefined) return Promise.reject(closedError(this.driver.name));
      try {
        return run(request, call);
      } catch (error) {
        return Promise.reject(error);
      }
    };
  }

  settled(): void {
    this.#inFlight.leave();
  }

  close(deadlineMs: number = this.settings.attemptTimeoutMs): Promise<void> {
    this.#closing ??= this.#close(deadlineMs);
    return this.#closing;
  }

  async #close(deadlineMs: number): Promise<void> {
    await this.#inFlight.drain(this.clock, deadlineMs);
    this.isTerminated = true;
    const { clock, driver } = this;
    try {
      // Members of a composition wait for their own calls first; all of it together has one deadline.
      if (driver.guarded) await driver.close(deadlineMs);
      else await withDeadline(() => driver.close(), { clock, ms: this.settings.attemptTimeoutMs });
    } catch (error) {
      if (isMemoryError(error)) throw error;
      throw new MemoryUnavailableError(
        `${driver.name}: the connection could not be closed in order`,
        { store: driver.name, attempts: 1, outcome: "unknown" },
        error,
      );
    }
  }
}

function isOperationCall(call: DriverCall): call is OperationCall {
  return CALL in call;
}
