// The door: the store over Redis, the driver beneath it, and what both take.

export { type ClientUse, type RedisDriverOptions, redisDriver } from "./driver.ts";
export type { RedisClient } from "./script.ts";
export { type RedisConnectOptions, RedisMemoryStore, type RedisMemoryStoreOptions } from "./store.ts";
