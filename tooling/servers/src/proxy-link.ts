// One connection through the proxy: two sockets, and what the faults do to the bytes between them.

import { connect as openSocket, type Socket } from "node:net";
import type { Address, LostMessages, ProxyFaults } from "./proxy.ts";
import { Framer } from "./resp.ts";

const setupCommands = new Set(
  "AUTH HELLO INFO CLIENT SELECT READONLY READWRITE ASKING CLUSTER PING COMMAND SCRIPT ROLE SENTINEL QUIT".split(" "),
);

/** Counts of all connections together. */
export interface Tally {
  connections: number;
  bytesUp: number;
  bytesDown: number;
  requests: number;
  replies: number;
  lost: number;
  counted: number;
}

/** One direction of a connection: chunks wait their time in order, and longer while the direction is blocked. */
class Lane {
  readonly #isBlocked: () => boolean;
  readonly #waiting: { readonly at: number; readonly pass: () => void }[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(isBlocked: () => boolean) {
    this.#isBlocked = isBlocked;
  }

  push(delayMs: number, pass: () => void): void {
    this.#waiting.push({ at: performance.now() + delayMs, pass });
    this.pump();
  }

  pump(): void {
    clearTimeout(this.#timer);
    for (let [first] = this.#waiting; first !== undefined && !this.#isBlocked(); [first] = this.#waiting) {
      const waitMs = first.at - performance.now();
      if (waitMs > 0) {
        this.#timer = setTimeout(() => this.pump(), waitMs);
        return;
      }
      this.#waiting.shift();
      first.pass();
    }
  }
}

/** One client's connection and the one to the server behind it. */
export class Link {
  readonly #client: Socket;
  readonly #server: Socket;
  readonly #faults: () => ProxyFaults;
  readonly #tally: Tally;
  readonly #upLane: Lane;
  readonly #downLane: Lane;
  readonly #requests = new Framer();
  readonly #replies = new Framer();
  /** Commands that wait for their reply, oldest first. */
  readonly #pending: string[] = [];
  #isRedis: boolean | undefined;
  #isSilenced = false;

  constructor(client: Socket, target: Address, faults: () => ProxyFaults, tally: Tally, onGone: () => void) {
    this.#client = client;
    this.#faults = faults;
    this.#tally = tally;
    this.#server = openSocket({ ...target, allowHalfOpen: true, noDelay: true });
    this.#upLane = new Lane(() => faults().blackHole === true);
    this.#downLane = new Lane(() => faults().blackHole === true || faults().silent === true);
    const later = (lane: Lane, pass: () => void) => lane.push(faults().delayMs ?? 0, pass);
    client.on("data", (chunk: Buffer) => later(this.#upLane, () => this.#up(chunk)));
    this.#server.on("data", (chunk: Buffer) => later(this.#downLane, () => this.#down(chunk)));
    client.on("end", () => later(this.#upLane, () => this.#server.end()));
    this.#server.on("end", () => later(this.#downLane, () => this.#isSilenced || this.#client.end()));
    // A server that is not there, or died: its clients see a reset, as they would without the proxy.
    this.#server.on("error", () => later(this.#downLane, () => this.#isSilenced || this.reset()));
    client.on("error", () => this.reset());
    const leave = () => {
      if (!client.destroyed || !this.#server.destroyed) return;
      onGone();
    };
    client.on("close", () => {
      this.#server.destroy();
      leave();
    });
    this.#server.on("close", leave);
  }

  /** Looks again at what is held back. */
  pump(): void {
    this.#upLane.pump();
    this.#downLane.pump();
  }

  end(): void {
    this.#client.destroySoon();
    this.#server.destroySoon();
  }

  reset(): void {
    for (const socket of [this.#client, this.#server]) resetSocket(socket);
  }

  halfClose(): void {
    this.#client.end();
  }

  #up(chunk: Buffer): void {
    const { lose } = this.#faults();
    if (this.#isSilenced) return;
    this.#isRedis ??= chunk[0] === 0x2a;
    if (!this.#isRedis) {
      void this.#sendUp(chunk);
      return;
    }
    const passed: Buffer[] = [];
    for (const { bytes, value } of this.#requests.push(chunk)) {
      const command = Array.isArray(value) ? `${value[0]}`.toUpperCase() : "";
      this.#tally.requests += 1;
      if (lose?.what === "request" && this.#isLost(lose, command)) {
        this.#fail(lose, () => this.#sendUp(Buffer.concat(passed)));
        return;
      }
      this.#pending.push(command);
      passed.push(bytes);
    }
    void this.#sendUp(Buffer.concat(passed));
  }

  #down(chunk: Buffer): void {
    const { lose } = this.#faults();
    if (this.#isSilenced) return;
    if (this.#isRedis !== true) {
      void this.#sendDown(chunk);
      return;
    }
    const passed: Buffer[] = [];
    for (const { bytes, isPush } of this.#replies.push(chunk)) {
      const command = isPush ? undefined : this.#pending.shift();
      if (command !== undefined && lose?.what === "reply" && this.#isLost(lose, command)) {
        this.#fail(lose, () => this.#sendDown(Buffer.concat(passed)));
        return;
      }
      this.#tally.replies += 1;
      passed.push(bytes);
    }
    void this.#sendDown(Buffer.concat(passed));
  }

  #isLost(lose: LostMessages, command: string): boolean {
    const counts = lose.only ?? ((name: string) => !setupCommands.has(name));
    if (!counts(command)) return false;
    this.#tally.counted += 1;
    if (this.#tally.counted % lose.every !== 0) return false;
    this.#tally.lost += 1;
    return true;
  }

  #fail({ ending }: LostMessages, sendRest: () => Promise<void>): void {
    this.#isSilenced = true;
    const rest = sendRest();
    if (ending === "silence") return;
    // A reset throws away what this process has not handed to the system yet.
    void rest.then(() => (ending === "end" ? this.end() : this.reset()));
  }

  #sendUp(bytes: Buffer): Promise<void> {
    this.#tally.bytesUp += bytes.length;
    return send(this.#server, bytes);
  }

  #sendDown(bytes: Buffer): Promise<void> {
    this.#tally.bytesDown += bytes.length;
    return send(this.#client, bytes);
  }
}

/** Resolves when the bytes, and all before them, were handed to the system, or never will be. */
function send(socket: Socket, bytes: Buffer): Promise<void> {
  return new Promise((resolve) => {
    if (socket.writable) socket.write(bytes, () => resolve());
    else resolve();
  });
}

/**
 * Resets a connection; one whose end is on its way is only destroyed. Node loses the handle of a socket that is reset while
 * it shuts down, so that it is never closed and the process spins instead of ending (`TCPWrap::Reset`, Node 24.21).
 */
export function resetSocket(socket: Socket): void {
  if (socket.destroyed) return;
  if (socket.writableEnded) socket.destroy();
  else socket.resetAndDestroy();
}
