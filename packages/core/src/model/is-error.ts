// What an error is where several realms meet: a test runner that gives each file globals of its own (Jest) leaves those of
// Node's system errors outside, and a client may run in another context.

import { types } from "node:util";

/** Whether it is an error, also of another realm, whose `Error` is another. */
export function isError(value: unknown): value is Error {
  return value instanceof Error || types.isNativeError(value);
}
