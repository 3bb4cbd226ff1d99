// The driver: its sections over one executor.

import type { MemoryDriver } from "@memory/core/driver";
import { clientSide } from "@memory/core/postgres-js";
import { checkLayout, type Executor, erasureSection, scopedExecutor, verifySchema } from "@memory/core/sql";
import { episodicSection } from "./episodic.ts";
import { profileSection } from "./profile.ts";
import { statementsOf } from "./statements.ts";
import { SAMPLED, TABLES } from "./tables.ts";

/** How the driver finds its tables. */
export interface PostgresDriverOptions {
  /** The database schema that the tables are in. Default `memory`. */
  readonly schema?: string | undefined;
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
 * @throws {MemorySettingsError} The schema's name cannot be an identifier, or `rowSecurity` is no boolean.
 */
export function postgresDriver(executor: Executor, options: PostgresDriverOptions = {}): MemoryDriver {
  const { schema, rowSecurity } = checkLayout(options);
  const statements = statementsOf(schema);
  const scoped = scopedExecutor(executor, rowSecurity);
  const look = {
    adapter: "postgres",
    bin: "memory-postgres-schema",
    schema,
    tables: TABLES,
    sampled: SAMPLED,
    rowSecurity,
  };
  return {
    name: "postgres",
    ...clientSide("postgres", executor),
    maxValueBytes: MAX_VALUE_BYTES,
    profile: profileSection(statements, scoped),
    episodic: episodicSection(statements.episodes, scoped),
    erasure: erasureSection(statements.erasure, scoped),
    verify: (_request, call) => verifySchema(executor, look, call),
  };
}
