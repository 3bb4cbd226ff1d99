// What an operation of several steps says when one of them failed. A step knows only of itself that it did nothing: where
// one before it may have had an effect, that is no news of the whole.

import { isMemoryError, MemoryUnavailableError } from "../model/errors.ts";
import type { OperationCall } from "./guard.ts";

/** What to reject with: the error, unless it says of an operation that may have had an effect that nothing was done. */
export function outcomeOf(error: unknown, call: OperationCall): unknown {
  if (!call.mayHaveEffect || error === call.callerSignal?.reason) return error;
  const isNothing =
    isMemoryError(error, "POOL_EXHAUSTED") ||
    (isMemoryError(error, "MEMORY_UNAVAILABLE") && error.outcome === "not-applied");
  if (!isNothing) return error;
  const { store } = error;
  const { attempts } = call;
  return new MemoryUnavailableError(
    `${store}: a step of the operation failed, ${attempts} attempts in all; what came before it may have had its effect`,
    { store, attempts, outcome: "unknown" },
    // The error itself says that nothing was done; why it failed is in its cause.
    error.cause ?? error,
  );
}
