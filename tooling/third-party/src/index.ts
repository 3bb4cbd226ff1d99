// The door: the store, and its driver for whoever composes stores. The schema has a door of its own.

export { type SqliteDriverOptions, sqliteDriver } from "./driver.ts";
export { SqliteMemoryStore, type SqliteMemoryStoreOptions } from "./store.ts";
