// What statements are, and what they run on: the seam between an adapter's SQL and its client.

/** A row as the server sent it: each column's text, or `null`. */
export type Row = readonly (string | null)[];

/** A value of a parameter; everything else is written as text and cast in the statement. */
export type Param = string | number | boolean | null;

/** One statement with its parameters, `$1` first. */
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

/**
 * Runs statements. Rejects with the client's own errors, unchanged. When the signal aborts it stops early and rejects with
 * anything; it never leaves a statement running on a connection that it has handed on. Columns come back as the text that
 * the server sent, so that no parser or transform of the client's can change a value.
 *
 * @handedIn a minor adds only members that may be left out.
 */
export interface Executor {
  /** The object that stands for the connections: stores over the same one share one gate. */
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
  /** Closes what it owns. */
  close(): Promise<void>;
}
