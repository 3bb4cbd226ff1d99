// As much of the Redis protocol (RESP2 and RESP3) as tests need: where a message ends in a stream, and one question to
// a server without a client library.

import { connect as connectPlain } from "node:net";
import { connect as connectTls } from "node:tls";

/** A decoded reply. Doubles, big numbers and booleans stay text; maps and sets are flat arrays. */
export type Reply = string | number | null | readonly Reply[];

/** The server answered with an error. */
export class ServerReplyError extends Error {
  override readonly name = "ServerReplyError";
}

/** A complete message of a stream: its bytes, and the value in them. */
export interface Frame {
  readonly bytes: Buffer;
  readonly value: Reply | ServerReplyError;
  /** Whether the server sent it unasked (RESP3 push), so that no command waits for it. */
  readonly isPush: boolean;
}

/** Where a server listens, and how to get in. */
export interface Entrance {
  readonly host: string;
  readonly port: number;
  readonly username?: string | undefined;
  readonly password?: string | undefined;
  /** The authority of a server that speaks TLS, or `true` in `tls` for the system's own. */
  readonly ca?: string | undefined;
  readonly tls?: boolean | undefined;
}

const lineEnd = Buffer.from("\r\n");

/** Cuts a stream into its messages, whatever the chunks are. */
export class Framer {
  #rest: Buffer = Buffer.alloc(0);

  /** The messages that are complete with this chunk, in order. */
  push(chunk: Buffer): readonly Frame[] {
    this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    const frames: Frame[] = [];
    let start = 0;
    for (;;) {
      const parsed = parse(this.#rest, start);
      if (parsed === undefined) break;
      const bytes = this.#rest.subarray(start, parsed.end);
      frames.push({ bytes, value: parsed.value, isPush: this.#rest[start] === 0x3e });
      start = parsed.end;
    }
    this.#rest = this.#rest.subarray(start);
    return frames;
  }
}

/** A command as the wire has it. */
export function encodeCommand(args: readonly (string | number)[]): Buffer {
  const parts = args.map((arg) => `$${Buffer.byteLength(`${arg}`)}\r\n${arg}\r\n`);
  return Buffer.from(`*${args.length}\r\n${parts.join("")}`);
}

/**
 * Asks one question over a connection of its own.
 *
 * @throws {ServerReplyError} when the server answers with an error.
 */
export function ask(entrance: Entrance, args: readonly (string | number)[], timeoutMs = 5_000): Promise<Reply> {
  const { promise, resolve, reject } = Promise.withResolvers<Reply>();
  const { host, port, ca, username, password } = entrance;
  const isTls = entrance.tls === true || ca !== undefined;
  const socket = isTls ? connectTls({ host, port, ...(ca === undefined ? {} : { ca }) }) : connectPlain({ host, port });
  const framer = new Framer();
  let isAuthenticating = password !== undefined;
  socket.setTimeout(timeoutMs, () => socket.destroy(new Error(`no answer from ${host}:${port} in ${timeoutMs} ms`)));
  socket.once("error", reject).once("close", () => reject(new Error(`${host}:${port} closed the connection`)));
  socket.on("data", (chunk: Buffer) => {
    for (const { value } of framer.push(chunk)) {
      if (value instanceof ServerReplyError) reject(value);
      else if (!isAuthenticating) resolve(value);
      isAuthenticating = false;
    }
  });
  if (password !== undefined)
    socket.write(encodeCommand(["AUTH", ...(username === undefined ? [] : [username]), password]));
  socket.write(encodeCommand(args));
  return promise.finally(() => socket.destroy());
}

interface Parsed {
  readonly value: Reply | ServerReplyError;
  readonly end: number;
}

function parse(buffer: Buffer, start: number): Parsed | undefined {
  const eol = buffer.indexOf(lineEnd, start);
  if (eol === -1) return undefined;
  const type = String.fromCharCode(buffer[start] ?? 0);
  const line = buffer.toString("utf8", start + 1, eol);
  const next = eol + lineEnd.length;
  switch (type) {
    case ":":
      return { value: Number(line), end: next };
    case "-":
      return { value: new ServerReplyError(line), end: next };
    case "_":
      return { value: null, end: next };
    case "$":
    case "=":
    case "!": {
      const length = Number(line);
      if (length < 0) return { value: null, end: next };
      const end = next + length + lineEnd.length;
      if (buffer.length < end) return undefined;
      const text = buffer.toString("utf8", next, next + length);
      return { value: type === "!" ? new ServerReplyError(text) : text, end };
    }
    case "*":
    case "~":
    case ">":
    case "%":
      return parseItems(buffer, next, Number(line) * (type === "%" ? 2 : 1));
    case "+":
    case ",":
    case "(":
    case "#":
      return { value: line, end: next };
    default:
      // Not RESP (an inline command): a line is a message.
      return { value: type + line, end: next };
  }
}

function parseItems(buffer: Buffer, start: number, count: number): Parsed | undefined {
  if (count < 0) return { value: null, end: start };
  const items: Reply[] = [];
  let end = start;
  for (let index = 0; index < count; index += 1) {
    const item = parse(buffer, end);
    if (item === undefined) return undefined;
    items.push(item.value instanceof ServerReplyError ? item.value.message : item.value);
    end = item.end;
  }
  return { value: items, end };
}
