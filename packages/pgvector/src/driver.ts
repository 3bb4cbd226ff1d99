// The driver: its sections over one executor.

import { EmbeddingDimensionError, type MemoryError, MemorySchemaError } from "@memory/core";
import type { MemoryDriver } from "@memory/core/driver";
import { clientSide, isFromServer } from "@memory/core/postgres-js";
import { type Executor, erasureSection, scopedExecutor } from "@memory/core/sql";
import { type CollectionOptions, checkCollection } from "./collection.ts";
import { isMoved, Located, missingExtension } from "./extension.ts";
import { semanticSection } from "./semantic.ts";
import { erasureStatements, vectorStatements } from "./statements.ts";
import { OTHER_WIDTH, verifyCollection } from "./verify.ts";

/** How the driver finds its tables, and what they hold. */
export interface PgvectorDriverOptions extends CollectionOptions {
  /**
   * The tables have row security: every call names its tenant to the server first, in one transaction with its statement.
   * On connections of the store's own that is still one round trip, on a borrowed client one a statement, four in all.
   * Default `false`.
   */
  readonly rowSecurity?: boolean | undefined;
}

/** The largest value that the driver takes unless the store's options name less: 16 MiB of JSON. */
const MAX_VALUE_BYTES = 16 * 1024 * 1024;

/**
 * A driver over an executor, which it closes.
 *
 * @throws {MemorySettingsError} An option is unknown or out of its range; `setting` names it.
 */
export function pgvectorDriver(executor: Executor, options: PgvectorDriverOptions): MemoryDriver {
  const collection = checkCollection(options);
  const located = new Located(executor, collection, (place) => vectorStatements(collection, place));
  const scoped = scopedExecutor(executor, collection.rowSecurity);
  const client = clientSide("pgvector", executor);
  return {
    name: "pgvector",
    ...client,
    maxValueBytes: MAX_VALUE_BYTES,
    semantic: semanticSection(collection, located, scoped),
    erasure: erasureSection(erasureStatements(collection), scoped),
    toMemoryError: (error) => toVectorError(error, collection.dimensions) ?? client.toMemoryError(error),
    verify: (_request, call) => verifyCollection(executor, collection, call),
  };
}

function toVectorError(error: unknown, dimensions: number): MemoryError | undefined {
  if (isMoved(error)) return missingExtension(error);
  if (!isFromServer(error)) return undefined;
  // SQLSTATE check_violation: the check on the embedder, the only one that a record can break.
  if (error.code === "23514") {
    const finding = "the collection takes the vectors of another embedder alone";
    return new MemorySchemaError(`pgvector: ${finding}; verify() names it`, { findings: [finding] }, error);
  }
  // SQLSTATEs data_exception and string_data_length_mismatch. In all messages of pgvector's the table's width comes first;
  // they are never translated.
  const width = /^(?:expected|different (?:(?:half)?vec(?:tor)? dimensions|bit lengths)) (\d+)/.exec(
    error.message,
  )?.[1];
  if (width === undefined) return undefined;
  return new EmbeddingDimensionError(
    `pgvector: the collection holds vectors of width ${width}, the store was opened for ${dimensions}: ${OTHER_WIDTH}; verify() names everything that is wrong`,
    { expected: dimensions, received: Number(width) },
  );
}
