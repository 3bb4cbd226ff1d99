// The driver: its sections over one executor, and what row security adds to each of their statements.

import type { MemoryScope } from "@memory/core";
import { type DriverCall, type MemoryDriver, MemorySettingsError } from "@memory/core/driver";
import { DEFAULT_SCHEMA } from "./ddl.ts";
import { episodicSection } from "./episodic.ts";
import { erasureSection } from "./erasure.ts";
import { hadNoEffect, isExhausted, isTransient, toMemoryError } from "./errors.ts";
import type { Executor, Statement, Step } from "./executor.ts";
import { profileSection } from "./profile.ts";
import type { Row } from "./row.ts";
import { Statements } from "./statements.ts";
import { verifySchema } from "./verify.ts";

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

/** Runs one statement for a scope. */
export type Run = (scope: MemoryScope, statement: Statement, call: DriverCall) => Promise<readonly Row[]>;
/** Runs statements for a scope in one transaction. */
export type RunBatch = (
  scope: MemoryScope,
  statements: readonly Statement[],
  call: DriverCall,
) => Promise<readonly (readonly Row[])[]>;
/** Runs a transaction for a scope. */
export type RunAll = <R>(scope: MemoryScope, body: (step: Step) => Promise<R>, call: DriverCall) => Promise<R>;

/** The largest value that the driver takes unless the store's options name less: 16 MiB of JSON. */
const MAX_VALUE_BYTES = 16 * 1024 * 1024;

/**
 * A driver over an executor, which it closes.
 *
 * @throws {MemorySettingsError} The schema's name cannot be an identifier, or `rowSecurity` is no boolean.
 */
export function postgresDriver(executor: Executor, options: PostgresDriverOptions = {}): MemoryDriver {
  const { schema = DEFAULT_SCHEMA, rowSecurity = false } = options;
  if (typeof rowSecurity !== "boolean") {
    throw new MemorySettingsError("rowSecurity must be true or false", { setting: "rowSecurity" });
  }
  const statements = new Statements(schema);
  const run: Run = async (scope, statement, call) => {
    if (!rowSecurity) return await executor.run(statement, call);
    const results = await executor.batch([statements.tenant(scope.tenantId), statement], call);
    return results[1] ?? [];
  };
  const runBatch: RunBatch = async (scope, batch, call) => {
    if (!rowSecurity) return await executor.batch(batch, call);
    const results = await executor.batch([statements.tenant(scope.tenantId), ...batch], call);
    return results.slice(1);
  };
  const runAll: RunAll = (scope, body, call) =>
    executor.transaction(async (step) => {
      if (rowSecurity) await step(statements.tenant(scope.tenantId));
      return await body(step);
    }, call);
  return {
    name: "postgres",
    client: executor.client,
    concurrency: executor.concurrency,
    maxValueBytes: MAX_VALUE_BYTES,
    profile: profileSection(statements, run),
    episodic: episodicSection(statements, run, runAll),
    erasure: erasureSection(statements, run, runBatch),
    verify: (_request, call) => verifySchema(executor, { schema, rowSecurity }, call),
    isTransient: (error) => executor.isStray(error) || isTransient(error),
    isExhausted,
    hadNoEffect,
    toMemoryError,
    close: () => executor.close(),
  };
}
