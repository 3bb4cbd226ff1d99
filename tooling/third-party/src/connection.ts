// The connection: prepared statements, a snapshot for reads, and one writer at a time. Between BEGIN and COMMIT nothing is
// awaited, so that calls of one process never meet in a transaction; those of other processes wait without blocking this one.

import type { DatabaseSync, StatementSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import type { DriverCall } from "@memory/core/driver";
import { isBusy } from "./errors.ts";
import type { Row, Values } from "./row.ts";

const LONGEST_WAIT_MS = 50;

/** One database connection, as the sections use it. */
export class Connection {
  readonly database: DatabaseSync;
  // As many as there are texts: they differ by the shape of a scope and by which conditions a query has.
  readonly #statements: Map<string, StatementSync> = new Map();
  readonly #undone: WeakSet<object> = new WeakSet();

  constructor(database: DatabaseSync) {
    this.database = database;
  }

  /** Every row. */
  all(text: string, values: Values = {}): Row[] {
    return this.#prepare(text).all(values);
  }

  /** The rows one by one; whoever stops early has read no more. */
  each(text: string, values: Values = {}): Iterable<Row> {
    return this.#prepare(text).iterate(values);
  }

  /** The first row. */
  get(text: string, values: Values = {}): Row | undefined {
    return this.#prepare(text).get(values);
  }

  /** Runs a statement without rows. */
  run(text: string, values: Values = {}): void {
    this.#prepare(text).run(values);
  }

  /** Several reads of one state. */
  read<T>(work: () => T): T {
    this.database.exec("BEGIN");
    try {
      return work();
    } finally {
      if (this.database.isTransaction) this.database.exec("COMMIT");
    }
  }

  /**
   * Reads and writes as one step, wholly there or not at all. Waits until no other connection writes, or the call is given
   * up; IMMEDIATE, because a transaction that read first cannot become the writer once another one wrote.
   */
  async write<T>(call: DriverCall, work: () => T): Promise<T> {
    for (let waitMs = 1; ; waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS)) {
      try {
        this.database.exec("BEGIN IMMEDIATE");
      } catch (error) {
        this.#note(error);
        if (!isBusy(error)) throw error;
        await sleep(waitMs * (0.5 + Math.random()), undefined, { signal: call.signal }).catch(() => undefined);
        if (call.signal.aborted) throw error;
        continue;
      }
      return this.#commit(work);
    }
  }

  /** Whether what failed with this error was undone. */
  isUndone(error: unknown): boolean {
    return typeof error === "object" && error !== null && this.#undone.has(error);
  }

  #commit<T>(work: () => T): T {
    let result: T;
    try {
      result = work();
    } catch (error) {
      this.#undo(error);
      throw error;
    }
    try {
      this.database.exec("COMMIT");
    } catch (error) {
      // Where the transaction is still open, it can be undone; where it is not, nobody knows.
      if (this.database.isTransaction) this.#undo(error);
      throw error;
    }
    return result;
  }

  // A full disk or an I/O error ends the transaction by itself. https://sqlite.org/lang_transaction.html
  #undo(error: unknown): void {
    if (this.database.isTransaction) this.database.exec("ROLLBACK");
    this.#note(error);
  }

  #note(error: unknown): void {
    if (typeof error === "object" && error !== null) this.#undone.add(error);
  }

  #prepare(text: string): StatementSync {
    let statement = this.#statements.get(text);
    if (statement === undefined) {
      statement = this.database.prepare(text);
      statement.setReadBigInts(false);
      statement.setAllowBareNamedParameters(true);
      // A scope's four parts are always given, and a condition on it names those that it needs.
      statement.setAllowUnknownNamedParameters(true);
      this.#statements.set(text, statement);
    }
    return statement;
  }
}
