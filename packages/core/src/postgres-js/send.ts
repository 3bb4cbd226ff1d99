// How statements go over postgres.js: columns as plain text, and a transaction as a sequence of statements on one connection.
// `sql.begin` is not used: when its connection closes, it throws where nobody can catch it (postgres.js 3.4.9).

import { isError } from "../model/is-error.ts";
import type { Row, Statement, Step } from "../sql/executor.ts";
import type { PostgresJsClient, PostgresJsColumn, PostgresJsSender } from "./client.ts";

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
/** How often one is sent where it does not go through. */
const ROLLBACKS = 3;

/** Whether it ends a transaction; one that fails (cancelled, say) may leave the transaction open. */
export function endsTransaction({ text }: Statement): boolean {
  return text === COMMIT.text || text === ROLLBACK.text;
}

/** How statements go over a client. */
export interface Manner {
  readonly prepare: boolean;
  /** The client is {@link plain}: its values are the text that the server sent. */
  readonly isPlain: boolean;
}

/** Sends a statement; columns come back as the text that the server sent, past every parser and transform of the client. */
export function send(client: PostgresJsSender, { text, params }: Statement, { prepare, isPlain }: Manner): Sent {
  const query = client.unsafe(text, [...params], { prepare });
  const rows = isPlain ? query.values().then(asTheyAre) : query.raw().then(readRows);
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
    // After a failed COMMIT too: where it was cancelled, the transaction is still there. A cancellation that comes late may
    // hit this as well, so it is sent again. What it says is no news.
    for (let tries = 0; isOpen && tries < ROLLBACKS; tries += 1) {
      const isDone = await watched(ROLLBACK).then(
        () => true,
        () => false,
      );
      if (isDone) break;
    }
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
  return isError(error) && error.name === "PostgresError" && "code" in error && typeof error.code === "string";
}

/** Whether the connection is gone with this error. */
export function endsConnection(error: unknown): boolean {
  if (!isFromServer(error)) return true;
  const severity: unknown = Reflect.get(error, "severity");
  return severity === "FATAL" || severity === "PANIC";
}

/** The same client, which is new and has no transforms: from here on every column and every parameter is text to it. */
export function plain(client: PostgresJsClient): PostgresJsClient {
  const { parsers, serializers } = client.options;
  for (const table of [parsers, serializers]) for (const type of Object.keys(table)) delete table[type];
  return client;
}

// A promise of the client's own, a subclass, costs two turns more each time it is awaited.
function asTheyAre(rows: readonly Row[]): readonly Row[] {
  return rows;
}

function readRows(found: readonly (readonly (PostgresJsColumn | null)[])[]): readonly Row[] {
  const rows: Row[] = [];
  for (const columns of found) {
    const row: (string | null)[] = [];
    for (const column of columns) row.push(column === null ? null : column.toString("utf8"));
    rows.push(row);
  }
  return rows;
}
