// The implementers' door: the driver contract, the store that core puts over a driver, and what a driver may call.
// The rules for a driver stand at the head of `model/driver.ts`, which is read with it.

export type * from "./model/driver.ts";
export { MemoryCorruptionError, MemorySchemaError, MemorySettingsError } from "./model/errors.ts";
export { isError } from "./model/is-error.ts";
export { compareText, sameJson } from "./model/json.ts";
export { compareScopes, containsScope, SCOPE_PARTS, sameScope } from "./model/scope.ts";
export { sameContent } from "./rules/content.ts";
export { encodeKey } from "./rules/key.ts";
export { matchesFilter } from "./rules/matching.ts";
export { resemblance, type Vector, vectorOf } from "./rules/resemblance.ts";
export { createMemoryStore, DriverMemoryStore, driverOf, optionsOf } from "./store.ts";
