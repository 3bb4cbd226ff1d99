// Connections of our own, in place of the client's pool: the one that was busy last is the next (a pool in rotation is half
// as fast), and of several hosts the one that took writes last is the first to be asked, and left as soon as it fails.

import { DeadlineError } from "../rules/deadline.ts";
import type { MemoryStoreSettings } from "../settings.ts";
import type { Executor, Patience, Row, Statement, Step } from "../sql/executor.ts";
import type { PostgresJs } from "./client.ts";
import { isTransient } from "./client-side.ts";
import { ClosedConnectionError, NotSentError } from "./failures.ts";
import { pipeline, sequence } from "./send.ts";
import { Slot } from "./slot.ts";
import { type Host, readHosts } from "./socket.ts";

const noop = (): void => {};

/** Runs statements on connections that are made when they are needed. */
export class Pool implements Executor {
  readonly client: object = this;
  readonly concurrency: number;
  readonly #postgres: PostgresJs;
  readonly #settings: MemoryStoreSettings;
  readonly #hosts: readonly Host[];
  readonly #idle: Slot[] = [];
  readonly #all: Set<Slot> = new Set();
  readonly #waiting: PromiseWithResolvers<Slot>[] = [];
  /** Where a new connection begins: the host that served last, or the one after it where that has failed since. */
  #first = 0;
  #isClosed = false;

  /** Connections by `postgres`, the function that postgres.js exports. */
  constructor(postgres: PostgresJs, settings: MemoryStoreSettings) {
    this.#postgres = postgres;
    this.#settings = settings;
    this.concurrency = settings.poolSize;
    this.#hosts = readHosts(postgres, settings.dsn.reveal());
  }

  run(statement: Statement, patience: Patience): Promise<readonly Row[]> {
    return this.#lease((slot) => slot.send(statement, patience), patience);
  }

  batch(statements: readonly Statement[], patience: Patience): Promise<readonly (readonly Row[])[]> {
    return this.#lease(async (slot) => {
      const step: Step = (statement) => slot.send(statement, patience);
      // A statement that is not yet known to the server is described first, and what follows it waits outside of the
      // connection: should that close meanwhile, it would run on the next one, without its transaction.
      if (slot.knows(statements)) return await pipeline(step, statements);
      return await sequence(step, async (next) => {
        const all: (readonly Row[])[] = [];
        for (const statement of statements) all.push(await next(statement));
        return all;
      });
    }, patience);
  }

  transaction<R>(body: (step: Step) => Promise<R>, patience: Patience): Promise<R> {
    return this.#lease((slot) => sequence((statement) => slot.send(statement, patience), body), patience);
  }

  // A cancellation is waited for before the connection is used again.
  isStray(): boolean {
    return false;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const waiter of this.#waiting.splice(0)) waiter.reject(new NotSentError(new ClosedConnectionError()));
    await Promise.all([...this.#all].map((slot) => slot.end()));
    this.#all.clear();
  }

  async #lease<R>(body: (slot: Slot) => Promise<R>, patience: Patience): Promise<R> {
    if (this.#isClosed) throw new NotSentError(new ClosedConnectionError());
    const waits = this.#idle.length === 0 && this.#all.size >= this.concurrency;
    let slot = waits ? await this.#wait() : this.#take();
    try {
      // It may have waited for a connection longer than anybody waits for its answer.
      if (waits) patience.signal.throwIfAborted();
      for (let left = this.#hosts.length - 1; !slot.isOpen; left -= 1) {
        try {
          await slot.open(patience);
          this.#first = slot.host;
        } catch (error) {
          const { signal } = patience;
          const isGivenUp = signal.aborted && !(signal.reason instanceof DeadlineError);
          if (isGivenUp || !isTransient(error)) throw error;
          if (this.#first === slot.host) this.#first = this.#after(slot.host);
          if (left === 0 || signal.aborted || this.#isClosed) throw error;
          this.#drop(slot);
          slot = this.#make(this.#after(slot.host));
        }
      }
      return await body(slot);
    } finally {
      this.#give(slot);
    }
  }

  #after(host: number): number {
    return (host + 1) % this.#hosts.length;
  }

  #take(): Slot {
    for (;;) {
      const slot = this.#idle.pop();
      if (slot === undefined) return this.#make();
      if (slot.isFit()) return slot;
      this.#drop(slot);
    }
  }

  #wait(): Promise<Slot> {
    const waiter = Promise.withResolvers<Slot>();
    this.#waiting.push(waiter);
    return waiter.promise;
  }

  #make(host: number = this.#first): Slot {
    const slot = new Slot(this.#postgres, this.#settings, this.#hosts, host);
    this.#all.add(slot);
    return slot;
  }

  #give(slot: Slot): void {
    const isFit = slot.isFit() && !this.#isClosed;
    if (!isFit) this.#drop(slot);
    // What else goes there would fail the same way, one attempt after the other.
    if (slot.hasLostHost) for (const one of this.#idle.splice(0)) this.#drop(one);
    const next = this.#waiting.shift();
    if (next !== undefined) next.resolve(isFit ? slot : this.#make());
    else if (isFit) this.#idle.push(slot);
  }

  #drop(slot: Slot): void {
    this.#all.delete(slot);
    slot.end().catch(noop);
  }
}
