// The door: the store, what its options are called, and nothing that a caller does not need.

export type { CollectionOptions } from "./collection.ts";
export { PgvectorMemoryStore, type PgvectorMemoryStoreOptions, type PostgresClient } from "./connect.ts";
export type { PgvectorDriverOptions } from "./driver.ts";
