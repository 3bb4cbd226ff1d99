// A PostgreSQL server: which one a test gets, of this machine or of a container, and the handle by which it is broken and
// mended.

import { findPostgresFolder, hasExtension } from "./binaries.ts";
import { isLive, isRequired, MissingServerError, sayOnce } from "./missing.ts";
import { startLocalPostgres } from "./postgres-local.ts";

/** How the server is set up. */
export interface PostgresOptions {
  /** Lines of postgresql.conf, such as `{ max_connections: "20" }`. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Waits for the disk at each commit; off by default, as a killed process loses nothing without it. */
  readonly fsync?: boolean;
  /** Password of the superuser, by SCRAM; without one every user is trusted. */
  readonly password?: string;
  /** Extensions, such as `vector`, that every database has from the start, in its schema `public`. */
  readonly extensions?: readonly string[];
  /** Its data lie on a disk of their own of so many megabytes (a local server; see `canMountDisk`); 128 is little. */
  readonly diskMb?: number;
}

/** A running server. */
export interface PostgresServer {
  /** `postgres://` URL of the superuser and the database `memory`. */
  readonly url: string;
  readonly host: string;
  readonly port: number;
  /** The superuser's name. */
  readonly user: string;
  readonly database: string;
  /** Such as `15.14`. */
  readonly version: string;
  /** Whether `CREATE EXTENSION vector` can work here. */
  readonly hasVector: boolean;
  readonly source: "local" | "container";
  readonly isRunning: boolean;
  /** SIGKILL to the server and all its backends. */
  kill(): Promise<void>;
  /** SIGSTOP to the server and all its backends: connections stay and are silent. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  /** Starts it again on the same port and data; kills it first where it still runs. Resolves when it takes queries. */
  restart(): Promise<void>;
  /** Ends it and removes its data. Harmless when repeated. */
  stop(): Promise<void>;
  /** Runs SQL as the superuser by psql; resolves with the unaligned output. */
  psql(sql: string, database?: string): Promise<string>;
  /** Makes a database and resolves with its URL. */
  createDatabase(name: string): Promise<string>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** A server that can be copied while it runs. */
export interface PostgresPrimary extends PostgresServer {
  /** Takes all that is free on its disk. @throws {Error} It has none of its own (`diskMb`). */
  fillDisk(): void;
  /** Gives the disk back. A server that ended for want of it has to be started again. */
  freeDisk(): void;
  /** Copies this server into a streaming standby; resolves when the standby takes reads. `synchronous` waits for it at each commit. */
  createStandby(options?: { readonly synchronous?: boolean }): Promise<PostgresStandby>;
}

/** A standby. */
export interface PostgresStandby extends PostgresPrimary {
  /** Resolves when it takes writes. */
  promote(): Promise<void>;
}

/** What is looked for. */
export interface PostgresWish {
  readonly major?: number;
  /** Extensions that it must have, such as `vector`. */
  readonly extensions?: readonly string[];
  readonly isOptional?: boolean;
}

/** A server that can be started here, or why there is none. */
export interface PostgresLane<Server extends PostgresServer = PostgresPrimary> {
  readonly isMissing: boolean;
  readonly description: string;
  readonly version?: string;
  /** @throws {MissingServerError} when the lane is missing, or the server does not have an extension. */
  start(options?: PostgresOptions): Promise<Server>;
}

// Names the image of containers.
const imageVariable = "ADK_TEST_POSTGRES_IMAGE";

/**
 * Looks for a server without starting it, and prints once what was found: `describe.skipIf(lane.isMissing)`.
 *
 * @throws {MissingServerError} when there is none, CI=true, and it is not optional.
 */
export function findPostgres(wish: PostgresWish = {}): PostgresLane {
  const folder = findPostgresFolder(wish.major);
  const lacking = folder && wish.extensions?.find((name) => !hasExtension(folder, name));
  if (folder !== undefined && lacking !== undefined) {
    return missing(
      `postgresql ${folder.version} from ${folder.path} lacks the extension ${lacking}`,
      wish.isOptional === true,
    );
  }
  if (folder !== undefined) {
    const description = `postgresql ${folder.version} from ${folder.path}`;
    sayOnce(description);
    return {
      isMissing: false,
      description,
      version: folder.version,
      start: async (options = {}) => withExtensions(await startLocalPostgres(folder, options), options),
    };
  }
  const which = wish.major === undefined ? "" : ` ${wish.major}`;
  return missing(`no postgresql server${which}: not installed here`, wish.isOptional === true);
}

/**
 * Looks for the image that ADK_TEST_POSTGRES_IMAGE names (`pgvector/pgvector:pg18` where it names none) and an engine that
 * runs it, without starting anything, and prints once what was found. It is there for a PostgreSQL newer than that of the
 * machine, and has the extension `vector`. Its servers are broken and mended like others, but have no standbys.
 *
 * @throws {MissingServerError} when there is none, CI=true, and it is not optional, or the environment names an image.
 */
export async function findPostgresContainer(
  wish: { readonly isOptional?: boolean } = {},
): Promise<PostgresLane<PostgresServer>> {
  const reasons: string[] = [];
  // Loaded late: the library takes its time, and most tests have a local server.
  const { findContainer } = await import("./postgres-container.ts");
  const found = await findContainer(imageVariable, reasons);
  if (found !== undefined) {
    sayOnce(found.description);
    return { ...found, start: async (options = {}) => withExtensions(await found.start(options), options) };
  }
  const isExtra = wish.isOptional === true && process.env[imageVariable] === undefined;
  return missing(`no postgresql in a container: ${reasons.join("; ")}`, isExtra);
}

/**
 * A server of its own for the caller, in about two seconds.
 *
 * @throws {MissingServerError} when there is none.
 */
export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresPrimary> {
  return findPostgres().start(options);
}

/** The DSN that a person names for `npm run test:live`, or `undefined`. */
export function namedPostgresUrl(): string | undefined {
  return isLive() ? process.env["ADK_TEST_POSTGRES_DSN"] : undefined;
}

// In the server's database and in those that it will make.
async function withExtensions<Server extends PostgresServer>(
  server: Server,
  { extensions = [] }: PostgresOptions,
): Promise<Server> {
  for (const name of extensions) {
    for (const database of ["template1", server.database]) {
      const sql = `CREATE EXTENSION IF NOT EXISTS "${name.replaceAll('"', '""')}"`;
      await server.psql(sql, database).catch(async (cause: unknown) => {
        await server.stop();
        throw new MissingServerError(`postgresql ${server.version} cannot make the extension ${name}`, { cause });
      });
    }
  }
  return server;
}

function missing(description: string, isExtra: boolean): PostgresLane<never> {
  if (isRequired() && !isExtra) throw new MissingServerError(description);
  sayOnce(`${description}. Its tests are skipped`);
  return { isMissing: true, description, start: () => Promise.reject(new MissingServerError(description)) };
}
