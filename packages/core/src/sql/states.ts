// What each SQLSTATE means for a store: one table, with its reasons, whichever client brought the error.

/** What to do about a failed statement: try it again, refuse for want of room, or give up. */
export type SqlStateClass = "transient" | "exhausted" | "terminal";

/** What one SQLSTATE means for a store. */
export interface SqlState {
  readonly code: string;
  /** The condition's name in PostgreSQL's Appendix A. */
  readonly name: string;
  readonly class: SqlStateClass;
  /** The server says it only when the statement surely had no effect: it was never begun, or was rolled back. */
  readonly hadNoEffect: boolean;
  /** Why it stands where it does. */
  readonly reason: string;
}

/**
 * Every SQLSTATE that was thought about, by code; the names are those of PostgreSQL 18, Appendix A. All others are terminal.
 *
 * @see https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
export const SQL_STATES: ReadonlyMap<string, SqlState> = new Map(
  [
    // Class 40, transaction rollback: the server undid it and says that it may go well the next time.
    state(
      "40001",
      "serialization_failure",
      "transient",
      true,
      "lost to a concurrent transaction, or to recovery on a standby",
    ),
    state("40P01", "deadlock_detected", "transient", true, "chosen as the victim; the other one goes on"),
    state("40000", "transaction_rollback", "transient", true, "rolled back for a reason outside the statement"),
    state("40003", "statement_completion_unknown", "transient", false, "the server itself does not know"),
    state("40002", "transaction_integrity_constraint_violation", "terminal", true, "the data break a constraint"),
    state("55P03", "lock_not_available", "transient", true, "NOWAIT or lock_timeout; the lock is let go some time"),
    state("72000", "snapshot_too_old", "transient", true, "a new attempt takes a new snapshot (before PostgreSQL 17)"),

    // Class 08, connection exception: from drivers and poolers, seldom from the server. What was in flight is lost to sight.
    state("08000", "connection_exception", "transient", false, "the connection broke"),
    state("08001", "sqlclient_unable_to_establish_sqlconnection", "transient", true, "never connected"),
    state("08003", "connection_does_not_exist", "transient", false, "the connection was gone"),
    state(
      "08004",
      "sqlserver_rejected_establishment_of_sqlconnection",
      "transient",
      true,
      "a pooler in failover; never connected",
    ),
    state("08006", "connection_failure", "transient", false, "the connection broke in the middle"),
    state("08007", "transaction_resolution_unknown", "transient", false, "the connection broke at the commit"),
    state("08P01", "protocol_violation", "transient", false, "PgBouncer's code for its own timeouts and refusals"),

    // Class 57, operator intervention: the server is going or coming.
    state(
      "57P01",
      "admin_shutdown",
      "transient",
      false,
      "backend terminated: shutdown, failover, pg_terminate_backend",
    ),
    state("57P02", "crash_shutdown", "transient", false, "another backend crashed, and the server starts again"),
    state(
      "57P03",
      "cannot_connect_now",
      "transient",
      true,
      "starting up, shutting down or in recovery; never connected",
    ),
    state("57P05", "idle_session_timeout", "transient", false, "the pool gave out a session that the server had ended"),
    state(
      "57014",
      "query_canceled",
      "terminal",
      true,
      "statement_timeout or an operator stopped it; again costs as much again",
    ),
    state("57P04", "database_dropped", "terminal", false, "there is nothing to come back to"),

    // Class 25, invalid transaction state.
    state("25006", "read_only_sql_transaction", "transient", true, "connected to a replica: a failover is under way"),
    state(
      "25P03",
      "idle_in_transaction_session_timeout",
      "transient",
      true,
      "the session ended and its transaction was undone",
    ),
    state("25P04", "transaction_timeout", "terminal", true, "the operator's limit, as 57014"),
    state(
      "25P02",
      "in_failed_sql_transaction",
      "terminal",
      true,
      "an echo of an earlier error, which is the one to judge",
    ),

    // Class 53, insufficient resources.
    state("53300", "too_many_connections", "exhausted", true, "no connection slot left, for all or for this role"),
    state("53000", "insufficient_resources", "terminal", true, "not a matter of milliseconds"),
    state("53100", "disk_full", "terminal", true, "not a matter of milliseconds"),
    state(
      "53200",
      "out_of_memory",
      "terminal",
      true,
      "another attempt adds to the pressure, or needs as many locks again",
    ),
    state(
      "53400",
      "configuration_limit_exceeded",
      "terminal",
      true,
      "the same statement meets the same limit (temp_file_limit)",
    ),

    // Class 58, system error, from outside PostgreSQL itself.
    state("58000", "system_error", "transient", false, "poolers' code for having no server at the moment"),
    state("58030", "io_error", "terminal", false, "a disk that fails needs an operator"),

    // Prepared statements that a pooler in transaction mode loses: `prepare: false` is the cure, not another attempt.
    state(
      "26000",
      "invalid_sql_statement_name",
      "terminal",
      true,
      "another backend's prepared statement; set prepare: false",
    ),
    state(
      "42P05",
      "duplicate_prepared_statement",
      "terminal",
      true,
      "another client's prepared statement; set prepare: false",
    ),

    // Wrong in a way that trying cannot mend: access and schema.
    state("28P01", "invalid_password", "terminal", true, "and repeating it may lock the account"),
    state("28000", "invalid_authorization_specification", "terminal", true, "no such role, or pg_hba.conf refuses it"),
    state("3D000", "invalid_catalog_name", "terminal", true, "no such database"),
    state("3F000", "invalid_schema_name", "terminal", true, "the migrations have not been applied"),
    state("42P01", "undefined_table", "terminal", true, "the migrations have not been applied"),
    state("42703", "undefined_column", "terminal", true, "the migrations are of another version"),
    state("42883", "undefined_function", "terminal", true, "the extension is missing or in a schema out of sight"),
    state("42704", "undefined_object", "terminal", true, "the extension's type is missing or in a schema out of sight"),
    state(
      "42501",
      "insufficient_privilege",
      "terminal",
      true,
      "the role lacks a grant, or a row policy refused the row",
    ),
    state("0A000", "feature_not_supported", "terminal", true, "also a cached plan whose table changed"),
    state("XX000", "internal_error", "terminal", false, "a bug of the server's"),
    state("XX001", "data_corrupted", "terminal", false, "a damaged table needs an operator"),
    state("XX002", "index_corrupted", "terminal", false, "a damaged index needs an operator"),
  ].map((row) => [row.code, row]),
);

/** What to do about a statement that failed with this SQLSTATE. Unknown codes, and what is no SQLSTATE, are terminal. */
export function sqlStateClass(code: string): SqlStateClass {
  return SQL_STATES.get(code)?.class ?? "terminal";
}

/**
 * Whether a single statement that failed with this SQLSTATE surely had no effect. PostgreSQL rolls a failed statement
 * back, so this holds for every state that a living server answers with; not for broken connections, and not for what is
 * no SQLSTATE (`EPIPE` looks like one).
 */
export function sqlStateHadNoEffect(code: string): boolean {
  const known = SQL_STATES.get(code);
  if (known !== undefined) return known.hadNoEffect;
  return /^(?:[0-9][0-9A-Z]|P0|HV)[0-9A-Z]{3}$/.test(code) && !/^(?:08|57|58)/.test(code);
}

function state(code: string, name: string, stateClass: SqlStateClass, hadNoEffect: boolean, reason: string): SqlState {
  return { code, name, class: stateClass, hadNoEffect, reason };
}
