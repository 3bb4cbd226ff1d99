// A standalone Redis or Valkey server: which one a test gets, and the handle by which it is broken and mended.

import { findRedisBinary } from "./binaries.ts";
import { isLive, isRequired, MissingServerError, sayOnce } from "./missing.ts";
import { startLocalRedis } from "./redis-local.ts";
import type { Reply } from "./resp.ts";

/** Which server is wished for. */
export interface RedisWish {
  /** `redis` by default. */
  readonly flavour?: "redis" | "valkey";
  /** One source only; by default a local binary, else a container. */
  readonly source?: "local" | "container";
  /** Whether the server that ADK_TEST_REDIS_URL names will do (with `npm run test:live`). It cannot be broken. */
  readonly mayBeNamed?: boolean;
  /**
   * Whether the test is an extra that may be missing also where CI=true. It may not where the environment names an
   * image for it (ADK_TEST_REDIS_IMAGE, ADK_TEST_VALKEY_IMAGE).
   */
  readonly isOptional?: boolean;
}

/** How the server is set up. */
export interface RedisOptions {
  /** Settings as on the command line, such as `["--maxmemory", "8mb"]`. */
  readonly args?: readonly string[];
  /** Password of the default user. */
  readonly password?: string;
  /** Users beside the default one, as ACL rules: `app on >secret ~* +@all`. */
  readonly users?: readonly string[];
  /** TLS only, with a throw-away authority (`ca` of the handle). */
  readonly tls?: boolean;
  /** Keeps an append-only file, so that what was acknowledged outlives `kill` and `restart`. */
  readonly appendOnly?: boolean;
}

/** A running server. Every method settles when the server has reached the state named. */
export interface RedisServer {
  /** `redis://` or `rediss://`, with the default user's password where there is one. */
  readonly url: string;
  readonly host: string;
  readonly port: number;
  readonly version: string;
  readonly flavour: "redis" | "valkey";
  readonly source: "local" | "container" | "named";
  /** PEM text of the authority, where the server speaks TLS. */
  readonly ca?: string;
  readonly isRunning: boolean;
  /** The last 8 KiB that a local server logged since its start; empty for others. */
  log(): string;
  /** SIGKILL: connections are reset, nothing is saved any more. */
  kill(): Promise<void>;
  /** SIGSTOP: connections stay, the system still accepts new ones, no answer comes. */
  pause(): Promise<void>;
  /** SIGCONT after `pause`. */
  resume(): Promise<void>;
  /** Starts it again on the same port and data folder; kills it first where it still runs. */
  restart(): Promise<void>;
  /** Ends it and removes its data. Harmless when repeated. */
  stop(): Promise<void>;
  /**
   * One command over a connection of its own, as the default user.
   *
   * @throws {ServerReplyError} when the server answers with an error.
   */
  cli(...args: readonly (string | number)[]): Promise<Reply>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** A server that can be started here, or why there is none. */
export interface RedisLane {
  readonly isMissing: boolean;
  /** What was found or why nothing was, as printed. */
  readonly description: string;
  readonly version?: string;
  /** @throws {MissingServerError} when the lane is missing. */
  start(options?: RedisOptions): Promise<RedisServer>;
}

/**
 * Looks for a server without starting it, and prints once what was found and why not the others:
 * `describe.skipIf(lane.isMissing)`.
 *
 * @throws {MissingServerError} when there is none, CI=true, and the wish is not optional.
 */
export async function findRedis(wish: RedisWish = {}): Promise<RedisLane> {
  const flavour = wish.flavour ?? "redis";
  const reasons: string[] = [];
  const lane =
    (await findNamed(wish, flavour, reasons)) ??
    findLocal(wish, flavour, reasons) ??
    (await findContainer(wish, flavour, reasons));
  if (lane !== undefined) {
    sayOnce(`${lane.description}${reasons.length === 0 ? "" : ` (${reasons.join("; ")})`}`);
    return lane;
  }
  const description = `no ${flavour} server: ${reasons.join("; ")}`;
  const isExtra = wish.isOptional === true && process.env[imageVariables[flavour]] === undefined;
  if (isRequired() && !isExtra) throw new MissingServerError(description);
  sayOnce(`${description}. Its tests are skipped`);
  return { isMissing: true, description, start: () => Promise.reject(new MissingServerError(description)) };
}

/**
 * A server of its own for the caller: `findRedis`, then `start`.
 *
 * @throws {MissingServerError} when there is none.
 */
export async function startRedis(options: RedisOptions & RedisWish = {}): Promise<RedisServer> {
  const lane = await findRedis(options);
  return lane.start(options);
}

/** The environment variable that names the image of a flavour. */
export const imageVariables = { redis: "ADK_TEST_REDIS_IMAGE", valkey: "ADK_TEST_VALKEY_IMAGE" } as const;

async function findNamed(wish: RedisWish, flavour: "redis" | "valkey", reasons: string[]) {
  if (wish.mayBeNamed !== true || wish.source !== undefined || flavour !== "redis") return undefined;
  const url = process.env["ADK_TEST_REDIS_URL"];
  if (!isLive() || url === undefined) {
    reasons.push(isLive() ? "ADK_TEST_REDIS_URL is not set" : "a named server only with npm run test:live");
    return undefined;
  }
  const { findNamedRedis } = await import("./redis-named.ts");
  return findNamedRedis(url);
}

function findLocal(wish: RedisWish, flavour: "redis" | "valkey", reasons: string[]): RedisLane | undefined {
  if (wish.source === "container") return undefined;
  const binary = findRedisBinary(flavour);
  if (binary === undefined) {
    reasons.push(`no ${flavour}-server on the path or in the usual folders`);
    return undefined;
  }
  const { path, version } = binary;
  if (wish.source === undefined) reasons.push("no container, as a local one comes first");
  return {
    isMissing: false,
    description: `${flavour} ${version} from ${path}`,
    version,
    start: (options = {}) => startLocalRedis({ ...options, flavour, binary }),
  };
}

async function findContainer(wish: RedisWish, flavour: "redis" | "valkey", reasons: string[]) {
  if (wish.source === "local") return undefined;
  // Loaded late: the library takes its time, and most tests have a local server.
  const { findRedisContainer } = await import("./redis-container.ts");
  return findRedisContainer(flavour, reasons);
}
