// Statements on a client that the caller keeps: its pool, its settings, its other users. A transaction is a sequence on a
// reserved connection, a round trip a statement: what is sent ahead on one would be lost without a word when it closes.

import { MemorySettingsError } from "../model/errors.ts";
import { onAbort } from "../rules/lazy-signal.ts";
import type { Executor, Patience, Row, Statement, Step } from "../sql/executor.ts";
import type { PostgresJsClient, PostgresJsSender } from "./client.ts";
import { hadNoEffect } from "./client-side.ts";
import { NotSentError } from "./failures.ts";
import { endsConnection, isFromServer, send, sequence } from "./send.ts";

// Of each type that parameters are sent as, its oid and a value as the server is to read it.
const SENT: readonly (readonly [oid: number, value: string | number | boolean, texts: readonly string[]])[] = [
  [25, ` 'é"\\{},`, [` 'é"\\{},`]],
  [16, true, ["t", "true"]],
  [20, 7, ["7"]],
  [23, 7, ["7"]],
];

const NOTHING: Statement = { text: "SELECT 1", params: [] };

/** Runs statements on the caller's client, and leaves it open. */
export class BorrowedClient implements Executor {
  readonly client: PostgresJsClient;
  readonly concurrency: number;
  readonly #stray: WeakSet<object> = new WeakSet();
  // Cancel requests name a connection, not a statement: one that comes late stops what runs there next.
  #cancelling = 0;
  #cancelled = 0;

  /**
   * @throws {MemorySettingsError} It is no postgres.js client, or one that a transaction could hang on, or that changes the
   * texts, numbers or booleans that it sends.
   */
  constructor(client: PostgresJsClient) {
    const given: unknown = client;
    if (typeof given !== "function" || typeof client.unsafe !== "function" || typeof client.options !== "object") {
      throw new MemorySettingsError("sql is not a postgres.js client", { setting: "sql" });
    }
    // `reserve` on a connection that is new never settles then (postgres.js 3.4.9, ReadyForQuery in connection.js).
    if (Reflect.get(client.options, "fetch_types") === false) {
      throw new MemorySettingsError(
        "the client has fetch_types: false, with which a reserved connection may never come",
        {
          setting: "sql",
        },
      );
    }
    if (!SENT.every(([oid, value, texts]) => texts.includes(serialized(client, oid, value)))) {
      throw new MemorySettingsError("the client has a type that would change what is stored", { setting: "sql" });
    }
    this.client = client;
    this.concurrency = client.options.max;
  }

  run(statement: Statement, patience: Patience): Promise<readonly Row[]> {
    return this.#send(this.client, statement, patience);
  }

  async batch(statements: readonly Statement[], patience: Patience): Promise<readonly (readonly Row[])[]> {
    return await this.transaction(async (step) => {
      const all: (readonly Row[])[] = [];
      for (const statement of statements) all.push(await step(statement));
      return all;
    }, patience);
  }

  async transaction<R>(body: (step: Step) => Promise<R>, patience: Patience): Promise<R> {
    await this.#open(patience);
    const reserved = await this.client.reserve();
    let isOpen = true;
    try {
      patience.signal.throwIfAborted();
      return await sequence(async (statement) => {
        try {
          return await this.#send(reserved, statement, patience);
        } catch (error) {
          if (endsConnection(error)) isOpen = false;
          throw error;
        }
      }, body);
    } finally {
      // A connection that closed was taken back already; given back again, it would be used while it is gone.
      if (isOpen) reserved.release();
    }
  }

  isStray(error: unknown): boolean {
    return typeof error === "object" && error !== null && this.#stray.has(error);
  }

  async close(): Promise<void> {}

  // What is reserved has to be open: a connection that has served before and is closed now is opened for whoever reserves it,
  // and never given to them, nor to anybody else (postgres.js 3.4.9, ReadyForQuery in connection.js). A statement opens it.
  async #open(patience: Patience): Promise<void> {
    try {
      await this.#send(this.client, NOTHING, patience);
    } catch (error) {
      throw this.isStray(error) || hadNoEffect(error) ? error : new NotSentError(error);
    }
    patience.signal.throwIfAborted();
  }

  async #send(client: PostgresJsSender, statement: Statement, patience: Patience): Promise<readonly Row[]> {
    const before = this.#cancelled;
    let isOurs = false;
    const { rows, cancel } = send(client, statement, { prepare: true, isPlain: false });
    const release = onAbort(patience, () => {
      isOurs = true;
      this.#cancelling += 1;
      cancel().then(this.#heard, this.#heard);
    });
    try {
      return await rows;
    } catch (error) {
      const isCancelled = isFromServer(error) && error.code === "57014";
      if (isCancelled && !isOurs && (this.#cancelling > 0 || this.#cancelled > before)) this.#stray.add(error);
      throw error;
    } finally {
      release();
    }
  }

  readonly #heard = (): void => {
    this.#cancelling -= 1;
    this.#cancelled += 1;
  };
}

// As postgres.js does it; a serializer that refuses the value would refuse ours too.
function serialized({ options }: PostgresJsClient, oid: number, value: unknown): string {
  try {
    const serialize = options.serializers[oid];
    return typeof serialize === "function" ? `${serialize(value)}` : `${value}`;
  } catch {
    return "";
  }
}
