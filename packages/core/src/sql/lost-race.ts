// A statement that came second. It had no effect, and is judged before it is a failure: most callers just look again.

import { isError } from "../model/is-error.ts";

/** A row changed hands while the statement looked, again and again. Nothing was written. */
export class LostRaceError extends Error {
  override readonly name = "LostRaceError";
}

/**
 * Whether the statement lost to a concurrent one where the role's default is a higher level of isolation. It had no effect,
 * and is no failure: at the usual level it would have answered that it lost.
 */
export function isLostRace(error: unknown): boolean {
  // SQLSTATE serialization_failure; every client has it as `code`.
  return isError(error) && Reflect.get(error, "code") === "40001";
}
