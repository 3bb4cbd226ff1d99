// A Redis Cluster of processes on loopback: masters with replicas, every slot covered, and a failover on demand.

import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { type Binary, findOnPath, findRedisBinary } from "./binaries.ts";
import { isRequired, MissingServerError, sayOnce } from "./missing.ts";
import { reservePort } from "./ports.ts";
import type { Address } from "./proxy.ts";
import type { RedisServer } from "./redis.ts";
import { startLocalRedis } from "./redis-local.ts";
import type { Reply } from "./resp.ts";
import { waitFor } from "./wait.ts";

/** The size of the cluster and the settings of every node. */
export interface RedisClusterOptions {
  readonly flavour?: "redis" | "valkey";
  /** 3 by default, which is the least that can elect. */
  readonly masters?: number;
  /** Replicas of each master, 1 by default. */
  readonly replicas?: number;
  readonly args?: readonly string[];
  readonly password?: string;
  readonly appendOnly?: boolean;
  /** After how long an unreachable master is failed over, 2,000 by default. */
  readonly nodeTimeoutMs?: number;
}

/** A running cluster. */
export interface RedisCluster {
  readonly nodes: readonly RedisServer[];
  readonly addresses: readonly Address[];
  readonly version: string;
  /** The node that answers for the slot (0 by default) now. */
  masterOf(slot?: number): Promise<RedisServer>;
  /**
   * Kills the master of the slot (0 by default) with SIGKILL; resolves when a replica was promoted and every node that
   * is left reports `cluster_state:ok`.
   */
  failover(slot?: number): Promise<{ readonly killed: RedisServer; readonly promoted: RedisServer }>;
  /** Resolves when every running node reports `cluster_state:ok` and every replica's link is up. */
  settle(): Promise<void>;
  /** Starts every node that is down, then settles. */
  restore(): Promise<void>;
  stop(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Starts a cluster from a local binary; containers cannot be used, as nodes tell clients their own addresses.
 *
 * @throws {MissingServerError} when there is no local binary or no cli beside it.
 */
export async function startRedisCluster(options: RedisClusterOptions = {}): Promise<RedisCluster> {
  const { flavour = "redis", masters = 3, replicas = 1, nodeTimeoutMs = 2_000 } = options;
  const { binary, cli } = findTools(flavour);
  const started = await Promise.allSettled(
    Array.from({ length: masters * (1 + replicas) }, async () =>
      startLocalRedis({
        ...options,
        flavour,
        binary,
        lines: [
          "cluster-enabled yes",
          `cluster-port ${await reservePort()}`,
          `cluster-node-timeout ${nodeTimeoutMs}`,
          // A replica that was cut off for long would otherwise refuse to stand for election.
          "cluster-replica-validity-factor 0",
          "repl-diskless-sync yes",
          "repl-diskless-sync-delay 0",
          ...(options.password === undefined ? [] : [`masterauth ${options.password}`]),
        ],
      }),
    ),
  );
  const nodes = started.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
  const cluster = new LocalCluster(nodes);
  try {
    const failed = started.find((result) => result.status === "rejected");
    if (failed !== undefined) throw failed.reason;
    await promisify(execFile)(cli, [
      ...(options.password === undefined ? [] : ["-a", options.password, "--no-auth-warning"]),
      ...["--cluster", "create", ...nodes.map(({ host, port }) => `${host}:${port}`)],
      ...["--cluster-replicas", `${replicas}`, "--cluster-yes"],
    ]);
    await cluster.settle(masters * replicas);
  } catch (error) {
    await cluster.stop();
    throw error;
  }
  return cluster;
}

/**
 * Whether a cluster or a Sentinel trio of this flavour can be started here; prints the reason once where not.
 *
 * @throws {MissingServerError} when it cannot, CI=true, and it is not optional.
 */
export function canStartLocally(flavour: "redis" | "valkey" = "redis", isOptional = false): boolean {
  try {
    findTools(flavour);
    return true;
  } catch (error) {
    if (!(error instanceof MissingServerError) || (isRequired() && !isOptional)) throw error;
    sayOnce(`${error.message}. Its tests are skipped`);
    return false;
  }
}

/** The server and the cli that came with it. */
export function findTools(flavour: "redis" | "valkey"): { readonly binary: Binary; readonly cli: string } {
  const binary = findRedisBinary(flavour);
  const beside = binary === undefined ? undefined : findOnPath(`${flavour}-cli`);
  if (binary === undefined || beside === undefined)
    throw new MissingServerError(
      `a ${flavour} cluster or Sentinel needs ${flavour}-server and ${flavour}-cli installed here`,
    );
  return { binary, cli: beside };
}

class LocalCluster implements RedisCluster {
  readonly nodes: readonly RedisServer[];
  readonly addresses: readonly Address[];
  readonly version: string;

  constructor(nodes: readonly RedisServer[]) {
    this.nodes = nodes;
    this.addresses = nodes.map(({ host, port }) => ({ host, port }));
    this.version = nodes[0]?.version ?? "";
  }

  async masterOf(slot = 0): Promise<RedisServer> {
    for (const node of this.nodes.filter(({ isRunning }) => isRunning)) {
      const ports = readSlots(await node.cli("CLUSTER", "SLOTS"));
      const owner = ports.find(({ from, to }) => from <= slot && slot <= to);
      const found = this.nodes.find(({ port }) => port === owner?.port);
      if (found !== undefined) return found;
    }
    throw new Error(`no node knows the master of slot ${slot}`);
  }

  async failover(slot = 0): Promise<{ readonly killed: RedisServer; readonly promoted: RedisServer }> {
    const killed = await this.masterOf(slot);
    await killed.kill();
    const promoted = await waitFor("a replica's promotion", async () => {
      const master = await this.masterOf(slot);
      return master.port === killed.port ? undefined : master;
    });
    await waitFor("a whole cluster after the failover", () => this.#isEveryNode(/cluster_state:ok/, "CLUSTER"));
    return { killed, promoted };
  }

  async settle(replicas?: number): Promise<void> {
    await waitFor("cluster_state:ok on every node", () => this.#isEveryNode(/cluster_state:ok/, "CLUSTER"), 30_000);
    await waitFor("every replica's link", () => this.#isEveryNode(/role:master|master_link_status:up/, "replication"));
    if (replicas === undefined) return;
    await waitFor(`${replicas} replicas known to every node`, async () => {
      const views = await Promise.all(this.nodes.map(async (node) => `${await node.cli("CLUSTER", "NODES")}`));
      return views.every((view) => view.split("\n").filter((line) => /\bslave\b/.test(line)).length === replicas);
    });
  }

  async restore(): Promise<void> {
    await Promise.all(this.nodes.filter(({ isRunning }) => !isRunning).map((node) => node.restart()));
    await this.settle();
  }

  async stop(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.stop()));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  async #isEveryNode(pattern: RegExp, section: "CLUSTER" | "replication"): Promise<boolean> {
    const running = this.nodes.filter(({ isRunning }) => isRunning);
    const texts = await Promise.all(
      running.map((node) => (section === "CLUSTER" ? node.cli("CLUSTER", "INFO") : node.cli("INFO", section))),
    );
    return texts.every((text) => pattern.test(`${text}`));
  }
}

interface SlotRange {
  readonly from: number;
  readonly to: number;
  readonly port: number;
}

/** The masters' ports in a reply to CLUSTER SLOTS: `[from, to, [ip, port, id, ...], ...replicas]`. */
function readSlots(reply: Reply): readonly SlotRange[] {
  if (!isList(reply)) return [];
  return reply.filter(isList).map(([from, to, master]) => ({
    from: Number(from),
    to: Number(to),
    port: master !== undefined && isList(master) ? Number(master[1]) : 0,
  }));
}

function isList(reply: Reply): reply is readonly Reply[] {
  return Array.isArray(reply);
}
