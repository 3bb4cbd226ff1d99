// What a failed attempt means, as its driver says it.

import type { MemoryDriver } from "../model/driver.ts";
import { isMemoryError } from "../model/errors.ts";

/** How a failure is to be taken. */
export interface Verdict {
  /** The error to reject with as it is; `undefined` where there is none. */
  readonly raise: unknown;
  readonly isExhausted: boolean;
  readonly isTransient: boolean;
  readonly hadNoEffect: boolean;
}

/** What the driver says about an error. A driver that fails at saying it is taken at the most careful. */
export function judge(driver: MemoryDriver, error: unknown): Verdict {
  if (isMemoryError(error)) return { raise: error, isExhausted: false, isTransient: false, hadNoEffect: false };
  try {
    const narrower: unknown = driver.toMemoryError?.(error);
    return {
      raise: isMemoryError(narrower) ? narrower : undefined,
      isExhausted: driver.isExhausted(error),
      isTransient: driver.isTransient(error),
      hadNoEffect: driver.hadNoEffect?.(error) ?? false,
    };
  } catch {
    return { raise: undefined, isExhausted: false, isTransient: false, hadNoEffect: false };
  }
}
