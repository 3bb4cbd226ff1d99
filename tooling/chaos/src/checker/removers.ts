// The erasures that may have, or must have, taken away what stood at a place, so kept that both questions are answered
// without looking at all of them.

import type { Call, Span } from "./ledger.ts";

/** Erasures that meant a place. */
export class Removers {
  /** By their beginning: the greatest end among those up to there. */
  readonly #may: readonly { readonly at: number; readonly end: number }[];
  /** By their end: the greatest beginning among those up to there. */
  readonly #must: readonly { readonly end: number; readonly at: number }[];

  /** `isWeak`: it need not have taken away what is here; `isUndone`: what it took away may be back. */
  constructor(all: readonly Call[], isWeak: (one: Call) => boolean, isUndone: (one: Call) => boolean) {
    let end = Number.NEGATIVE_INFINITY;
    this.#may = [...all]
      .sort((a, b) => a.at - b.at)
      .map((one) => {
        end = Math.max(end, one.end);
        return { at: one.at, end };
      });
    let at = Number.NEGATIVE_INFINITY;
    this.#must = all
      .filter((one) => one.outcome === "ok" && !isWeak(one) && !isUndone(one))
      .sort((a, b) => a.end - b.end)
      .map((one) => {
        at = Math.max(at, one.at);
        return { end: one.end, at };
      });
  }

  /** Whether one of them may have taken away what came about in this span, as seen by a read that ended at `by`. */
  mayRemove({ at }: Pick<Span, "at">, by: number): boolean {
    const last = findLast(this.#may, (one) => one.at <= by);
    return last !== undefined && last.end >= at;
  }

  /** Of those that had settled before `before`, the latest beginning: what was there by then is gone. */
  goneUpTo(before: number): number {
    return findLast(this.#must, (one) => one.end < before)?.at ?? Number.NEGATIVE_INFINITY;
  }
}

/** The last of a list for which a claim holds that holds for a beginning of the list. */
function findLast<T>(list: readonly T[], holds: (one: T) => boolean): T | undefined {
  let [low, high] = [0, list.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const one = list[middle];
    if (one !== undefined && holds(one)) low = middle + 1;
    else high = middle;
  }
  return list[low - 1];
}
