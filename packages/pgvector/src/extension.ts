// Where pgvector is: statements name its type and operators with the schema that it was made in, and need no search path. The
// same look tells whether the table is split into partitions.

import { type DriverCall, MemorySchemaError } from "@memory/core/driver";
import { isFromServer } from "@memory/core/postgres-js";
import { type Executor, quoteIdentifier, type Statement } from "@memory/core/sql";
import type { Collection } from "./collection.ts";

/** What statements are made for. */
export interface Place {
  /** The schema of the extension, quoted. */
  readonly extension: string;
  readonly isPartitioned: boolean;
}

const LOOK = `SELECT n.nspname::text,EXISTS (SELECT FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace s ON s.oid=c.relnamespace WHERE s.nspname=$1::text AND c.relname=$2::text AND c.relkind='p')
 FROM pg_catalog.pg_extension e JOIN pg_catalog.pg_namespace n ON n.oid=e.extnamespace WHERE e.extname='vector'`;

/** SQLSTATEs undefined_function, undefined_object and invalid_schema_name: it is not where it was. */
const MOVED: readonly string[] = ["42883", "42704", "3F000"];

/** Statements that were made for where the extension is. */
export class Located<S> {
  readonly #executor: Executor;
  readonly #look: Statement;
  readonly #make: (place: Place) => S;
  #made: S | undefined;

  /** @param make Makes the statements. */
  constructor(
    executor: Executor,
    { schema, collection }: Pick<Collection, "schema" | "collection">,
    make: (place: Place) => S,
  ) {
    this.#executor = executor;
    this.#look = { text: LOOK, params: [schema, collection] };
    this.#make = make;
  }

  /**
   * Does something with the statements. The first time the extension's schema is looked up, in a round trip of its own; and
   * again after it was moved.
   *
   * @throws {MemorySchemaError} The database does not have the extension.
   */
  async use<R>(call: DriverCall, body: (statements: S) => Promise<R>): Promise<R> {
    const statements = this.#made ?? (await this.#lookUp(call));
    try {
      return await body(statements);
    } catch (error) {
      if (isMoved(error)) this.#made = undefined;
      throw error;
    }
  }

  async #lookUp(call: DriverCall): Promise<S> {
    const [row] = await this.#executor.run(this.#look, call);
    if (row === undefined) throw missingExtension();
    this.#made = this.#make({ extension: quoteIdentifier(row[0] ?? ""), isPartitioned: row[1] === "t" });
    return this.#made;
  }
}

/** Whether a statement failed because the extension is not where it was. */
export function isMoved(error: unknown): boolean {
  return isFromServer(error) && MOVED.includes(error.code);
}

/** The error of a database that does not have the extension, or has it elsewhere than a moment ago. */
export function missingExtension(cause?: unknown): MemorySchemaError {
  const finding =
    cause === undefined
      ? "the extension vector is missing: CREATE EXTENSION vector;"
      : "the extension vector was moved, or the collection is not of this width and metric: verify() tells";
  return new MemorySchemaError(`pgvector: ${finding}`, { findings: [finding] }, cause);
}
