// One connection: a postgres.js client of one connection to one host, thrown away with it. That gives what the client's pool
// lacks: a connection that fell silent can be closed, a cancelled statement never stops its neighbour, and nothing of a dead
// connection is used again (a client that reconnects may never send another byte: postgres.js 3.4.9, `nextWriteTimer` after
// `closed`).

import type { Socket } from "node:net";
import { onAbort } from "../rules/lazy-signal.ts";
import type { MemoryStoreSettings } from "../settings.ts";
import type { Patience, Row, Statement } from "../sql/executor.ts";
import type { PostgresJs, PostgresJsClient, PostgresJsOptions } from "./client.ts";
import { hadNoEffect } from "./client-side.ts";
import { ClosedConnectionError, NoTlsError, NotSentError, ReadOnlyHostError, SilentServerError } from "./failures.ts";
import { endsConnection, endsTransaction, isFromServer, type Manner, plain, type Sent, send } from "./send.ts";
import { connected, dial, type Host } from "./socket.ts";

/** How long a connection is used before a new one takes its place, so that a new primary or a new address is found. */
const LIFETIME_MS = 30 * 60_000;
/**
 * How many statements a connection prepares before a new one takes its place. The server keeps each with its plan, up to half
 * a megabyte, and the lists of a filter make as many as there are lengths of them.
 */
const MOST_PREPARED = 256;
/** How long a server may take to hear that a statement is to stop, before the connection is closed. */
const GRACE_MS = 1_000;

/** How long a cancellation may still be on its way when its statement has ended, before the connection is closed. */
const LATE_MS = 100;

/** `off` where the server takes writes: not on a standby, nor where the operator has closed it to them. */
const IS_READ_ONLY: Statement = { text: "SHOW transaction_read_only", params: [] };

const noop = (): void => {};

/** One connection. It is used by one caller at a time, and not again once it failed. */
export class Slot {
  /** Which of the hosts it goes to. */
  readonly host: number;
  readonly #sql: PostgresJsClient;
  readonly #manner: Manner;
  readonly #prepared: Set<string> = new Set();
  readonly #retiresAt: number = performance.now() + LIFETIME_MS * (0.8 + Math.random() * 0.4);
  readonly #patienceMs: number;
  #socket: Socket | undefined;
  #isOpen: boolean;
  #hasLostHost = false;
  #lacksTls = false;
  #isBroken = false;
  #isEnding = false;

  /** A connection to the one of `hosts` at `index`, made with its first statement. */
  constructor(postgres: PostgresJs, settings: MemoryStoreSettings, hosts: readonly Host[], index: number) {
    this.host = index;
    this.#manner = { prepare: settings.prepare, isPlain: true };
    // Of one host nobody asks whether it takes writes: there is no other.
    this.#isOpen = hosts.length === 1;
    // All of them have their turn before the attempt's own deadline, so that the store knows that nothing was sent.
    this.#patienceMs = Math.min(settings.connectTimeoutMs, settings.attemptTimeoutMs * 0.9) / hosts.length;
    const place = hosts[index] ?? { host: "localhost", port: 5432, path: undefined };
    const options: PostgresJsOptions = {
      // One host: with several, a refused connection is tried again for ever and nobody told (postgres.js 3.4.9, `error`).
      ...(place.path === undefined ? { host: place.host, port: place.port } : { path: place.path }),
      max: 1,
      prepare: settings.prepare,
      connect_timeout: this.#patienceMs / 1_000,
      max_lifetime: null,
      fetch_types: false,
      onnotice: noop,
      onclose: () => {
        this.#isBroken = true;
      },
      socket: () => this.#connect(place),
    };
    this.#sql = plain(postgres(settings.dsn.reveal(), options));
  }

  /** Whether it is connected to a host that takes writes, or to the only one. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Whether the host fell silent, or takes writes no more. */
  get hasLostHost(): boolean {
    return this.#hasLostHost;
  }

  /** Whether it may be used once more: it did not fail, is not too old, and did not prepare too much. */
  isFit(): boolean {
    return !this.#isBroken && performance.now() < this.#retiresAt && this.#prepared.size < MOST_PREPARED;
  }

  /** Whether all of these were run on this connection before, so that they can be sent at once. */
  knows(statements: readonly Statement[]): boolean {
    return !this.#isBroken && statements.every(({ text }) => this.#prepared.has(text));
  }

  /**
   * Connects, and asks the host whether it takes writes.
   *
   * @throws {ReadOnlyHostError} It does not.
   * @throws {NotSentError} It does not answer in its time, or no more.
   */
  async open(patience: Patience): Promise<void> {
    const timer = setTimeout(() => this.#kill(), this.#patienceMs);
    try {
      const [[isReadOnly] = []] = await this.send(IS_READ_ONLY, patience);
      if (isReadOnly !== "off") throw new ReadOnlyHostError();
      this.#isOpen = true;
    } catch (error) {
      this.#isBroken = true;
      throw unsent(error);
    } finally {
      clearTimeout(timer);
    }
  }

  /** @throws {NotSentError} The connection was lost, or never came, before the statement was on it. */
  async send(statement: Statement, patience: Patience): Promise<readonly Row[]> {
    const sent = send(this.#sql, statement, this.#manner);
    let heard: Promise<void> | undefined;
    const release = onAbort(patience, () => {
      heard = this.#stop(sent);
    });
    try {
      const found = await sent.rows;
      if (this.#manner.prepare) this.#prepared.add(statement.text);
      return found;
    } catch (error) {
      if (isReadOnly(error)) this.#hasLostHost = true;
      if (endsConnection(error) || endsTransaction(statement) || isReadOnly(error)) this.#isBroken = true;
      if (this.#lacksTls) throw new NoTlsError();
      throw sent.isOnItsWay() ? error : unsent(error);
    } finally {
      release();
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

  // Called for the connection, once, and for each request to cancel on it: the client does not come back on another one.
  async #connect(host: Host): Promise<Socket> {
    const isCancel = this.#socket !== undefined && !this.#socket.destroyed;
    if (!isCancel && (this.#socket !== undefined || this.#isEnding)) throw new ClosedConnectionError();
    const socket = dial(host);
    if (!isCancel) this.#socket = socket;
    const timer = setTimeout(() => socket.destroy(new SilentServerError()), this.#patienceMs);
    try {
      await connected(socket);
    } finally {
      clearTimeout(timer);
    }
    if (this.#isEnding && !isCancel) throw new ClosedConnectionError();
    if (this.#insistsOnTls()) {
      // "N" to the request for TLS (PostgreSQL, Message Flow, SSL Session Encryption). The client goes on nevertheless, and is
      // told of a reset.
      socket.once("data", (answer: Buffer) => {
        this.#lacksTls = answer.length === 1 && answer[0] === 0x4e;
      });
    }
    return socket;
  }

  // `prefer` goes on without; `direct` does not ask.
  #insistsOnTls(): boolean {
    const ssl: unknown = Reflect.get(this.#sql.options, "ssl");
    const isDirect = Reflect.get(this.#sql.options, "sslnegotiation") === "direct";
    return ssl !== undefined && ssl !== false && ssl !== "prefer" && ssl !== "disable" && !isDirect;
  }

  // Settles when the connection may be used again, or never will be.
  async #stop(sent: Sent): Promise<void> {
    // Not on its way: the connection is still being made, and the client would keep at it for ever.
    if (!sent.isOnItsWay()) this.#kill();
    const settled = sent.rows.then(noop, noop);
    const heard = sent.cancel().catch(noop);
    if (!(await isWithin(GRACE_MS, settled))) {
      this.#hasLostHost = true;
      this.#kill();
    }
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

function isWithin(ms: number, event: Promise<unknown>): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), ms);
    event.then(() => {
      clearTimeout(timer);
      resolve(true);
    });
  });
}

// The failure of what no connection has taken: it had no effect, whatever the failure itself says.
function unsent(error: unknown): unknown {
  return hadNoEffect(error) ? error : new NotSentError(error);
}

// The server that is spoken to is, or became, a standby, or was closed to writes: another one takes them.
function isReadOnly(error: unknown): boolean {
  return isFromServer(error) && error.code === "25006";
}
