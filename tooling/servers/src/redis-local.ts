// A Redis or Valkey server from a binary of this machine, on loopback, in a folder of its own.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Binary } from "./binaries.ts";
import { createCertificates } from "./certificates.ts";
import { createHome, removeHome } from "./home.ts";
import { reservePort } from "./ports.ts";
import { type ServerProcess, startProcess } from "./process.ts";
import type { RedisOptions, RedisServer } from "./redis.ts";
import { ask, type Entrance, type Reply } from "./resp.ts";

/** What to start: the options of the test, the binary, and what a cluster or a Sentinel adds. */
export interface LocalRedisPlan extends RedisOptions {
  readonly flavour: "redis" | "valkey";
  readonly binary: Binary;
  /** More lines of the configuration file. */
  readonly lines?: readonly string[];
  readonly isSentinel?: boolean;
  /** A command that the server is given each time it starts. */
  readonly atStart?: readonly (string | number)[];
}

const host = "127.0.0.1";

/** Starts the server; resolves when it takes commands. */
export async function startLocalRedis(plan: LocalRedisPlan): Promise<RedisServer> {
  const folder = createHome();
  const port = await reservePort();
  const tls = plan.tls === true ? createCertificates(folder) : undefined;
  const configuration = join(folder, "server.conf");
  const lines = [
    `bind ${host}`,
    ...(tls === undefined
      ? [`port ${port}`]
      : [
          "port 0",
          `tls-port ${port}`,
          `tls-ca-cert-file ${tls.caPath}`,
          `tls-cert-file ${tls.certificatePath}`,
          `tls-key-file ${tls.keyPath}`,
          "tls-auth-clients no",
        ]),
    `dir ${folder}`,
    "daemonize no",
    ...(plan.isSentinel === true ? [] : dataLines(plan)),
    ...(plan.password === undefined ? [] : [`requirepass ${plan.password}`]),
    ...(plan.users ?? []).map((rule) => `user ${rule}`),
    ...(plan.lines ?? []),
  ];
  // The server rewrites it (Sentinel does, and CONFIG REWRITE), so only its owner may.
  writeFileSync(configuration, `${lines.join("\n")}\n`, { mode: 0o600 });
  const args = [configuration, ...(plan.isSentinel === true ? ["--sentinel"] : []), ...(plan.args ?? [])];
  const entrance: Entrance = { host, port, password: plan.password, ca: tls?.ca };
  const start = async () => {
    const started = await startProcess({
      command: plan.binary.path,
      args,
      cwd: folder,
      ready: plan.isSentinel === true ? /Sentinel ID is/ : /Ready to accept connections/,
      onExit: () => removeHome(folder),
    });
    if (plan.atStart !== undefined) await ask(entrance, plan.atStart);
    return started;
  };
  try {
    return new LocalRedis(plan, entrance, folder, start, await start());
  } catch (error) {
    removeHome(folder);
    throw error;
  }
}

function dataLines(plan: LocalRedisPlan): readonly string[] {
  return [
    'save ""',
    `appendonly ${plan.appendOnly === true ? "yes" : "no"}`,
    // DEBUG is how tests make a server slow or busy; since 7.0 it has to be allowed.
    ...(Number.parseInt(plan.binary.version, 10) >= 7 ? ["enable-debug-command local"] : []),
  ];
}

class LocalRedis implements RedisServer {
  readonly url: string;
  readonly host: string;
  readonly port: number;
  readonly version: string;
  readonly flavour: "redis" | "valkey";
  readonly source = "local";
  readonly ca?: string;
  readonly #entrance: Entrance;
  readonly #folder: string;
  readonly #start: () => Promise<ServerProcess>;
  #process: ServerProcess;

  constructor(
    plan: LocalRedisPlan,
    entrance: Entrance,
    folder: string,
    start: () => Promise<ServerProcess>,
    started: ServerProcess,
  ) {
    const credentials = entrance.password === undefined ? "" : `:${encodeURIComponent(entrance.password)}@`;
    this.url = `${entrance.ca === undefined ? "redis" : "rediss"}://${credentials}${entrance.host}:${entrance.port}`;
    this.host = entrance.host;
    this.port = entrance.port;
    this.version = plan.binary.version;
    this.flavour = plan.flavour;
    if (entrance.ca !== undefined) this.ca = entrance.ca;
    this.#entrance = entrance;
    this.#folder = folder;
    this.#start = start;
    this.#process = started;
  }

  get isRunning(): boolean {
    return this.#process.isRunning;
  }

  log(): string {
    return this.#process.output();
  }

  async kill(): Promise<void> {
    this.#process.signal("SIGKILL");
    await this.#process.waitForEnd();
  }

  async pause(): Promise<void> {
    this.#process.signal("SIGSTOP");
  }

  async resume(): Promise<void> {
    this.#process.signal("SIGCONT");
  }

  async restart(): Promise<void> {
    await this.kill();
    this.#process = await this.#start();
  }

  async stop(): Promise<void> {
    await this.kill();
    removeHome(this.#folder);
  }

  cli(...args: readonly (string | number)[]): Promise<Reply> {
    return ask(this.#entrance, args);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }
}
