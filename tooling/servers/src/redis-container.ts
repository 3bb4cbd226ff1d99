// A standalone Redis or Valkey in a container.

import { GenericContainer, Wait } from "testcontainers";
import { createCertificates } from "./certificates.ts";
import { type Container, findPlace, type Place, startContainer } from "./containers.ts";
import { createHome, removeHome } from "./home.ts";
import { imageVariables, type RedisLane, type RedisOptions, type RedisServer } from "./redis.ts";
import { ask, type Entrance, type Reply } from "./resp.ts";

type Flavour = "redis" | "valkey";

// Where the environment names none.
const publicImages: Readonly<Record<Flavour, string>> = { redis: "redis:8", valkey: "valkey/valkey:8" };

const innerPort = 6_379;

/** The lane of a container, or `undefined` with the reason added. */
export async function findRedisContainer(flavour: Flavour, reasons: string[]): Promise<RedisLane | undefined> {
  const place = await findPlace(imageVariables[flavour], publicImages[flavour], reasons);
  if (place === undefined) return undefined;
  return {
    isMissing: false,
    description: `${flavour} in containers of ${place.image}`,
    start: (options = {}) => start(place, flavour, options),
  };
}

async function start(place: Place, flavour: Flavour, options: RedisOptions): Promise<RedisServer> {
  const folder = createHome();
  try {
    const tls = options.tls === true ? createCertificates(folder) : undefined;
    const entranceOf = ({ port }: Container): Entrance => ({
      host: "127.0.0.1",
      port,
      password: options.password,
      ca: tls?.ca,
    });
    const container = await startContainer(place, {
      container: containerOf(place.image, flavour, options, tls),
      innerPort,
      ask: (started) => ask(entranceOf(started), ["PING"]),
      onRemoved: () => removeHome(folder),
    });
    const entrance = entranceOf(container);
    const info = await ask(entrance, ["INFO", "server"]);
    const version = new RegExp(`${flavour}_version:([\\d.]+)`).exec(`${info}`)?.[1] ?? "unknown";
    return new ContainerRedis(container, flavour, version, entrance);
  } catch (error) {
    removeHome(folder);
    throw error;
  }
}

function containerOf(
  image: string,
  flavour: Flavour,
  options: RedisOptions,
  tls: ReturnType<typeof createCertificates> | undefined,
): GenericContainer {
  const inner = (name: string) => `/tls/${name}`;
  return new GenericContainer(image)
    .withCopyFilesToContainer(
      tls === undefined
        ? []
        : [
            { source: tls.caPath, target: inner("ca.pem"), mode: 0o644 },
            { source: tls.certificatePath, target: inner("server.pem"), mode: 0o644 },
            { source: tls.keyPath, target: inner("server.key"), mode: 0o644 },
          ],
    )
    .withCommand([
      `${flavour}-server`,
      ...["--bind", "0.0.0.0", "--protected-mode", "no", "--save", "", "--enable-debug-command", "yes"],
      ...["--appendonly", options.appendOnly === true ? "yes" : "no"],
      ...(tls === undefined
        ? ["--port", `${innerPort}`]
        : [
            ...["--port", "0", "--tls-port", `${innerPort}`, "--tls-auth-clients", "no"],
            ...["--tls-ca-cert-file", inner("ca.pem"), "--tls-cert-file", inner("server.pem")],
            ...["--tls-key-file", inner("server.key")],
          ]),
      ...(options.password === undefined ? [] : ["--requirepass", options.password]),
      ...(options.users ?? []).flatMap((rule) => ["--user", ...rule.split(" ")]),
      ...(options.args ?? []),
    ])
    .withWaitStrategy(Wait.forLogMessage(/Ready to accept connections/));
}

class ContainerRedis implements RedisServer {
  readonly url: string;
  readonly host: string;
  readonly port: number;
  readonly version: string;
  readonly flavour: Flavour;
  readonly source = "container";
  readonly ca?: string;
  readonly #container: Container;
  readonly #entrance: Entrance;

  constructor(container: Container, flavour: Flavour, version: string, entrance: Entrance) {
    const credentials = entrance.password === undefined ? "" : `:${encodeURIComponent(entrance.password)}@`;
    this.url = `${entrance.ca === undefined ? "redis" : "rediss"}://${credentials}${entrance.host}:${entrance.port}`;
    this.host = entrance.host;
    this.port = entrance.port;
    this.version = version;
    this.flavour = flavour;
    if (entrance.ca !== undefined) this.ca = entrance.ca;
    this.#container = container;
    this.#entrance = entrance;
  }

  get isRunning(): boolean {
    return this.#container.isRunning;
  }

  log(): string {
    return "";
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

  cli(...args: readonly (string | number)[]): Promise<Reply> {
    return ask(this.#entrance, args);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }
}
