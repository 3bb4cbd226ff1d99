// Servers in containers, where an engine answers. With `npm test` only images that are here already are used, so that
// nothing is fetched from a network; `npm run test:live` may fetch them.

import { spawnSync } from "node:child_process";
import { type GenericContainer, getContainerRuntimeClient, ImageName } from "testcontainers";
import { findOnPath } from "./binaries.ts";
import { isLive } from "./missing.ts";
import { isAlive, reservePort } from "./ports.ts";
import { waitFor } from "./wait.ts";

type Engine = Awaited<ReturnType<typeof getContainerRuntimeClient>>;

/** An image, and the engine that runs it. */
export interface Place {
  readonly engine: Engine;
  readonly image: string;
}

const ownerLabel = "memory-servers.pid";

/** Where the image that a variable names can be run (or else the public one), or `undefined` with the reason added. */
export async function findPlace(variable: string, publicImage: string, reasons: string[]): Promise<Place | undefined> {
  const engine = await getContainerRuntimeClient().catch(() => undefined);
  if (engine === undefined) {
    reasons.push("no container engine answers");
    return undefined;
  }
  const image = process.env[variable] ?? publicImage;
  if (!isLive() && !(await engine.image.exists(ImageName.fromString(image)))) {
    reasons.push(`the image ${image} is not here, and only npm run test:live fetches one`);
    return undefined;
  }
  return { engine, image };
}

/** How a server is run in a container. */
export interface ContainerPlan {
  readonly container: GenericContainer;
  /** The port inside. */
  readonly innerPort: number;
  /** Rejects as long as the server takes no command. */
  readonly ask: (container: Container) => Promise<unknown>;
  /** Called when the container is removed, also at exit. */
  readonly onRemoved?: () => void;
}

/** Starts a container on a loopback port of its own; resolves when its server takes commands. */
export async function startContainer({ engine }: Place, plan: ContainerPlan): Promise<Container> {
  await prepare(engine);
  const port = await reservePort();
  const started = await plan.container
    .withLabels({ [ownerLabel]: `${process.pid}` })
    // A port of its own choosing would change when the container is started again.
    .withExposedPorts({ container: plan.innerPort, host: port })
    .start();
  const container = new Container(engine, started.getId(), port, plan);
  try {
    await container.waitForServer();
    return container;
  } catch (error) {
    await container.stop();
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

/** A container that was started: how its server is broken, mended and ended. */
export class Container {
  readonly port: number;
  readonly #engine: Engine;
  readonly #handle: ReturnType<Engine["container"]["getById"]>;
  readonly #plan: ContainerPlan;
  readonly #atExit: () => void;
  #state: "running" | "down" | "removed" = "running";

  constructor(engine: Engine, id: string, port: number, plan: ContainerPlan) {
    this.port = port;
    this.#engine = engine;
    this.#handle = engine.container.getById(id);
    this.#plan = plan;
    this.#atExit = () => {
      plan.onRemoved?.();
      const docker = findOnPath("docker");
      if (docker !== undefined) spawnSync(docker, ["rm", "--force", "--volumes", id], { stdio: "ignore" });
    };
    process.once("exit", this.#atExit);
  }

  get isRunning(): boolean {
    return this.#state === "running";
  }

  /** Runs a program inside; resolves with its standard output, rejects with the rest when it fails. */
  async run(command: readonly string[]): Promise<string> {
    const { stdout, stderr, exitCode } = await this.#engine.container.exec(this.#handle, [...command]);
    if (exitCode !== 0) throw new Error(`${command[0]} in a container ended with ${exitCode}: ${stderr || stdout}`);
    return stdout;
  }

  async waitForServer(): Promise<void> {
    await waitFor(
      "the container's server",
      async () => {
        await this.#plan.ask(this);
        return true;
      },
      60_000,
    );
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
    await this.waitForServer();
    this.#state = "running";
  }

  async stop(): Promise<void> {
    if (this.#state === "removed") return;
    this.#state = "removed";
    process.off("exit", this.#atExit);
    await this.#handle.remove({ force: true, v: true });
    this.#plan.onRemoved?.();
  }
}
