// Bounded concurrency in front of a client: so many calls in flight, so many waiting, the rest refused at once. Clients
// queue without limit by themselves, and postgres.js has been seen to misplace a BEGIN when they do (porsager/postgres
// #1189), so nothing reaches a client that it has no connection for.

import type { Clock } from "../clock.ts";
import { PoolExhaustedError } from "../model/errors.ts";
import { createWatch, type Watch, Watched } from "./watch.ts";

/** How much a gate lets through and how long it lets wait. */
export interface GateLimits {
  /** The adapter's name, for errors. */
  readonly store: string;
  readonly clock: Clock;
  /** How many may be inside at once; `Infinity` for no bound. */
  readonly limit: number;
  /** How many may wait; 0: none. */
  readonly maxQueued: number;
  /** How long, in milliseconds, one may wait. */
  readonly queueTimeoutMs: number;
}

/** Lets so many in at once, the others in the order in which they came. */
export class Gate {
  readonly #room: Room;
  readonly #store: string;
  readonly #maxQueued: number;
  readonly #watch: Watch;

  /** With `room` it is another door to the same room: counts and queue are shared, the limits on waiting are its own. */
  constructor(limits: GateLimits, room: Room = new Room(limits.limit)) {
    this.#room = room;
    this.#store = limits.store;
    this.#maxQueued = limits.maxQueued;
    this.#watch = createWatch(limits.clock, limits.queueTimeoutMs, { keepsAlive: true });
  }

  /** How many are waiting. */
  get queued(): number {
    return this.#room.queued;
  }

  /** How many are inside. */
  get inside(): number {
    return this.#room.inside;
  }

  /**
   * Enters, synchronously where there is room (`undefined`: you are in; nothing was allocated), otherwise in turn. Whoever
   * has entered calls {@link Gate.leave} exactly once. An aborted waiter rejects with the signal's reason and gives up its place.
   *
   * @throws {PoolExhaustedError} As a rejection: too many wait already, or none left in time.
   */
  enter(signal?: AbortSignal): Promise<void> | undefined {
    const room = this.#room;
    if (room.inside < room.limit) {
      room.inside += 1;
      return undefined;
    }
    if (signal?.aborted) return Promise.reject(signal.reason);
    if (room.queued >= this.#maxQueued) {
      return Promise.reject(exhausted(this.#store, room.queued, "too many calls are waiting for a connection already"));
    }
    return new Promise((resolve, reject) => {
      const waiter = new Waiter(room, this.#store, signal, resolve, reject);
      room.line(waiter);
      this.#watch.add(waiter);
    });
  }

  /** Leaves, and lets the next one in. */
  leave(): void {
    const room = this.#room;
    room.inside -= 1;
    if (room.queued > 0) room.admit();
  }
}

/**
 * The gate of a client object. All gates of one client share one room, with the smallest limit that any of them named;
 * how long and how many may wait is each one's own.
 */
export function gateOf(client: object, limits: GateLimits): Gate {
  let room = rooms.get(client);
  if (room === undefined) {
    room = new Room(limits.limit);
    rooms.set(client, room);
  }
  room.limit = Math.min(room.limit, limits.limit);
  return new Gate(limits, room);
}

/** What the gates of one client share. Internal to this file; exported for the type of {@link Gate}'s constructor. */
export class Room {
  limit: number;
  inside = 0;
  queued = 0;
  #first: Waiter | undefined = undefined;
  #last: Waiter | undefined = undefined;

  constructor(limit: number) {
    this.limit = limit;
  }

  line(waiter: Waiter): void {
    waiter.ahead = this.#last;
    if (this.#last === undefined) this.#first = waiter;
    else this.#last.behind = waiter;
    this.#last = waiter;
    this.queued += 1;
  }

  drop(waiter: Waiter): void {
    const { ahead, behind } = waiter;
    if (ahead === undefined) this.#first = behind;
    else ahead.behind = behind;
    if (behind === undefined) this.#last = ahead;
    else behind.ahead = ahead;
    waiter.ahead = waiter.behind = undefined;
    this.queued -= 1;
  }

  admit(): void {
    while (this.#first !== undefined && this.inside < this.limit) {
      this.inside += 1;
      this.#first.admit();
    }
  }
}

// Module state, because two stores over one client object must find the same room, and nothing but the client connects
// them. It holds no client alive.
const rooms = new WeakMap<object, Room>();

class Waiter extends Watched {
  ahead: Waiter | undefined = undefined;
  behind: Waiter | undefined = undefined;
  readonly #room: Room;
  readonly #store: string;
  readonly #signal: AbortSignal | undefined;
  readonly #resolve: () => void;
  readonly #reject: (reason: unknown) => void;
  readonly #onAbort = (): void => this.#refuse(this.#signal?.reason);

  constructor(
    room: Room,
    store: string,
    signal: AbortSignal | undefined,
    resolve: () => void,
    reject: (reason: unknown) => void,
  ) {
    super();
    this.#room = room;
    this.#store = store;
    this.#signal = signal;
    this.#resolve = resolve;
    this.#reject = reject;
    signal?.addEventListener("abort", this.#onAbort, { once: true });
  }

  admit(): void {
    this.#depart();
    this.#resolve();
  }

  override expire(): void {
    this.#refuse(exhausted(this.#store, this.#room.queued, "no connection came free in time"));
  }

  #refuse(reason: unknown): void {
    this.#depart();
    this.#reject(reason);
  }

  #depart(): void {
    this.#room.drop(this);
    this.watch?.remove(this);
    this.#signal?.removeEventListener("abort", this.#onAbort);
  }
}

function exhausted(store: string, queued: number, what: string): PoolExhaustedError {
  return new PoolExhaustedError(`${store}: ${what}; slow down, or raise the pool's size or queue`, { store, queued });
}
