// Which scopes are large, remembered for a minute: what a search finds does not depend on it, only which way it goes.

import { encodeKey, type NearestRequest } from "@memory/core/driver";

const KEPT_MS = 60_000;
const MOST_KEPT = 1_000;

/** What is known of the sizes of scopes. */
export class Sizes {
  readonly #known: Map<string, { readonly isLarge: boolean; readonly until: number }> = new Map();

  /** Whether at least so many records are under the scope, counting them where it is not known. */
  async isAtLeast(
    { scope, reach }: Pick<NearestRequest, "scope" | "reach">,
    least: number,
    count: () => Promise<number>,
  ): Promise<boolean> {
    const { tenantId, userId, sessionId, agent } = scope;
    const name = encodeKey([tenantId, userId, sessionId, agent, reach, String(least)]);
    const now = performance.now();
    const known = this.#known.get(name);
    if (known !== undefined && known.until > now) return known.isLarge;
    const isLarge = (await count()) >= least;
    this.#known.delete(name);
    this.#known.set(name, { isLarge, until: now + KEPT_MS });
    const [oldest] = this.#known.keys();
    if (this.#known.size > MOST_KEPT && oldest !== undefined) this.#known.delete(oldest);
    return isLarge;
  }
}
