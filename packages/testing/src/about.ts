// Assertion errors with words of ours and the values of another: which of several it was, or which promise it breaks.

import { AssertionError } from "node:assert/strict";

/** An assertion error with exactly this message, and these values for whoever shows them. */
export function assertionError(message: string, actual: unknown, expected: unknown, operator: string): AssertionError {
  // Given to the constructor, the values would be printed into the message, by some releases of Node and not by others.
  return Object.assign(new AssertionError({ message, operator: "fail" }), { actual, expected, operator });
}

/** For `catch`: rejects with the failure, named, with the values that it had. */
export function about(what: string): (failure: unknown) => never {
  return (failure) => {
    if (!(failure instanceof AssertionError)) {
      throw assertionError(`${what}: ${String(failure)}`, failure, "no error", "about");
    }
    const { message, actual, expected, operator } = failure;
    throw assertionError(`${what}: ${message}`, actual, expected, operator);
  };
}
