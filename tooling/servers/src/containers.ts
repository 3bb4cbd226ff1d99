// Servers in containers, where an engine answers. With `npm test` only images that are here already are used, so that
// nothing is fetched from a network; `npm run test:live` may fetch them.

import { spawnSync } from "node:child_process";
import {
  GenericContainer,
  getContainerRuntimeClient,
  ImageName,
  type StartedTestContainer,
  Wait,
} from "testcontainers";
import { findOnPath } from "./binaries.ts";
import { createCertificates } from "./certificates.ts";
import { createHome, removeHome } from "./home.ts";
import { isLive } from "./missing.ts";
import { isAlive, reservePort } from "./ports.ts";
import { imageVariables, type RedisLane, type RedisOptions, type RedisServer } from "./redis.ts";
import { ask, type Entrance, type Reply } from "./resp.ts";
import { waitFor } from "./wait.ts";

type Engine = Awaited<ReturnType<typeof getContainerRuntimeClient>>;
type Flavour = "redis" | "valkey";

// Where the environment names none.
const publicImages: Readonly<Record<Flavour, string>> = { redis: "redis:8", valkey: "valkey/valkey:8" };

const ownerLabel = "memory-servers.pid";
const innerPort = 6_379;

/** The lane of a container, or `undefined` with the reason added. */
export async function findRedisContainer(flavour: Flavour, reasons: string[]): Promise<RedisLane | undefined> {
  const engine = await getContainerRuntimeClient().catch(() => undefined);
  if (engine === undefined) {
    reasons.push("no container engine answers");
    return undefined;
  }
  const image = process.env[imageVariables[flavour]] ?? publicImages[flavour];
  if (!isLive() && !(await engine.image.exists(ImageName.fromString(image)))) {
    reasons.push(`the image ${image} is not here, and only npm run test:live fetches one`);
    return undefined;
  }
  return {
    isMissing: false,
    description: `${flavour} in containers of ${image}`,
    start: (options = {}) => startContainer(engine, flavour, image, options),
  };
}

async function startContainer(
  engine: Engine,
  flavour: Flavour,
  image: string,
  options: RedisOptions,
): Promise<RedisServer> {
  await prepare(engine);
  const folder = createHome();
  try {
    const port = await reservePort();
    const tls = options.tls === true ? createCertificates(folder) : undefined;
    const inner = (name: string) => `/tls/${name}`;
    const container = await new GenericContainer(image)
      .withLabels({ [ownerLabel]: `${process.pid}` })
      // A port of its own choosing would change when the container is started again.
      .withExposedPorts({ container: innerPort, host: port })
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
      .withWaitStrategy(Wait.forLogMessage(/Ready to accept connections/))
      .start();
    const entrance = { host: "127.0.0.1", port, password: options.password, ca: tls?.ca };
    const info = await waitFor("the container's port", async () => `${await ask(entrance, ["INFO", "server"])}`);
    const version = new RegExp(`${flavour}_version:([\\d.]+)`).exec(info)?.[1] ?? "unknown";
    return new ContainerRedis(engine, container, flavour, version, entrance, folder);
  } catch (error) {
    removeHome(folder);
    throw error;
  }
}

/** Removes what killed test processes left, and decides who cleans up after this one. */
async function prepare(engine: Engine): Promise<void> {
  for (const { Id, Labels } of await engine.container.list()) {
    const owner = Labels[ownerLabel];
    if (owner === undefined || isAlive(Number(owner))) continue;
    await engine.container
      .getById(Id)
      .remove({ force: true })
      .catch(() => undefined);
  }
  // The library's own cleaner is one more image, which a closed network cannot fetch.
  if (!isLive()) process.env["TESTCONTAINERS_RYUK_DISABLED"] ??= "true";
}

class ContainerRedis implements RedisServer {
  readonly url: string;
  readonly host: string;
  readonly port: number;
  readonly version: string;
  readonly flavour: Flavour;
  readonly source = "container";
  readonly ca?: string;
  readonly #handle: ReturnType<Engine["container"]["getById"]>;
  readonly #entrance: Entrance;
  readonly #folder: string;
  readonly #atExit: () => void;
  #state: "running" | "down" | "removed" = "running";

  constructor(
    engine: Engine,
    container: StartedTestContainer,
    flavour: Flavour,
    version: string,
    entrance: Entrance,
    folder: string,
  ) {
    const credentials = entrance.password === undefined ? "" : `:${encodeURIComponent(entrance.password)}@`;
    this.url = `${entrance.ca === undefined ? "redis" : "rediss"}://${credentials}${entrance.host}:${entrance.port}`;
    this.host = entrance.host;
    this.port = entrance.port;
    this.version = version;
    this.flavour = flavour;
    if (entrance.ca !== undefined) this.ca = entrance.ca;
    this.#handle = engine.container.getById(container.getId());
    this.#entrance = entrance;
    this.#folder = folder;
    this.#atExit = () => {
      removeHome(folder);
      const docker = findOnPath("docker");
      if (docker !== undefined) spawnSync(docker, ["rm", "--force", container.getId()], { stdio: "ignore" });
    };
    process.once("exit", this.#atExit);
  }

  get isRunning(): boolean {
    return this.#state === "running";
  }

  log(): string {
    return "";
  }

  async kill(): Promise<void> {
    if (this.#state !== "running") return;
    this.#state = "down";
    await this.#handle.kill({ signal: "SIGKILL" });
    await this.#handle.wait();
  }

  async pause(): Promise<void> {
    await this.#handle.pause();
  }

  async resume(): Promise<void> {
    await this.#handle.unpause();
  }

  async restart(): Promise<void> {
    await this.kill();
    await this.#handle.start();
    await waitFor("the container's port", async () => (await this.cli("PING")) === "PONG");
    this.#state = "running";
  }

  async stop(): Promise<void> {
    if (this.#state === "removed") return;
    this.#state = "removed";
    process.off("exit", this.#atExit);
    await this.#handle.remove({ force: true, v: true });
    removeHome(this.#folder);
  }

  cli(...args: readonly (string | number)[]): Promise<Reply> {
    return ask(this.#entrance, args);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }
}
