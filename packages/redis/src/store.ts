// The store that callers name: core's store over the Redis driver.

import type { ConnectionOptions } from "node:tls";
import type { MemoryStoreOptions, MemoryStoreSettings } from "@memory/core";
import { DriverMemoryStore } from "@memory/core/driver";
import { connectClient } from "./connect.ts";
import { type ClientUse, type RedisDriverOptions, redisDriver } from "./driver.ts";
import type { RedisClient } from "./script.ts";

/** As in `memoryStoreSettings`. */
const DEFAULT_MAX_IN_FLIGHT = 10_000;

/** What {@link RedisMemoryStore} takes: what every store does, and what its driver does. */
export interface RedisMemoryStoreOptions extends MemoryStoreOptions, RedisDriverOptions {}

/** What `connect` takes beside: the TLS options of Node (`ca`, `cert`, `key`, `servername`), used with `rediss://`. */
export interface RedisConnectOptions extends RedisMemoryStoreOptions {
  readonly tls?: ConnectionOptions | undefined;
}

/**
 * Working memory in Redis 7.0 or newer, or Valkey: standalone, behind Sentinel, or a cluster. Each operation is one server-side
 * script and one round trip; expiry is the server's; erasure is in two phases and resumes.
 */
export class RedisMemoryStore extends DriverMemoryStore {
  /**
   * A store over the caller's client, which stays the caller's to connect and to close.
   *
   * @param use How the client is waited for and closed: what `connect` passes.
   * @throws {MemorySettingsError} An option is unknown, of a wrong type, or out of bounds.
   */
  constructor(redis: RedisClient, options: RedisMemoryStoreOptions = {}, use?: ClientUse) {
    const { namespace, ttlMs, sliding, maxElements, ...rest } = options;
    const own = { namespace, ttlMs, sliding, maxElements, maxValueBytes: rest.maxValueBytes };
    super(redisDriver(redis, own, use ?? borrowed(rest)), rest);
  }

  /**
   * A store with a client of its own, which connects with the first operation and is closed with the store.
   *
   * @throws {MemorySettingsError} An option, or the connection string, is refused.
   */
  static connect(settings: MemoryStoreSettings, options: RedisConnectOptions = {}): RedisMemoryStore {
    const { tls, ...rest } = options;
    const { client, ready, close } = connectClient(settings, tls);
    return new RedisMemoryStore(client, { ...rest, settings }, { concurrency: settings.maxInFlight, ready, close });
  }
}

function borrowed({ settings }: MemoryStoreOptions): ClientUse {
  return { concurrency: settings?.maxInFlight ?? DEFAULT_MAX_IN_FLIGHT, close: async () => undefined };
}
