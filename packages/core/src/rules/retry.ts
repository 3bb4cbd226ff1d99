// How often and when to try again: the arithmetic of attempts, without doing any of them.

/** The part of a store's settings that attempts depend on. */
export interface RetrySettings {
  readonly maxAttempts: number;
  readonly attemptTimeoutMs: number;
  readonly queueTimeoutMs: number;
  readonly backoffMs: number;
}

/**
 * How long to wait, in milliseconds, after attempt `attempt` (from 1) failed: anywhere between 0 and the ceiling, which
 * doubles from `backoffMs` up to `attemptTimeoutMs`. `entropy` gives 0..1; what is outside counts as the nearer end.
 *
 * @see "Exponential Backoff and Jitter", AWS Architecture Blog, 2015 ("full jitter")
 */
export function retryDelayMs(settings: RetrySettings, attempt: number, entropy: () => number): number {
  const chance = entropy();
  return (chance > 0 ? Math.min(chance, 1) : 0) * retryCeilingMs(settings, attempt);
}

/**
 * The longest, in milliseconds, that attempt `from` (default 1: all of them) and the attempts after it can take together:
 * each its queueing and its timeout, and the longest backoff between each two.
 */
export function retryBudgetMs(settings: RetrySettings, from = 1): number {
  let total = 0;
  for (let attempt = from; attempt <= settings.maxAttempts; attempt++) {
    total += settings.attemptTimeoutMs + settings.queueTimeoutMs;
    if (attempt < settings.maxAttempts) total += retryCeilingMs(settings, attempt);
  }
  return total;
}

function retryCeilingMs(settings: RetrySettings, attempt: number): number {
  return Math.min(settings.backoffMs * 2 ** (attempt - 1), settings.attemptTimeoutMs);
}
