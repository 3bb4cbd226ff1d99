// A TCP proxy on loopback that fails as networks do. Its faults can be switched while connections are open. It reads
// the Redis protocol only as far as to count messages and to lose whole ones; everything else works for any protocol.

import { createServer, type Server, type Socket } from "node:net";
import { reservePort } from "./ports.ts";
import { Link, type Tally } from "./proxy-link.ts";

/** Where a server listens. */
export interface Address {
  readonly host: string;
  readonly port: number;
}

/** Messages that get lost on the way. A connection never goes on after a hole: a stream with one would be another stream. */
export interface LostMessages {
  /** A lost reply was executed by the server; a lost request was not. */
  readonly what: "reply" | "request";
  /** Every how many messages one is lost, counted over all connections. */
  readonly every: number;
  /** What becomes of the connection: `reset` by default, a clean end, or silence for ever. */
  readonly ending?: "reset" | "end" | "silence";
  /**
   * Which commands (in capitals) count. By default all but those by which clients set up a connection, as a client
   * that loses one of these never gets to work.
   */
  readonly only?: (command: string) => boolean;
}

/** What goes wrong from now on; nothing where it is empty. */
export interface ProxyFaults {
  /** Every chunk, in both directions, comes this much later; the order stays. */
  readonly delayMs?: number;
  /** New connections are reset at once. */
  readonly refuse?: boolean;
  /** Requests reach the server, and what it answers is held back. */
  readonly silent?: boolean;
  /** Connections stay open and are taken, and everything is held back in both directions. */
  readonly blackHole?: boolean;
  /** Whole Redis messages that get lost. */
  readonly lose?: LostMessages;
}

/** What passed since the start. */
export interface ProxyCounts {
  /** Connections taken, and how many of them are open now. */
  readonly connections: number;
  readonly open: number;
  /** Bytes sent on to the server and to the clients. */
  readonly bytesUp: number;
  readonly bytesDown: number;
  /** Redis commands taken from clients, and replies sent on to them. */
  readonly requests: number;
  readonly replies: number;
  /** Messages lost by `lose`. */
  readonly lost: number;
}

/** A running proxy. */
export interface TcpProxy extends Address {
  /** The target's URL with the proxy's address in it. */
  through(url: string): string;
  /** Replaces the faults, for open connections too. What was held back is delivered, as TCP would by sending it again. */
  set(faults: ProxyFaults): void;
  /** Sends new connections elsewhere. */
  retarget(target: Address): void;
  /** Ends every open connection cleanly (FIN), on both sides. */
  cut(): void;
  /** Resets every open connection (RST), on both sides. */
  reset(): void;
  /** Ends the sending side towards every client, and keeps taking what they send. */
  halfClose(): void;
  counts(): ProxyCounts;
  stop(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

const host = "127.0.0.1";

/** Starts a proxy in front of the target. The target need not be there yet. */
export async function startProxy(target: Address, faults: ProxyFaults = {}): Promise<TcpProxy> {
  const port = await reservePort();
  const proxy = new FaultyProxy(port, target, faults);
  await proxy.listen();
  return proxy;
}

class FaultyProxy implements TcpProxy {
  readonly host = host;
  readonly port: number;
  readonly #server: Server;
  readonly #links = new Set<Link>();
  readonly #tally: Tally = { connections: 0, bytesUp: 0, bytesDown: 0, requests: 0, replies: 0, lost: 0, counted: 0 };
  #target: Address;
  #faults: ProxyFaults;

  constructor(port: number, target: Address, faults: ProxyFaults) {
    this.port = port;
    this.#target = target;
    this.#faults = faults;
    // Half-closed connections are one of the faults, so the ends are passed on by hand.
    this.#server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => this.#take(socket));
  }

  async listen(): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#server.once("error", reject).listen(this.port, host, resolve);
    await promise;
    this.#server.unref();
  }

  through(url: string): string {
    const changed = new URL(url);
    changed.hostname = host;
    changed.port = `${this.port}`;
    return changed.href;
  }

  set(faults: ProxyFaults): void {
    this.#faults = faults;
    for (const link of this.#links) link.pump();
  }

  retarget(target: Address): void {
    this.#target = target;
  }

  cut(): void {
    for (const link of [...this.#links]) link.end();
  }

  reset(): void {
    for (const link of [...this.#links]) link.reset();
  }

  halfClose(): void {
    for (const link of this.#links) link.halfClose();
  }

  counts(): ProxyCounts {
    const { counted: _, ...counts } = this.#tally;
    return { ...counts, open: this.#links.size };
  }

  async stop(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#server.close(() => resolve());
    this.reset();
    await promise;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  #take(socket: Socket): void {
    this.#tally.connections += 1;
    if (this.#faults.refuse === true) {
      socket.on("error", () => undefined).resetAndDestroy();
      return;
    }
    const link = new Link(
      socket,
      this.#target,
      () => this.#faults,
      this.#tally,
      () => this.#links.delete(link),
    );
    this.#links.add(link);
  }
}
