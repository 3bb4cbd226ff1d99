// The door: the store that binds others as one, the driver beneath it, and what both take.

export { type RoutedMembers, routedDriver } from "./driver.ts";
export type { RoutedMemoryStoreOptions } from "./options.ts";
export { RoutedMemoryStore } from "./store.ts";
