// How a script is called: by its digest, and with its text where the server does not know it (any more). One call is one
// round trip on every path that matters, and each answers for itself, also in the middle of a pipeline.

import { createHash } from "node:crypto";
import { Writable } from "node:stream";
import { isError } from "@memory/core/driver";
import { Cluster, Command, type Redis } from "ioredis";
import { NotSentError } from "./errors.ts";

/** A server-side script. */
export interface Script {
  readonly name: string;
  readonly text: string;
  /** SHA-1 of the text, by which the server knows it. */
  readonly digest: string;
}

/** A client of ours or the caller's. */
export type RedisClient = Redis | Cluster;

/** A reply: what the client makes of RESP. */
export type ScriptReply = string | number | null | undefined | readonly ScriptReply[];

export function defineScript(name: string, text: string): Script {
  const body = `-- ${name}\n${text.trim()}`;
  return { name, text: body, digest: createHash("sha1").update(body).digest("hex") };
}

/** Runs scripts over one client. */
export class Scripts {
  readonly #client: RedisClient;
  readonly #waits: (() => Promise<void>) | undefined;
  readonly #keyPrefix: string;
  readonly #mayResend: boolean;
  readonly #corking: Corking | undefined;

  /** @param waits For a client without an offline queue: resolves once it is ready, so that nothing is sent before. */
  constructor(client: RedisClient, waits?: () => Promise<void>) {
    this.#client = client;
    this.#waits = waits;
    this.#keyPrefix = client.options.keyPrefix ?? "";
    this.#mayResend = mayResend(client);
    this.#corking = client instanceof Cluster ? undefined : new Corking(client);
  }

  /**
   * The script's reply.
   *
   * @param again Which argument becomes "1" when the client, on its own, sends the command a second time.
   */
  run(script: Script, keys: readonly string[], args: readonly string[], again?: number): Promise<ScriptReply> {
    if (this.#waits !== undefined && this.#client.status !== "ready") {
      return this.#waits().then(() => this.#run(script, keys, args, again));
    }
    return this.#run(script, keys, args, again);
  }

  /** Resolves when commands can be sent. */
  async ready(): Promise<void> {
    if (this.#waits !== undefined && this.#client.status !== "ready") await this.#waits();
  }

  #run(script: Script, keys: readonly string[], args: readonly string[], again?: number): Promise<ScriptReply> {
    const words = [script.digest, String(keys.length), ...keys, ...args];
    const at = again === undefined ? -1 : 2 + keys.length + again;
    return this.#send("evalsha", words, at).catch((error: unknown) => {
      if (!isNoScript(error)) throw error;
      return this.#send("eval", [script.text, ...words.slice(1)], at);
    });
  }

  #send(name: "evalsha" | "eval", words: string[], again: number): Promise<ScriptReply> {
    const client = this.#client;
    this.#corking?.begin();
    if (again !== -1 && this.#mayResend) {
      return reply(client.sendCommand(new ResentCommand(name, words, this.#keyPrefix, again)));
    }
    if (client.isCluster && client.options.enableAutoPipelining === true) {
      const [script = "", count = "0", ...more] = words;
      return reply(name === "evalsha" ? client.evalsha(script, count, ...more) : client.eval(script, count, ...more));
    }
    const command = new Command(name, words, { replyEncoding: "utf8", keyPrefix: this.#keyPrefix });
    return reply(client.sendCommand(command));
  }
}

/**
 * What one turn of the event loop asks for leaves in one write: the socket is corked until the turn's callbacks are done.
 * The client's own autopipelining does that too, but holds a batch until the one before is answered, and a lonely command
 * until the next turn; a cluster still needs it, for it sorts by node. Whatever else is written to the socket meanwhile
 * keeps its place: replies are told apart by their order alone.
 */
class Corking {
  readonly #redis: Redis;
  #corked: Writable | undefined;

  constructor(redis: Redis) {
    this.#redis = redis;
  }

  begin(): void {
    const stream: unknown = this.#redis.stream;
    if (stream === this.#corked || !(stream instanceof Writable)) return;
    stream.cork();
    this.#corked = stream;
    process.nextTick(() => {
      this.#corked = undefined;
      stream.uncork();
    });
  }
}

/**
 * A command that knows when it is written again. A borrowed client may resend after a reconnection what it got no answer to
 * (`autoResendUnfulfilledCommands`, in a cluster `retryDelayOnFailover`); the script then has to look whether the first
 * had its effect.
 */
class ResentCommand extends Command {
  readonly #again: number;
  #times = 0;

  constructor(name: string, words: string[], keyPrefix: string, again: number) {
    super(name, words, { replyEncoding: "utf8", keyPrefix });
    this.#again = again;
  }

  override toWritable(socket: object): string | Buffer {
    this.#times += 1;
    if (this.#times > 1) this.args[this.#again] = "1";
    return super.toWritable(socket);
  }
}

function mayResend(client: RedisClient): boolean {
  const { options } = client;
  if ("retryDelayOnFailover" in options || "clusterRetryStrategy" in options) return options.retryDelayOnFailover !== 0;
  return !("autoResendUnfulfilledCommands" in options) || options.autoResendUnfulfilledCommands !== false;
}

function reply(sent: unknown): Promise<ScriptReply> {
  if (sent instanceof Promise) return sent;
  return Promise.reject(new NotSentError("the client gave no promise"));
}

/** A reply that is a list. @throws {TypeError} It is not. */
export function listOf(reply: ScriptReply): readonly ScriptReply[] {
  if (Array.isArray(reply)) return reply;
  throw new TypeError("a script replied something else than a list");
}

/** A reply that is a list of texts. @throws {TypeError} It is not. */
export function textsOf(reply: ScriptReply): readonly string[] {
  return listOf(reply).map((one) => {
    if (typeof one === "string") return one;
    throw new TypeError("a script replied something else than texts");
  });
}

/** What a script cannot have replied. */
export function foreignReply(script: Script): TypeError {
  return new TypeError(`the script ${script.name} replied what it never does`);
}

function isNoScript(error: unknown): boolean {
  return isError(error) && error.message.startsWith("NOSCRIPT");
}
