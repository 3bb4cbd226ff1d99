// What Redis replies, sockets and ioredis say when something fails, and what that means: try again, no room, or never.
// One table; each row has its source, and a test in which a real server raises it.

import type { MemoryError } from "@memory/core";
import { isError, MemoryCorruptionError } from "@memory/core/driver";

/** Nothing was sent: the connection was not there. `cause` says why, when the client knew. */
export class NotSentError extends Error {
  override readonly name = "NotSentError";
  readonly code = "NOT_SENT";
}

/** What a failure means. */
export interface Verdict {
  /** Trying again may help. */
  readonly isTransient: boolean;
  /** The server had no room. */
  readonly isExhausted: boolean;
  /** It surely had no effect. */
  readonly hadNoEffect: boolean;
}

const AGAIN: Verdict = { isTransient: true, isExhausted: false, hadNoEffect: true };
const LOST: Verdict = { isTransient: true, isExhausted: false, hadNoEffect: false };
const FULL: Verdict = { isTransient: false, isExhausted: true, hadNoEffect: true };
const NEVER: Verdict = { isTransient: false, isExhausted: false, hadNoEffect: true };
const UNKNOWN: Verdict = { isTransient: false, isExhausted: false, hadNoEffect: false };

/** The first word of an error reply. Shared objects of redis/src/server.c (createSharedObjects) unless noted. */
const REPLIES: Readonly<Record<string, Verdict>> = {
  // A replica, or a master that was demoted: nothing is run.
  READONLY: AGAIN,
  LOADING: AGAIN,
  // replica-serve-stale-data no.
  MASTERDOWN: AGAIN,
  // cluster.c, getNodeByQuery: no node serves the slot now; keys are on the move; the slot is elsewhere.
  CLUSTERDOWN: AGAIN,
  TRYAGAIN: AGAIN,
  MOVED: AGAIN,
  ASK: AGAIN,
  // Another script runs for longer than busy-reply-threshold.
  BUSY: AGAIN,
  // min-replicas-to-write; the server cannot save and refuses to write.
  NOREPLICAS: AGAIN,
  MISCONF: AGAIN,
  // Only where EVAL answers it too; the fallback has taken care of EVALSHA.
  NOSCRIPT: AGAIN,
  // A blocked client was sent away as the role changed (blocked.c); a script was killed (SCRIPT KILL kills only what has not written).
  UNBLOCKED: AGAIN,
  // maxmemory is reached and nothing may be evicted. Scripts are refused at their first write (script.c), and ours
  // write nothing before it. More attempts in the next second do not make room.
  OOM: FULL,
  NOAUTH: NEVER,
  WRONGPASS: NEVER,
  NOPERM: NEVER,
  NOPROTO: NEVER,
};

/** Replies of the word `ERR`, by what follows. */
const ERRORS: readonly (readonly [RegExp, Verdict])[] = [
  // networking.c, acceptCommonHandler: sent on accepting, then the server closes. Some managed services word it anew.
  [/max number of clients/i, FULL],
  // db.c, selectCommand: the connection string names a database that is not there.
  [/^ERR (?:DB index is out of range|invalid DB index|SELECT is not allowed in cluster mode)/, NEVER],
];

/** `error.code` of sockets and name resolution (Node's `errors`, libuv); before a connection none had an effect. */
const SOCKETS: Readonly<Record<string, Verdict>> = {
  ECONNREFUSED: AGAIN,
  EHOSTUNREACH: AGAIN,
  ENETUNREACH: AGAIN,
  ENOTFOUND: AGAIN,
  EAI_AGAIN: AGAIN,
  EADDRNOTAVAIL: AGAIN,
  ECONNRESET: LOST,
  EPIPE: LOST,
  ETIMEDOUT: LOST,
  ECONNABORTED: LOST,
  ERR_SOCKET_CLOSED: LOST,
  // No file descriptors are left in this process.
  EMFILE: FULL,
  // The certificate will not change by itself.
  CERT_HAS_EXPIRED: NEVER,
  DEPTH_ZERO_SELF_SIGNED_CERT: NEVER,
  SELF_SIGNED_CERT_IN_CHAIN: NEVER,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: NEVER,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: NEVER,
  ERR_TLS_CERT_ALTNAME_INVALID: NEVER,
};

/** Messages of ioredis 6, which have no code (built/utils, Redis.js, event_handler.js, cluster/index.js). */
const CLIENT: readonly (readonly [RegExp, Verdict])[] = [
  [/^Stream isn't writeable and enableOfflineQueue options is false$/, AGAIN],
  [/^Cluster isn't ready and enableOfflineQueue options is false$/, AGAIN],
  [/^Connection is closed\.$/, LOST],
  [/^Command aborted due to connection close$/, LOST],
  [/^Command timed out$/, LOST],
  [/^connect ETIMEDOUT$/, AGAIN],
  [/^Reached the max retries per request limit/, LOST],
  [/^Too many Cluster redirections/, AGAIN],
  [/^Failed to refresh slots cache/, AGAIN],
  [/^All sentinels are unreachable/, AGAIN],
  [/^Socket timeout/, LOST],
  [/^None of startup nodes is available$/, AGAIN],
  [/^Cluster is ended\.$/, AGAIN],
  [/^Client network socket disconnected before secure TLS connection was established$/, AGAIN],
];

/** What an error of the client means. */
export function judge(error: unknown): Verdict {
  if (!isError(error)) return UNKNOWN;
  if (error instanceof NotSentError) {
    const why = error.cause === undefined ? AGAIN : judge(error.cause);
    // Whatever broke the connection before, this command was never on it.
    return why.isExhausted || why === NEVER ? why : AGAIN;
  }
  const word = /^-?([A-Z]+)(?= |$)/.exec(error.message)?.[1] ?? "";
  const reply = REPLIES[word];
  if (reply !== undefined) return reply;
  const worded = ERRORS.find(([pattern]) => pattern.test(error.message));
  if (worded !== undefined) return worded[1];
  const code = Reflect.get(error, "code");
  const socket = typeof code === "string" ? SOCKETS[code] : undefined;
  if (socket !== undefined) return socket;
  const known = CLIENT.find(([pattern]) => pattern.test(error.message));
  if (known !== undefined) return deeper(error, known[1]);
  return UNKNOWN;
}

/** A foreign value at one of our names. */
export function toMemoryError(error: unknown): MemoryError | undefined {
  if (!isError(error) || !/^-?WRONGTYPE /.test(error.message)) return undefined;
  return new MemoryCorruptionError(
    "something else than a record stands at a record's name in Redis",
    { id: null, payload: undefined },
    error,
  );
}

// A cluster reports what its last node said; a wrong password stays wrong.
function deeper(error: Error, otherwise: Verdict): Verdict {
  const last: unknown = Reflect.get(error, "lastNodeError") ?? error.cause;
  if (!isError(last) || last === error) return otherwise;
  const verdict = judge(last);
  return verdict.isExhausted || verdict === NEVER ? verdict : otherwise;
}
