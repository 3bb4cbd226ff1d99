// How statements run, and the two ways that postgres.js offers: on connections of our own, and on a client that the caller
// keeps. What both share stands here: columns as plain text, and a transaction as a sequence of statements on one
// connection. `sql.begin` is not used: when its connection closes, it throws where nobody can catch it (postgres.js 3.4.9).

import type { Sql } from "postgres";
import type { Row } from "./row.ts";

/** A value of a parameter; everything else is written as text and cast in the statement. */
export type Param = string | number | boolean | null;

/** One statement with its parameters. */
export interface Statement {
  readonly text: string;
  readonly params: readonly Param[];
}

/** Runs one more statement on the same connection. */
export type Step = (statement: Statement) => Promise<readonly Row[]>;

/** What a call brings along: when to stop. */
export interface Patience {
  readonly signal: AbortSignal;
}

/** A postgres.js client, of whatever types its owner gave it. */
// biome-ignore lint/complexity/noBannedTypes: postgres.js says "no types of its own" with {}.
export type PostgresClient = Sql<{}>;

/** Runs statements. Rejects with the client's own errors. */
export interface Executor {
  /** The object that stands for the connections. */
  readonly client: object;
  /** How many statements may run at once. */
  readonly concurrency: number;
  /** One statement in a transaction of its own. */
  run(statement: Statement, patience: Patience): Promise<readonly Row[]>;
  /** Statements in one transaction, in order; the rows of each. */
  batch(statements: readonly Statement[], patience: Patience): Promise<readonly (readonly Row[])[]>;
  /**
   * A transaction whose statements `body` chooses as it goes; when it rejects, nothing is kept. It may wait for its steps
   * and for nothing else: in between, the connection could close unnoticed.
   */
  transaction<R>(body: (step: Step) => Promise<R>, patience: Patience): Promise<R>;
  /** Whether the statement was stopped by a cancellation that was meant for another one. */
  isStray(error: unknown): boolean;
  close(): Promise<void>;
}

/** A statement on its way. */
export interface Sent {
  readonly rows: Promise<readonly Row[]>;
  /** Whether a connection has taken it. */
  isOnItsWay(): boolean;
  /**
   * Asks the server to stop it, if it is what runs on its connection. Settles when the server has heard; rejects when it
   * could not be told.
   */
  cancel(): Promise<unknown>;
}

// At any higher level, which a role may have as its default, what an erasure waits for would not be seen by it afterwards.
const BEGIN: Statement = { text: "BEGIN ISOLATION LEVEL READ COMMITTED", params: [] };
const COMMIT: Statement = { text: "COMMIT", params: [] };
const ROLLBACK: Statement = { text: "ROLLBACK", params: [] };

/** Whether it ends a transaction; one that fails (cancelled, say) may leave the transaction open. */
export function endsTransaction({ text }: Statement): boolean {
  return text === COMMIT.text || text === ROLLBACK.text;
}

/** Sends a statement; columns come back as the text that the server sent, past every parser and transform of the client. */
export function send(client: PostgresClient, { text, params }: Statement, prepare: boolean): Sent {
  const query = client.unsafe(text, [...params], { prepare }).raw();
  const rows = query.then((found) => readRows(found));
  return {
    rows,
    isOnItsWay: () => (Reflect.get(query, "state") ?? null) !== null,
    cancel: async () => {
      // Of a query that waits, postgres.js 3.4.9 would lose the connection that is being made for it, or take the answer to
      // it for the answer to the next one (`initial` and the loop over `sent` in ReadyForQuery). And `query.cancel()` drops
      // the promise of its own request, whose failure would then be nobody's.
      const canceller: unknown = Reflect.get(query, "canceller");
      if (Reflect.get(query, "active") === true && typeof canceller === "function") {
        await Reflect.apply(canceller, query, [query]);
      }
    },
  };
}

/** A transaction, a round trip a statement. */
export async function sequence<R>(step: Step, body: (step: Step) => Promise<R>): Promise<R> {
  let isOpen = true;
  const watched: Step = async (statement) => {
    try {
      return await step(statement);
    } catch (error) {
      if (endsConnection(error)) isOpen = false;
      throw error;
    }
  };
  await watched(BEGIN);
  try {
    const value = await body(watched);
    await watched(COMMIT);
    return value;
  } catch (error) {
    // After a failed COMMIT too: where it was cancelled, the transaction is still there. What it says is no news then.
    if (isOpen) await watched(ROLLBACK).catch(() => undefined);
    throw error;
  }
}

/** A transaction whose statements are all sent at once: one round trip. Its connection must be open and nobody else's. */
export async function pipeline(step: Step, statements: readonly Statement[]): Promise<readonly (readonly Row[])[]> {
  const outcomes = await Promise.allSettled([BEGIN, ...statements, COMMIT].map((statement) => step(statement)));
  // What follows a failed statement fails with 25P02, and COMMIT is then a rollback: the first error is the one to tell.
  return outcomes
    .map((outcome) => {
      if (outcome.status === "rejected") throw outcome.reason;
      return outcome.value;
    })
    .slice(1, -1);
}

/** Whether PostgreSQL (or a pooler in its name) said this, also by another copy of the client. */
export function isFromServer(error: unknown): error is Error & { readonly code: string } {
  return error instanceof Error && error.name === "PostgresError" && "code" in error && typeof error.code === "string";
}

/** Whether the connection is gone with this error. */
export function endsConnection(error: unknown): boolean {
  if (!isFromServer(error)) return true;
  const severity: unknown = Reflect.get(error, "severity");
  return severity === "FATAL" || severity === "PANIC";
}

function readRows(found: readonly (readonly (Buffer | null)[])[]): readonly Row[] {
  const rows: Row[] = [];
  for (const columns of found) {
    const row: (string | null)[] = [];
    for (const column of columns) row.push(column === null ? null : column.toString("utf8"));
    rows.push(row);
  }
  return rows;
}
