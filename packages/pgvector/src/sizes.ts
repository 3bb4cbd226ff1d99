// Which scopes are large, remembered for a minute: what a search finds does not depend on it, only which way it goes.

import { encodeKey, type NearestRequest } from "@memory/core/driver";

const KEPT_MS = 60_000;
const MOST_KEPT = 1_000;

type Under = Pick<NearestRequest, "scope" | "reach">;

/** What is known of the sizes of scopes. */
export class Sizes {
  readonly #known: Map<string, { readonly isLarge: boolean; readonly until: number }> = new Map();

  /** Whether at least so many records are under the scope; `undefined` where that is not known, or no more. */
  isAtLeast(request: Under, least: number): boolean | undefined {
    const known = this.#known.get(nameOf(request, least));
    return known !== undefined && known.until > performance.now() ? known.isLarge : undefined;
  }

  /** Remembers that there are at least so many, or fewer. */
  remember(request: Under, least: number, isLarge: boolean): void {
    const name = nameOf(request, least);
    this.#known.delete(name);
    this.#known.set(name, { isLarge, until: performance.now() + KEPT_MS });
    const [oldest] = this.#known.keys();
    if (this.#known.size > MOST_KEPT && oldest !== undefined) this.#known.delete(oldest);
  }
}

function nameOf({ scope, reach }: Under, least: number): string {
  const { tenantId, userId, sessionId, agent } = scope;
  return encodeKey([tenantId, userId, sessionId, agent, reach, String(least)]);
}
