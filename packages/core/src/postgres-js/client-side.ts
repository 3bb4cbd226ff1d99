// What a failure means: to be tried again, for want of room, or for good; and whether it surely had no effect. States of the
// server stand in core's table; what postgres.js and the system say stands here.

import type { MemoryDriver } from "../model/driver.ts";
import { MemorySchemaError } from "../model/errors.ts";
import { isError } from "../model/is-error.ts";
import type { Executor } from "../sql/executor.ts";
import { LostRaceError } from "../sql/lost-race.ts";
import { sqlStateClass, sqlStateHadNoEffect } from "../sql/states.ts";
import { NotSentError } from "./failures.ts";
import { isFromServer } from "./send.ts";

/** What one of the client's or the system's codes means. */
interface ClientState {
  readonly isTransient: boolean;
  readonly hadNoEffect: boolean;
}

/** Codes that are no SQLSTATE; all others are terminal. From postgres.js's src/errors.js, and errno(3). */
const CLIENT_STATES: ReadonlyMap<string, ClientState> = new Map([
  // The connection closed with statements in flight, or was closed from this side.
  ["CONNECTION_CLOSED", { isTransient: true, hadNoEffect: false }],
  ["CONNECTION_DESTROYED", { isTransient: true, hadNoEffect: false }],
  ["CONNECT_TIMEOUT", { isTransient: true, hadNoEffect: true }],
  // Our own (failures.ts).
  ["READ_ONLY_HOST", { isTransient: true, hadNoEffect: true }],
  ["SERVER_WITHOUT_TLS", { isTransient: false, hadNoEffect: true }],
  // The owner of the client has ended it: it will never connect again.
  ["CONNECTION_ENDED", { isTransient: false, hadNoEffect: true }],
  ["ECONNREFUSED", { isTransient: true, hadNoEffect: true }],
  ["ENOTFOUND", { isTransient: true, hadNoEffect: true }],
  ["EAI_AGAIN", { isTransient: true, hadNoEffect: true }],
  // No Unix socket: the server is not (yet) there.
  ["ENOENT", { isTransient: true, hadNoEffect: true }],
  ["ECONNRESET", { isTransient: true, hadNoEffect: false }],
  ["ECONNABORTED", { isTransient: true, hadNoEffect: false }],
  ["EPIPE", { isTransient: true, hadNoEffect: false }],
  ["ETIMEDOUT", { isTransient: true, hadNoEffect: false }],
  ["EHOSTUNREACH", { isTransient: true, hadNoEffect: false }],
  ["ENETUNREACH", { isTransient: true, hadNoEffect: false }],
  ["EHOSTDOWN", { isTransient: true, hadNoEffect: false }],
  ["ENETDOWN", { isTransient: true, hadNoEffect: false }],
]);

/** States that say that the schema is not there, not of this version, or not for this role. */
const SCHEMA_STATES: ReadonlyMap<string, string> = new Map([
  ["3F000", "the database schema is missing: apply schemaSql()"],
  ["42P01", "a table is missing: apply schemaSql()"],
  ["42703", "a column is missing: apply the migrations of this version"],
  ["42804", "a column is of another type: apply the migrations of this version"],
  ["42P10", "a unique index is missing: apply schemaSql()"],
  [
    "42501",
    "the role may not: grant it SELECT, INSERT, UPDATE and DELETE, and open the store with rowSecurity where it is on",
  ],
]);

/** What a driver says of its client: the connections, and how their failures are judged. */
export type ClientSide = Required<
  Pick<
    MemoryDriver,
    "client" | "concurrency" | "isTransient" | "isExhausted" | "hadNoEffect" | "toMemoryError" | "close"
  >
>;

/** The members of a driver that are the same over any tables. `adapter` is its name. The driver closes the executor. */
export function clientSide(adapter: string, executor: Executor): ClientSide {
  return {
    client: executor.client,
    concurrency: executor.concurrency,
    isTransient: (error) => executor.isStray(error) || isTransient(error),
    isExhausted,
    hadNoEffect,
    toMemoryError: (error) => toSchemaError(adapter, error),
    close: () => executor.close(),
  };
}

/** Whether calling again may help. */
export function isTransient(error: unknown): boolean {
  if (error instanceof LostRaceError) return true;
  if (error instanceof NotSentError) return isTransient(error.cause);
  if (isFromServer(error)) return sqlStateClass(error.code) === "transient";
  return clientState(error)?.isTransient ?? false;
}

/** Whether the server, or a pooler before it, had no room. */
function isExhausted(error: unknown): boolean {
  return isFromServer(error) && sqlStateClass(error.code) === "exhausted";
}

/** Whether it surely had no effect. */
export function hadNoEffect(error: unknown): boolean {
  if (error instanceof LostRaceError || error instanceof NotSentError) return true;
  if (isFromServer(error)) return sqlStateHadNoEffect(error.code);
  return clientState(error)?.hadNoEffect ?? false;
}

// The schema's error where it is one.
function toSchemaError(adapter: string, error: unknown): MemorySchemaError | undefined {
  const finding = isFromServer(error) ? SCHEMA_STATES.get(error.code) : undefined;
  if (finding === undefined) return undefined;
  return new MemorySchemaError(
    `${adapter}: ${finding}; verify() names everything that is wrong`,
    { findings: [finding] },
    error,
  );
}

function clientState(error: unknown): ClientState | undefined {
  const code: unknown = isError(error) ? Reflect.get(error, "code") : undefined;
  return typeof code === "string" ? CLIENT_STATES.get(code) : undefined;
}
