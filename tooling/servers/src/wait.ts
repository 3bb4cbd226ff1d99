// Waiting for a server to be in a state: asked again and again in short steps, with a bound.

import { setTimeout as pause } from "node:timers/promises";

/**
 * Resolves with the first answer that is not `undefined` and not `false`, asking every 20 ms. An error of `ask` counts
 * as "not yet" and is the cause of the failure in the end.
 *
 * @throws {Error} when there was no such answer within `timeoutMs` (15,000 by default).
 */
export async function waitFor<T>(
  what: string,
  ask: () => Promise<T | undefined | false> | T | undefined | false,
  timeoutMs = 15_000,
): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    let cause: unknown;
    try {
      const answer = await ask();
      if (answer !== undefined && answer !== false) return answer;
    } catch (error) {
      cause = error;
    }
    if (performance.now() > deadline) throw new Error(`waited ${timeoutMs} ms in vain for ${what}`, { cause });
    await pause(20);
  }
}
