// The door: the store, its driver for whoever composes stores, and nothing that a caller does not need.

export { PostgresMemoryStore, type PostgresMemoryStoreOptions } from "./connect.ts";
export type { PostgresDriverOptions } from "./driver.ts";
export type { PostgresClient } from "./executor.ts";
