// A master with replicas, watched by Sentinels that promote a replica when the master is gone.

import type { Address } from "./proxy.ts";
import type { RedisServer } from "./redis.ts";
import { findTools } from "./redis-cluster.ts";
import { startLocalRedis } from "./redis-local.ts";
import { waitFor } from "./wait.ts";

/** The size of the set and the settings of its servers. */
export interface RedisSentinelOptions {
  readonly flavour?: "redis" | "valkey";
  /** 2 by default. */
  readonly replicas?: number;
  /** 3 by default; more than half of them agree on a failover. */
  readonly sentinels?: number;
  readonly args?: readonly string[];
  /** Password of the data servers; the Sentinels have none. */
  readonly password?: string;
  readonly appendOnly?: boolean;
  /** After how long without an answer a master counts as down, 1,500 by default. */
  readonly downAfterMs?: number;
}

/** A running set. */
export interface RedisSentinel {
  /** The name by which clients ask for the master. */
  readonly name: string;
  /** Where the Sentinels listen. */
  readonly addresses: readonly Address[];
  readonly sentinels: readonly RedisServer[];
  /** The data servers, the first master first. */
  readonly nodes: readonly RedisServer[];
  readonly version: string;
  /** The server that the Sentinels name as master now. */
  master(): Promise<RedisServer>;
  /** Kills the master with SIGKILL; resolves when a replica was promoted, answers as master, and every Sentinel names it. */
  failover(): Promise<{ readonly killed: RedisServer; readonly promoted: RedisServer }>;
  /** Starts every server that is down; resolves when every replica follows the master. */
  restore(): Promise<void>;
  stop(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

// A Sentinel counts the silence of a new link from its making, and asks for the first time a period later: with the
// usual second between questions, a short down-after makes it fail over healthy masters, one after the other.
// The shorter periods also turn a returning master into a replica within seconds (SENTINEL DEBUG, since 7.0).
const quickWatch = "SENTINEL DEBUG PING-PERIOD 100 INFO-PERIOD 400 PUBLISH-PERIOD 200 ASK-PERIOD 200".split(" ");

/**
 * Starts a master, its replicas and the Sentinels from a local binary.
 *
 * @throws {MissingServerError} when there is none.
 */
export async function startSentinel(options: RedisSentinelOptions = {}): Promise<RedisSentinel> {
  const { flavour = "redis", replicas = 2, sentinels = 3, downAfterMs = 1_500 } = options;
  const { binary } = findTools(flavour);
  const name = "memory";
  const auth = options.password === undefined ? [] : [`masterauth ${options.password}`];
  const lines = ["repl-diskless-sync yes", "repl-diskless-sync-delay 0", ...auth];
  const data = { ...options, flavour, binary };
  const master = await startLocalRedis({ ...data, lines });
  const followers: RedisServer[] = [];
  const watchers: RedisServer[] = [];
  const set = new LocalSentinel(name, watchers, [master]);
  try {
    const startFollower = () =>
      startLocalRedis({ ...data, lines: [...lines, `replicaof ${master.host} ${master.port}`] });
    followers.push(...(await Promise.all(Array.from({ length: replicas }, startFollower))));
    const running = new LocalSentinel(name, watchers, [master, ...followers]);
    await running.waitForReplicas(master);
    const startWatcher = () =>
      startLocalRedis({
        flavour,
        binary,
        isSentinel: true,
        atStart: quickWatch,
        lines: [
          `sentinel monitor ${name} ${master.host} ${master.port} ${Math.floor(sentinels / 2) + 1}`,
          `sentinel down-after-milliseconds ${name} ${downAfterMs}`,
          `sentinel failover-timeout ${name} ${Math.max(1_000, downAfterMs * 2)}`,
          `sentinel parallel-syncs ${name} ${Math.max(replicas, 1)}`,
          ...(options.password === undefined ? [] : [`sentinel auth-pass ${name} ${options.password}`]),
        ],
      });
    watchers.push(...(await Promise.all(Array.from({ length: sentinels }, startWatcher))));
    const ready = new LocalSentinel(name, watchers, running.nodes);
    await ready.waitForWatch(replicas);
    return ready;
  } catch (error) {
    await set.stop();
    await Promise.all([...followers, ...watchers].map((server) => server.stop()));
    throw error;
  }
}

class LocalSentinel implements RedisSentinel {
  readonly name: string;
  readonly addresses: readonly Address[];
  readonly sentinels: readonly RedisServer[];
  readonly nodes: readonly RedisServer[];
  readonly version: string;

  constructor(name: string, sentinels: readonly RedisServer[], nodes: readonly RedisServer[]) {
    this.name = name;
    this.sentinels = [...sentinels];
    this.addresses = sentinels.map(({ host, port }) => ({ host, port }));
    this.nodes = nodes;
    this.version = nodes[0]?.version ?? "";
  }

  async master(): Promise<RedisServer> {
    const votes = new Map<number, number>();
    for (const watcher of this.sentinels.filter(({ isRunning }) => isRunning)) {
      const reply = await watcher.cli("SENTINEL", "GET-MASTER-ADDR-BY-NAME", this.name);
      const port = Array.isArray(reply) ? Number(reply[1]) : 0;
      votes.set(port, (votes.get(port) ?? 0) + 1);
    }
    const [port] = [...votes].sort(([, left], [, right]) => right - left)[0] ?? [];
    const found = this.nodes.find((node) => node.port === port);
    if (found === undefined || votes.size > 1) throw new Error("the Sentinels do not agree on a master");
    return found;
  }

  async failover(): Promise<{ readonly killed: RedisServer; readonly promoted: RedisServer }> {
    const killed = await this.master();
    await killed.kill();
    const promoted = await waitFor(
      "a replica's promotion by the Sentinels",
      async () => {
        const master = await this.master();
        return (
          master.port !== killed.port && /role:master/.test(`${await master.cli("INFO", "replication")}`) && master
        );
      },
      // Under load the Sentinels' votes fail again and again: each try is given up after the failover's own time.
      90_000,
    );
    return { killed, promoted };
  }

  async restore(): Promise<void> {
    const down = [...this.nodes, ...this.sentinels].filter(({ isRunning }) => !isRunning);
    await Promise.all(down.map((server) => server.restart()));
    await this.waitForReplicas(await waitFor("one master", () => this.master()));
  }

  /** Resolves when all other servers follow the master and have all its data. */
  async waitForReplicas(master: RedisServer): Promise<void> {
    const others = this.nodes.filter((node) => node.port !== master.port);
    await waitFor(
      "every replica's link",
      async () => {
        const texts = await Promise.all(others.map(async (node) => `${await node.cli("INFO", "replication")}`));
        return texts.every((text) => text.includes(`master_port:${master.port}`) && /master_link_status:up/.test(text));
      },
      30_000,
    );
  }

  /** Resolves when every Sentinel knows the replicas and the other Sentinels. */
  async waitForWatch(replicas: number): Promise<void> {
    await waitFor("the Sentinels to know the set", async () => {
      const texts = await Promise.all(
        this.sentinels.map(async (watcher) => `${await watcher.cli("INFO", "sentinel")}`),
      );
      return texts.every((text) => text.includes(`slaves=${replicas},sentinels=${this.sentinels.length}`));
    });
  }

  async stop(): Promise<void> {
    // Sentinels first, or they would start a failover while the rest goes down.
    for (const group of [this.sentinels, this.nodes]) await Promise.all(group.map((server) => server.stop()));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }
}
