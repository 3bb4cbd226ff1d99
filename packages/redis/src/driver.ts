// The Redis driver: its sections over one client, borrowed or owned.

import type { MemoryDriver } from "@memory/core/driver";
import { MemorySettingsError } from "@memory/core/driver";
import { erasureSection } from "./erasure.ts";
import { judge, toMemoryError } from "./errors.ts";
import { checkNamespace, DEFAULT_NAMESPACE, Names } from "./keys.ts";
import { type RedisClient, Scripts } from "./script.ts";
import { Tenants } from "./tenant.ts";
import { verifyServer } from "./verify.ts";
import { workingSection } from "./working.ts";

/** What the driver takes; every option has a default. */
export interface RedisDriverOptions {
  /** Begins every key in the server. Default `adk:mem`. */
  readonly namespace?: string | undefined;
  /** How long a record lives after each write and append, in milliseconds. Default: it does not expire. */
  readonly ttlMs?: number | undefined;
  /** Reading re-arms `ttlMs`, unless an explicit `expire` holds. Default `false`. */
  readonly sliding?: boolean | undefined;
  /** The most elements a sequence may hold. Default 1,000,000. */
  readonly maxElements?: number | undefined;
  /** The largest value in UTF-8 JSON bytes, up to 256 MiB. Default 1 MiB. */
  readonly maxValueBytes?: number | undefined;
}

/** How the driver came to its client. */
export interface ClientUse {
  /** How many commands may be in flight. */
  readonly concurrency: number;
  /** Resolves when commands can be sent; left out for a client that queues by itself. */
  readonly ready?: (() => Promise<void>) | undefined;
  readonly close: () => Promise<void>;
}

const DEFAULT_MAX_VALUE_BYTES = 1024 * 1024;
// A string of Redis holds 512 MiB (proto-max-bulk-len); head and value stand in one.
const LARGEST_VALUE_BYTES = 256 * 1024 * 1024;
const DEFAULT_MAX_ELEMENTS = 1_000_000;
// List lengths are 64 bits wide, but a position has to be a number.
const LARGEST_MAX_ELEMENTS = 2 ** 32;

/**
 * A driver of the working kind and its erasure over an ioredis client, a `Redis` or a `Cluster`.
 *
 * @throws {MemorySettingsError} An option is out of its range.
 */
export function redisDriver(client: RedisClient, options: RedisDriverOptions, use: ClientUse): MemoryDriver {
  const { namespace = DEFAULT_NAMESPACE, ttlMs, sliding = false } = options;
  const maxElements = options.maxElements ?? DEFAULT_MAX_ELEMENTS;
  const maxValueBytes = options.maxValueBytes ?? DEFAULT_MAX_VALUE_BYTES;
  checkCount("ttlMs", ttlMs, Number.MAX_SAFE_INTEGER);
  checkCount("maxElements", maxElements, LARGEST_MAX_ELEMENTS);
  checkCount("maxValueBytes", maxValueBytes, LARGEST_VALUE_BYTES);
  if (typeof sliding !== "boolean") throw refusal("sliding", "must be true or false");
  if (typeof client?.sendCommand !== "function") throw refusal("client", "must be a Redis or a Cluster of ioredis");
  const names = new Names(checkNamespace(namespace));
  const scripts = new Scripts(client, use.ready);
  const tenants = new Tenants(client, scripts, names);
  return {
    name: "redis",
    client,
    concurrency: use.concurrency,
    maxValueBytes,
    working: workingSection(scripts, names, tenants, { ttlMs, sliding, maxElements }),
    erasure: erasureSection(scripts, names, tenants),
    verify: () => verifyServer(client, scripts, `${namespace}:{verify}`),
    isTransient: (error) => judge(error).isTransient,
    isExhausted: (error) => judge(error).isExhausted,
    hadNoEffect: (error) => judge(error).hadNoEffect,
    toMemoryError,
    close: use.close,
  };
}

function checkCount(setting: string, value: unknown, most: number): void {
  if (value === undefined) return;
  if (Number.isSafeInteger(value) && Number(value) >= 1 && Number(value) <= most) return;
  throw refusal(setting, `must be a whole number from 1 to ${most}`);
}

function refusal(setting: string, problem: string): MemorySettingsError {
  return new MemorySettingsError(`${setting} ${problem}`, { setting });
}
