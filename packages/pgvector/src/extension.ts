// Where pgvector is: statements name its type and operators with the schema that it was made in, and need no search path. The
// same look tells how the table is kept: in partitions or not, and with which graphs.

import { type DriverCall, MemorySchemaError } from "@memory/core/driver";
import { isFromServer } from "@memory/core/postgres-js";
import { type Executor, quoteIdentifier, type Statement } from "@memory/core/sql";
import type { Collection } from "./collection.ts";
import { Graphs } from "./graph.ts";

/** What statements are made for. */
export interface Place {
  /** The schema of the extension, quoted. */
  readonly extension: string;
  readonly isPartitioned: boolean;
  /** How many records the table has, as far as the server knows. */
  readonly records: number;
  /** Those that are there and whole. */
  readonly graphs: Graphs;
}

const LOOK = `SELECT n.nspname::text,t.relkind='p',t.reltuples::bigint,(SELECT pg_catalog.json_agg(x.relname) FROM pg_catalog.pg_index i JOIN pg_catalog.pg_class x ON x.oid=i.indexrelid JOIN pg_catalog.pg_am m ON m.oid=x.relam WHERE i.indrelid=t.oid AND i.indisvalid AND m.amname='hnsw')
 FROM pg_catalog.pg_extension e JOIN pg_catalog.pg_namespace n ON n.oid=e.extnamespace LEFT JOIN (SELECT c.oid,c.relkind,c.reltuples FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace s ON s.oid=c.relnamespace WHERE s.nspname=$1::text AND c.relname=$2::text) t ON true WHERE e.extname='vector'`;

/** How long what was seen is taken for true, in milliseconds: then a graph that was made or dropped is noticed. */
const LOOK_AGAIN_MS = 60_000;

/** SQLSTATEs undefined_function, undefined_object and invalid_schema_name: it is not where it was. */
const MOVED: readonly string[] = ["42883", "42704", "3F000"];

/** Statements that were made for where the extension is. */
export class Located<S> {
  readonly #executor: Executor;
  readonly #collection: string;
  readonly #look: Statement;
  readonly #make: (place: Place) => S;
  #made: S | undefined;
  #madeAt = 0;

  /** @param make Makes the statements. */
  constructor(
    executor: Executor,
    { schema, collection }: Pick<Collection, "schema" | "collection">,
    make: (place: Place) => S,
  ) {
    this.#executor = executor;
    this.#collection = collection;
    this.#look = { text: LOOK, params: [schema, collection] };
    this.#make = make;
  }

  /**
   * Does something with the statements. The first time things are looked up, in a round trip of its own; and again after a
   * minute, and where the extension was moved.
   *
   * @throws {MemorySchemaError} The database does not have the extension.
   */
  async use<R>(call: DriverCall, body: (statements: S) => Promise<R>): Promise<R> {
    const isOld = performance.now() - this.#madeAt > LOOK_AGAIN_MS;
    const statements = this.#made === undefined || isOld ? await this.#lookUp(call) : this.#made;
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
    const graphs: unknown = JSON.parse(row[3] ?? "[]");
    this.#madeAt = performance.now();
    this.#made = this.#make({
      extension: quoteIdentifier(row[0] ?? ""),
      isPartitioned: row[1] === "t",
      records: Number(row[2] ?? 0),
      graphs: new Graphs(this.#collection, Array.isArray(graphs) ? graphs.map(String) : []),
    });
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
