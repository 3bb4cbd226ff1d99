// Connections of our own: one postgres.js client of one connection each, thrown away together. That gives what its pool
// lacks: the connection that was busy last is the next (a pool in rotation is half as fast), a connection that fell silent
// can be closed, a cancelled statement never stops its neighbour, and nothing of a dead connection is used again (a client
// that reconnects may never send another byte: postgres.js 3.4.9, `nextWriteTimer` after `closed`).

import type { Socket } from "node:net";
import type { MemoryStoreSettings } from "../settings.ts";
import type { Executor, Patience, Row, Statement, Step } from "../sql/executor.ts";
import type { PostgresJs, PostgresJsClient, PostgresJsOptions } from "./client.ts";
import { endsConnection, endsTransaction, pipeline, type Sent, send, sequence } from "./send.ts";
import { type Host, openSocket, readHosts } from "./socket.ts";

/** How long a connection is used before a new one takes its place, so that a new primary or a new address is found. */
const LIFETIME_MS = 30 * 60_000;
/** How long a server may take to hear that a statement is to stop, before the connection is closed. */
const GRACE_MS = 1_000;

/** How long a cancellation may still be on its way when its statement has ended, before the connection is closed. */
const LATE_MS = 100;

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
  readonly #waiting: ((slot: Slot) => void)[] = [];
  #isClosed = false;

  /** Connections by `postgres`, the function that postgres.js exports. */
  constructor(postgres: PostgresJs, settings: MemoryStoreSettings) {
    this.#postgres = postgres;
    this.#settings = settings;
    this.concurrency = settings.poolSize;
    this.#hosts = readHosts(postgres, settings.dsn.reveal());
  }

  run(statement: Statement, { signal }: Patience): Promise<readonly Row[]> {
    return this.#lease((slot) => slot.send(statement, signal));
  }

  batch(statements: readonly Statement[], { signal }: Patience): Promise<readonly (readonly Row[])[]> {
    return this.#lease(async (slot) => {
      const step: Step = (statement) => slot.send(statement, signal);
      // A statement that is not yet known to the server is described first, and what follows it waits outside of the
      // connection: should that close meanwhile, it would run on the next one, without its transaction.
      if (slot.knows(statements)) return await pipeline(step, statements);
      return await sequence(step, async (next) => {
        const all: (readonly Row[])[] = [];
        for (const statement of statements) all.push(await next(statement));
        return all;
      });
    });
  }

  transaction<R>(body: (step: Step) => Promise<R>, { signal }: Patience): Promise<R> {
    return this.#lease((slot) => sequence((statement) => slot.send(statement, signal), body));
  }

  // A cancellation is waited for before the connection is used again.
  isStray(): boolean {
    return false;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#all].map((slot) => slot.end()));
    this.#all.clear();
  }

  async #lease<R>(body: (slot: Slot) => Promise<R>): Promise<R> {
    if (this.#isClosed) throw new Error("the connections are closed");
    const slot = this.#idle.length > 0 || this.#all.size < this.concurrency ? this.#take() : await this.#wait();
    try {
      return await body(slot);
    } finally {
      this.#give(slot);
    }
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
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #make(): Slot {
    const slot = new Slot(this.#postgres, this.#settings, this.#hosts);
    this.#all.add(slot);
    return slot;
  }

  #give(slot: Slot): void {
    const isFit = slot.isFit() && !this.#isClosed;
    if (!isFit) this.#drop(slot);
    const next = this.#waiting.shift();
    if (next !== undefined) next(isFit ? slot : this.#make());
    else if (isFit) this.#idle.push(slot);
  }

  #drop(slot: Slot): void {
    this.#all.delete(slot);
    slot.end().catch(noop);
  }
}

/** One connection. It is used by one caller at a time, and not again once it failed. */
class Slot {
  readonly #sql: PostgresJsClient;
  readonly #prepare: boolean;
  readonly #prepared: Set<string> = new Set();
  readonly #retiresAt: number = performance.now() + LIFETIME_MS * (0.8 + Math.random() * 0.4);
  #socket: Socket | undefined;
  #isBroken = false;
  #isEnding = false;

  constructor(postgres: PostgresJs, settings: MemoryStoreSettings, hosts: readonly Host[]) {
    this.#prepare = settings.prepare;
    let next = 0;
    const [first] = hosts;
    const options: PostgresJsOptions = {
      // One host: with several, a refused connection is tried again for ever and nobody told (postgres.js 3.4.9, `error`).
      ...(first?.path === undefined ? { host: first?.host ?? "", port: first?.port ?? 0 } : { path: first.path }),
      max: 1,
      prepare: settings.prepare,
      connect_timeout: settings.connectTimeoutMs / 1_000,
      max_lifetime: null,
      fetch_types: false,
      onnotice: noop,
      onclose: () => {
        this.#isBroken = true;
      },
      // With several hosts, the one that takes writes; a standby is left again.
      ...(hosts.length > 1 ? { target_session_attrs: "read-write" } : {}),
      socket: async () => {
        const isCancel = this.#socket !== undefined && !this.#socket.destroyed;
        if (!isCancel && next > 0 && next % hosts.length === 0) await pause();
        const start = isCancel ? next - 1 : next;
        const opened = await openSocket(hosts, start, settings.connectTimeoutMs, this.#isEnding);
        // Given up meanwhile; not closed before the client listens.
        if (this.#isEnding && !isCancel) setImmediate(() => opened.socket.destroy());
        if (isCancel) return opened.socket;
        next = opened.index + 1;
        this.#socket = opened.socket;
        return opened.socket;
      },
    };
    this.#sql = postgres(settings.dsn.reveal(), options);
  }

  isFit(): boolean {
    return !this.#isBroken && performance.now() < this.#retiresAt;
  }

  /** Whether all of these were run on this connection before, so that they can be sent at once. */
  knows(statements: readonly Statement[]): boolean {
    return !this.#isBroken && this.#prepare && statements.every(({ text }) => this.#prepared.has(text));
  }

  async send(statement: Statement, signal: AbortSignal): Promise<readonly Row[]> {
    const sent = send(this.#sql, statement, this.#prepare);
    let heard: Promise<void> | undefined;
    const stop = (): void => {
      heard = this.#stop(sent);
    };
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
    try {
      const found = await sent.rows;
      this.#prepared.add(statement.text);
      return found;
    } catch (error) {
      if (endsConnection(error) || endsTransaction(statement)) this.#isBroken = true;
      throw error;
    } finally {
      signal.removeEventListener("abort", stop);
      if (heard !== undefined) await heard;
    }
  }

  /** Says goodbye if the server still listens, and closes the connection. */
  async end(): Promise<void> {
    if (this.#isEnding) return;
    this.#isEnding = true;
    this.#isBroken = true;
    try {
      await this.#sql.end({ timeout: 0 });
    } finally {
      this.#socket?.destroySoon();
      const socket = this.#socket;
      if (socket !== undefined) setTimeout(() => socket.destroy(), GRACE_MS).unref();
    }
  }

  // Settles when the connection may be used again, or never will be.
  async #stop(sent: Sent): Promise<void> {
    // Not on its way: the connection is still being made, and the client would keep at it for ever.
    if (!sent.isOnItsWay()) this.#kill();
    const settled = sent.rows.then(noop, noop);
    const heard = sent.cancel().catch(noop);
    if (!(await isWithin(GRACE_MS, settled))) this.#kill();
    await settled;
    // A cancellation that is still on its way would stop what runs here next.
    if (!(await isWithin(LATE_MS, heard))) this.#kill();
  }

  #kill(): void {
    this.#isBroken = true;
    this.#isEnding = true;
    this.#socket?.destroy(new SilentServerError());
    this.#sql.end({ timeout: 0 }).catch(noop);
  }
}

/** The server said nothing any more, and the connection was closed. */
class SilentServerError extends Error {
  override readonly name = "SilentServerError";
  readonly code = "ETIMEDOUT";
  constructor() {
    super("the server fell silent");
  }
}

function isWithin(ms: number, event: Promise<unknown>): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), ms);
    event.then(() => {
      clearTimeout(timer);
      resolve(true);
    });
  });
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 100));
}
