// How connections of our own fail, beside what the client says of them. `client-side.ts` judges them.

/** The server said nothing any more, and the connection was closed. */
export class SilentServerError extends Error {
  override readonly name = "SilentServerError";
  readonly code = "ETIMEDOUT";
  constructor() {
    super("the server fell silent");
  }
}

/** The connection was closed before it could be used. */
export class ClosedConnectionError extends Error {
  override readonly name = "ClosedConnectionError";
  readonly code = "CONNECTION_CLOSED";
  constructor() {
    super("the connection was closed");
  }
}

/** The host takes connections, and no writes: a standby, or one that its operator has closed. */
export class ReadOnlyHostError extends Error {
  override readonly name = "ReadOnlyHostError";
  readonly code = "READ_ONLY_HOST";
  constructor() {
    super("the host takes no writes");
  }
}

/** The statement was on no connection: it surely had no effect. Whether to try again depends on the cause. */
export class NotSentError extends Error {
  override readonly name = "NotSentError";
  readonly code = "NOT_SENT";
  constructor(cause: unknown) {
    super("there is no connection", { cause });
  }
}

/** The connection string asks for TLS, and the server has none. */
export class NoTlsError extends Error {
  override readonly name = "NoTlsError";
  readonly code = "SERVER_WITHOUT_TLS";
  constructor() {
    super("the server has no TLS, which the connection string asks for");
  }
}
