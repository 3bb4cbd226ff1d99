// What of postgres.js is used, as types of our own: core has no dependency on it, and an adapter passes its `postgres` in.

/** A column as the server sent it. */
export interface PostgresJsColumn {
  toString(encoding: "utf8"): string;
}

/** A query, sent when it is awaited. */
export interface PostgresJsQuery {
  /** Columns as they came, past every parser and transform of the client. */
  raw(): Promise<readonly (readonly (PostgresJsColumn | null)[])[]>;
  /** Columns as texts, but where the client has a parser or a transform. */
  values(): Promise<readonly (readonly (string | null)[])[]>;
}

/** What takes statements: a client, or a connection of it. */
export interface PostgresJsSender {
  unsafe(
    text: string,
    params: (string | number | boolean | null)[],
    options: { readonly prepare: boolean },
  ): PostgresJsQuery;
}

/** A postgres.js client, of whatever types its owner gave it. */
export interface PostgresJsClient extends PostgresJsSender {
  readonly options: {
    readonly max: number;
    readonly host: readonly string[];
    readonly port: readonly number[];
    /** By the oid of a type. */
    readonly parsers: Record<string, unknown>;
    /** By the oid of a type. */
    readonly serializers: Record<string, unknown>;
  };
  /** A connection for this caller alone. */
  reserve(): Promise<PostgresJsSender & { release(): void }>;
  end(options: { readonly timeout: number }): Promise<void>;
}

/** The options that a connection of our own is made with. */
export interface PostgresJsOptions {
  readonly host?: string;
  readonly port?: number;
  readonly path?: string;
  readonly max: number;
  readonly prepare: boolean;
  /** In seconds. */
  readonly connect_timeout: number;
  readonly max_lifetime: null;
  readonly fetch_types: boolean;
  readonly onnotice: () => void;
  readonly onclose: () => void;
  /** Gives the socket to speak over. */
  readonly socket: () => Promise<unknown>;
}

/** The function that postgres.js exports. */
export type PostgresJs = (dsn: string, options?: PostgresJsOptions) => PostgresJsClient;
