// The door: the store, its driver for whoever composes stores, and nothing that a caller does not need.

export { type PostgresClient, PostgresMemoryStore, type PostgresMemoryStoreOptions } from "./connect.ts";
export type { PostgresDriverOptions } from "./driver.ts";
