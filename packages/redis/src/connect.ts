// A client of our own: which deployment a connection string means, and every client option that matters, with its reason.
// Sources are ioredis 6.0.0, built/.

import { isIP } from "node:net";
import type { ConnectionOptions } from "node:tls";
import type { MemoryStoreSettings } from "@memory/core";
import { isError, MemorySettingsError } from "@memory/core/driver";
import { Cluster, Redis, type RedisOptions, SentinelConnector } from "ioredis";
import { NotSentError } from "./errors.ts";
import type { RedisClient } from "./script.ts";

/** A client that is ours to close, and how to wait for it. */
export interface OwnedClient {
  readonly client: RedisClient;
  /** Resolves when commands can be sent. @throws {NotSentError} The connection could not be made. */
  ready(): Promise<void>;
  close(): Promise<void>;
}

/** What a connection string says. */
export interface Target {
  readonly kind: "standalone" | "cluster" | "sentinel";
  readonly hosts: readonly { readonly host: string; readonly port: number }[];
  readonly isTls: boolean;
  readonly username: string | undefined;
  readonly password: string | undefined;
  readonly db: number;
  /** The master's name among Sentinels. */
  readonly master: string | undefined;
}

type ClientOptions = Omit<RedisOptions, "replyMapping"> & { readonly replyMapping: "legacy" };

/** How long the client waits before it connects again, at most: a failover should be noticed soon after it is over. */
const LONGEST_RECONNECT_MS = 500;

/** How long a connection may be silent at the TCP level before the system probes it. */
const KEEP_ALIVE_MS = 10_000;

/** Makes a client. It connects with the first command. @throws {MemorySettingsError} The connection string is not one of Redis. */
export function connectClient(settings: MemoryStoreSettings, tls: ConnectionOptions | undefined): OwnedClient {
  const target = parseTarget(settings.dsn.reveal());
  // Given up before the attempt's own deadline, so that the store knows that nothing was sent.
  const waitMs = Math.min(settings.connectTimeoutMs, settings.attemptTimeoutMs * 0.9);
  // Of several that are asked where to go, some may take a connection and say nothing: each gets its part of that time, and
  // the server that they name the last one.
  const shareMs = waitMs / (target.hosts.length + 1);
  const options = clientOptions(target, settings, tls, shareMs);
  return own(target.kind === "cluster" ? clusterClient(target, options, shareMs) : redisClient(options), waitMs);
}

/**
 * Reads a connection string: `redis://` and `rediss://` (TLS) with `[user[:password]@]host[:port][/db]`; several hosts, or
 * `?cluster=true`, are a cluster; `redis+sentinel://host[:port],.../master[/db]` (`rediss+sentinel`: TLS) asks Sentinels.
 *
 * @throws {MemorySettingsError} It is none of these; the message holds no part of it.
 */
export function parseTarget(dsn: string): Target {
  const parts = /^(redis|rediss)(\+sentinel)?:\/\/([^/?#]*)([^?#]*)(?:\?([^#]*))?$/i.exec(dsn);
  if (parts === null) throw refusal("is not a redis://, rediss://, redis+sentinel:// or rediss+sentinel:// address");
  const [, scheme = "", sentinel, authority = "", path = "", query = ""] = parts;
  const at = authority.lastIndexOf("@");
  const [user = "", ...secret] = authority.slice(0, Math.max(at, 0)).split(":");
  const hosts = authority
    .slice(at + 1)
    .split(",")
    .map((host) => parseHost(host, sentinel === undefined ? 6379 : 26379));
  const parameters = new URLSearchParams(query);
  for (const name of parameters.keys()) {
    if (name !== "cluster" && name !== "db") throw refusal("has a parameter other than `cluster` and `db`");
  }
  const steps = path.split("/").slice(1).map(decodeURIComponent);
  const master = sentinel === undefined ? undefined : steps.shift();
  if (master === "" || (sentinel !== undefined && master === undefined))
    throw refusal("names no master for its Sentinels");
  const [first = ""] = steps;
  const db = Number(parameters.get("db") ?? (first === "" ? "0" : first));
  if (steps.length > 1 || !Number.isInteger(db) || db < 0) throw refusal("has a database that is not a whole number");
  const isCluster = sentinel === undefined && (hosts.length > 1 || parameters.get("cluster") === "true");
  if (isCluster && db !== 0) throw refusal("has a database beside several hosts; a cluster has only database 0");
  return {
    kind: sentinel === undefined ? (isCluster ? "cluster" : "standalone") : "sentinel",
    hosts,
    isTls: scheme.toLowerCase() === "rediss",
    username: user === "" ? undefined : decodeURIComponent(user),
    password: secret.length === 0 ? undefined : decodeURIComponent(secret.join(":")),
    db,
    master,
  };
}

function clientOptions(
  target: Target,
  settings: MemoryStoreSettings,
  tls: ConnectionOptions | undefined,
  shareMs: number,
): ClientOptions {
  const { hosts, isTls, username, password, db, master } = target;
  const [first = { host: "localhost", port: 6379 }] = hosts;
  return {
    ...(master === undefined
      ? first
      : {
          sentinels: [...hosts],
          name: master,
          ...(isTls ? { sentinelTLS: tls ?? {}, enableTLSForSentinelMode: true } : {}),
          // For ever: without a number the client would end for good (SentinelConnector/index.js, Redis.js).
          sentinelRetryStrategy: reconnectDelayMs,
          sentinelCommandTimeout: shareMs,
          // Told by a Sentinel's push of a failover, instead of by the old master's silence.
          failoverDetector: true,
        }),
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    // An address is no server name (RFC 6066, section 3), and Node warns of one.
    ...(isTls
      ? { tls: { ...(hosts.length === 1 && isIP(first.host) === 0 ? { servername: first.host } : {}), ...tls } }
      : {}),
    db,
    replyMapping: "legacy",
    // With 3 the client waits for the answers to all of its handshake before it looks at the first, so that a refusal such as
    // `max number of clients`, after which none comes, is lost (event_handler.js, sendHandshake).
    protocol: 2,
    // Its failures are nobody's, and its two commands would be part of every handshake (event_handler.js).
    disableClientInfo: true,
    // Nothing is done before the first operation, and an unreachable server is that operation's error.
    lazyConnect: true,
    connectTimeout: settings.connectTimeoutMs,
    keepAlive: KEEP_ALIVE_MS,
    // A connection on which an attempt waited in vain is dropped, so that the next has another (Redis.js, setSocketTimeout).
    socketTimeout: settings.attemptTimeoutMs,
    // What one turn of the event loop asks for leaves in one write (autoPipelining.js): twice the throughput at 64 callers.
    enableAutoPipelining: true,
    // An append that the client sent twice on its own would be there twice (event_handler.js, readyHandler): the store
    // retries, and says so to the script.
    autoResendUnfulfilledCommands: false,
    // With 0, what is in flight when the connection closes is rejected at once (event_handler.js, closeHandler); with null or
    // more it would wait for as many reconnections.
    maxRetriesPerRequest: 0,
    // A queue in the client has no deadline. The store's gate queues, and `ready` waits for the connection.
    enableOfflineQueue: false,
    // For ever, as each attempt asks for the connection again.
    retryStrategy: reconnectDelayMs,
    // A demoted master keeps its connections (ioredis #144): leave it, so that the next attempt finds the new one.
    reconnectOnError: (error) => error.message.startsWith("READONLY") && 1,
    // A loading server is the store's to wait for: without this the client waits up to ten seconds (Redis.js, _readyCheck).
    maxLoadingRetryTime: Math.min(1_000, settings.attemptTimeoutMs),
  };
}

/**
 * A client of which nothing is printed. The connections on which it hears of a failover have no listener for errors, so
 * that each failure of a Sentinel would be, once a second (SentinelConnector/index.js, initFailoverDetector).
 */
function redisClient(options: ClientOptions): Redis {
  const client = new Redis(options);
  const connector: unknown = Reflect.get(client, "connector");
  if (!(connector instanceof SentinelConnector)) return client;
  const connect: unknown = Reflect.get(connector, "connectToSentinel");
  if (typeof connect !== "function") return client;
  Reflect.set(connector, "connectToSentinel", (...args: readonly unknown[]): unknown => {
    const sentinel: unknown = Reflect.apply(connect, connector, args);
    if (sentinel instanceof Redis) sentinel.on("error", () => undefined);
    return sentinel;
  });
  return client;
}

/** Soon at first (a connection that was reset is back at once), then ever later, apart from other clients. */
function reconnectDelayMs(times: number): number {
  return Math.min(LONGEST_RECONNECT_MS, 4 ** Math.min(times, 6)) * (0.5 + Math.random() / 2);
}

function clusterClient({ hosts }: Target, options: ClientOptions, shareMs: number): Cluster {
  // The cluster has its own retry; nodes queue while they connect, which ConnectionPool.js sets itself.
  const { retryStrategy: _retry, enableOfflineQueue: _queue, host: _host, port: _port, ...redisOptions } = options;
  const { tls } = redisOptions;
  return new Cluster([...hosts], {
    redisOptions,
    enableOfflineQueue: false,
    lazyConnect: true,
    enableAutoPipelining: true,
    // 0: a command whose connection closed is not sent again by the client (cluster/index.js, handleError), see
    // autoResendUnfulfilledCommands. MOVED, ASK and TRYAGAIN had no effect and are followed.
    retryDelayOnFailover: 0,
    retryDelayOnClusterDown: 100,
    maxRedirections: 5,
    slotsRefreshTimeout: Math.min(2_000, shareMs),
    // A failover is noticed without waiting for a MOVED.
    slotsRefreshInterval: 5_000,
    clusterRetryStrategy: reconnectDelayMs,
    // With TLS nodes are known by name in the certificate: keep the names as they are.
    ...(tls === undefined
      ? {}
      : { dnsLookup: (address: string, found: (error: null, address: string) => void) => found(null, address) }),
  });
}

function own(client: RedisClient, waitMs: number): OwnedClient {
  let lastError: unknown;
  let isClosed = false;
  // A database that cannot be had is only an `error` to the client: it goes on in database 0 (event_handler.js, `select`).
  let isElsewhere = false;
  // Without a listener the client prints to the console (Redis.js, silentEmit); what fails is told by operations.
  client.on("error", (error: unknown) => {
    // What follows from it is no news.
    if (isElsewhere) return;
    lastError = error;
    if (commandOf(error) !== "select") return;
    isElsewhere = true;
    client.disconnect();
  });
  client.on("connect", () => {
    isElsewhere = false;
  });
  // One listener for all that wait: their number has no bound.
  const waiting = new Set<(isReady: boolean) => void>();
  const tell = (isReady: boolean): void => {
    for (const settle of [...waiting]) settle(isReady);
  };
  client.on("ready", () => {
    lastError = undefined;
    tell(true);
  });
  client.on("close", () => tell(false));
  client.on("end", () => tell(false));
  const notSent = (): NotSentError =>
    new NotSentError("there is no connection", lastError === undefined ? undefined : { cause: lastError });

  return {
    client,
    ready: () =>
      new Promise<void>((resolve, reject) => {
        if (client.status === "ready") {
          resolve();
          return;
        }
        if (isClosed) {
          reject(notSent());
          return;
        }
        const leave = (): void => {
          clearTimeout(timer);
          waiting.delete(settle);
        };
        const settle = (isReady: boolean): void => {
          leave();
          if (isReady) resolve();
          else reject(notSent());
        };
        // A peer that takes the connection and does not answer the handshake is no peer (ioredis bounds only the TCP part).
        const timer = setTimeout(() => {
          settle(false);
          if (waiting.size !== 0 || client.status !== "connect") return;
          // Destroyed, not ended: to end takes the peer's answer, and until then a late one makes it look ready.
          if (client instanceof Redis) client.stream.destroy();
          else client.disconnect(true);
        }, waitMs);
        waiting.add(settle);
        // A client that gave up (a cluster without a node that answers) begins anew.
        if (client.status === "wait" || client.status === "end") client.connect().catch(() => undefined);
      }),
    async close(): Promise<void> {
      // The store has waited for what was in flight: there is nothing to say goodbye for, and a silent peer would not hear it.
      isClosed = true;
      client.disconnect();
    },
  };
}

function commandOf(error: unknown): unknown {
  const command: unknown = isError(error) ? Reflect.get(error, "command") : undefined;
  return typeof command === "object" && command !== null ? Reflect.get(command, "name") : undefined;
}

function parseHost(text: string, port: number): { readonly host: string; readonly port: number } {
  const parts = /^(?:\[([^\]]+)\]|([^:]*))(?::(\d+))?$/.exec(text);
  const host = parts?.[1] ?? parts?.[2];
  if (host === undefined || host === "") throw refusal("has a host that is empty or malformed");
  return { host, port: parts?.[3] === undefined ? port : Number(parts[3]) };
}

function refusal(problem: string): MemorySettingsError {
  return new MemorySettingsError(`dsn ${problem}`, { setting: "dsn" });
}
