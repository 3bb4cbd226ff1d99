// A PostgreSQL newer than the one that is installed, with pgvector, in a container.

import { GenericContainer, Wait } from "testcontainers";
import { type Container, findPlace, type Place, startContainer } from "./containers.ts";
import type { PostgresLane, PostgresOptions, PostgresServer } from "./postgres.ts";

// Where the environment names none: the official image with the extension in it.
const publicImage = "pgvector/pgvector:pg18";

const host = "127.0.0.1";
const innerPort = 5_432;
const innerHba = "/etc/memory-hba.conf";
const user = "postgres";
const database = "memory";
// The official image does not start without one; who has to give it, the access file decides.
const anyPassword = "for-tests-only";

/** The lane of the image that a variable names, or `undefined` with the reason added. */
export async function findContainer(
  imageVariable: string,
  reasons: string[],
): Promise<PostgresLane<PostgresServer> | undefined> {
  const place = await findPlace(imageVariable, publicImage, reasons);
  if (place === undefined) return undefined;
  return {
    isMissing: false,
    description: `postgresql in containers of ${place.image}`,
    start: (options = {}) => start(place, options),
  };
}

async function start(place: Place, options: PostgresOptions): Promise<PostgresServer> {
  const { password, fsync = false } = options;
  const settings = {
    hba_file: innerHba,
    fsync: fsync ? "on" : "off",
    full_page_writes: fsync ? "on" : "off",
    shared_buffers: "32MB",
    ...options.settings,
  };
  const container = await startContainer(place, {
    container: new GenericContainer(place.image)
      .withEnvironment({ POSTGRES_USER: user, POSTGRES_DB: database, POSTGRES_PASSWORD: password ?? anyPassword })
      .withCopyContentToContainer([
        {
          target: innerHba,
          mode: 0o644,
          content: `local all all trust\nhost all all all ${password === undefined ? "trust" : "scram-sha-256"}\n`,
        },
      ])
      .withCommand(["postgres", ...Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`])])
      // Parallel workers meet there; an engine gives 64 MB.
      .withSharedMemorySize(268_435_456)
      .withWaitStrategy(Wait.forLogMessage(/ready to accept connections/)),
    innerPort,
    // By TCP: the server that only sets up the data folder listens to none.
    ask: (started) => psql(started, password, "SELECT 1", database),
  });
  try {
    const [version = "", vectors] = (
      await psql(
        container,
        password,
        "SELECT current_setting('server_version'), count(*) FROM pg_available_extensions WHERE name = 'vector'",
        database,
      )
    ).split("|");
    return new ContainerPostgres(container, password, version.split(" ")[0] ?? "", vectors === "1");
  } catch (error) {
    await container.stop();
    throw error;
  }
}

async function psql(container: Container, password: string | undefined, sql: string, name: string): Promise<string> {
  const url = `postgres://${user}:${encodeURIComponent(password ?? "")}@${host}:${innerPort}/${encodeURIComponent(name)}`;
  const out = await container.run(["psql", "-X", "-A", "-t", "-q", "-v", "ON_ERROR_STOP=1", "-d", url, "-c", sql]);
  return out.trimEnd();
}

class ContainerPostgres implements PostgresServer {
  readonly url: string;
  readonly host = host;
  readonly port: number;
  readonly user = user;
  readonly database = database;
  readonly version: string;
  readonly hasVector: boolean;
  readonly source = "container";
  readonly #container: Container;
  readonly #password: string | undefined;

  constructor(container: Container, password: string | undefined, version: string, hasVector: boolean) {
    this.#container = container;
    this.#password = password;
    this.port = container.port;
    this.version = version;
    this.hasVector = hasVector;
    this.url = this.#urlOf(database);
  }

  get isRunning(): boolean {
    return this.#container.isRunning;
  }

  kill(): Promise<void> {
    return this.#container.kill();
  }

  pause(): Promise<void> {
    return this.#container.pause();
  }

  resume(): Promise<void> {
    return this.#container.resume();
  }

  restart(): Promise<void> {
    return this.#container.restart();
  }

  stop(): Promise<void> {
    return this.#container.stop();
  }

  psql(sql: string, name: string = database): Promise<string> {
    return psql(this.#container, this.#password, sql, name);
  }

  async createDatabase(name: string): Promise<string> {
    await this.psql(`CREATE DATABASE "${name.replaceAll('"', '""')}"`, "postgres");
    return this.#urlOf(name);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  #urlOf(name: string): string {
    const credentials = this.#password === undefined ? user : `${user}:${encodeURIComponent(this.#password)}`;
    return `postgres://${credentials}@${host}:${this.port}/${encodeURIComponent(name)}`;
  }
}
