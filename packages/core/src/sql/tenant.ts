// Whose statements run: the tenant named to row security, and the lock by which an erasure keeps a tenant's writers out.

import type { DriverCall } from "../model/driver.ts";
import type { MemoryScope } from "../model/scope.ts";
import type { Executor, Row, Statement, Step } from "./executor.ts";

/** The setting by which a session names its tenant where row security is on. */
export const TENANT_SETTING = "adk.tenant";

/** Names the tenant to row security, until the transaction ends. */
export function tenantStatement(tenantId: string): Statement {
  return { text: `SELECT set_config('${TENANT_SETTING}', $1::text, true)`, params: [tenantId] };
}

/** Runs statements for a scope: with row security, its tenant is named first, in the same transaction. */
export interface ScopedExecutor {
  /** One statement. */
  run(scope: MemoryScope, statement: Statement, call: DriverCall): Promise<readonly Row[]>;
  /** Statements in one transaction; the rows of each. */
  batch(scope: MemoryScope, statements: readonly Statement[], call: DriverCall): Promise<readonly (readonly Row[])[]>;
  /** A transaction; see {@link Executor.transaction}. Naming another tenant in it is the body's task. */
  transaction<R>(scope: MemoryScope, body: (step: Step) => Promise<R>, call: DriverCall): Promise<R>;
}

/** Statements for scopes over an executor. Without row security, each costs what it costs the executor. */
export function scopedExecutor(executor: Executor, rowSecurity: boolean): ScopedExecutor {
  if (!rowSecurity) {
    return {
      run: (_scope, statement, call) => executor.run(statement, call),
      batch: (_scope, statements, call) => executor.batch(statements, call),
      transaction: (_scope, body, call) => executor.transaction(body, call),
    };
  }
  const batch: ScopedExecutor["batch"] = async ({ tenantId }, statements, call) => {
    const results = await executor.batch([tenantStatement(tenantId), ...statements], call);
    return results.slice(1);
  };
  return {
    run: async (scope, statement, call) => (await batch(scope, [statement], call))[0] ?? [],
    batch,
    transaction: ({ tenantId }, body, call) =>
      executor.transaction(async (step) => {
        await step(tenantStatement(tenantId));
        return await body(step);
      }, call),
  };
}

/**
 * A lock a tenant, until the transaction ends: writers share it, an erasure takes it alone. So a write is wholly before an
 * erasure, which then sees it, or wholly after.
 */
export interface TenantLock {
  /** The parameter that stands for the tenant's lock. */
  param(scope: MemoryScope): string;
  /** The query by which a writer shares the lock, in the statement of its write; `placeholder` is of {@link param}. */
  sharedSql(placeholder: string): string;
  /** Waits for the tenant's writers and keeps new ones out. To be run before the erasure, in its transaction. */
  alone(scope: MemoryScope): Statement;
}

/** The locks of the tables that go by this name, a name for all whose writes an erasure has to keep out. */
export function tenantLock(name: string): TenantLock {
  const param = ({ tenantId }: MemoryScope): string => `${name}\u0001${tenantId}`;
  return {
    param,
    sharedSql: (placeholder) => `SELECT pg_advisory_xact_lock_shared(hashtextextended(${placeholder},0))`,
    alone: (scope) => ({ text: "SELECT pg_advisory_xact_lock(hashtextextended($1::text,0))", params: [param(scope)] }),
  };
}
