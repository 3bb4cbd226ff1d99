// Servers in containers, where an engine answers. With `npm test` only images that are here already are used, so that
// nothing is fetched from a network; `npm run test:live` may fetch them.

import type { RedisLane } from "./redis.ts";

/** The lane of a container, or `undefined` with the reason added. */
export async function findRedisContainer(
  flavour: "redis" | "valkey",
  reasons: string[],
): Promise<RedisLane | undefined> {
  reasons.push(`no container of ${flavour}`);
  return undefined;
}
