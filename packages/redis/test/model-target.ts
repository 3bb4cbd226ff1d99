// The target of a model-based run: a store over a server whose time goes so much faster than the run's that the
// milliseconds which the run itself takes decide nothing.

import type { MemoryStore } from "@memory/core";
import { InMemoryMemoryStore } from "@memory/core/in-memory";
import type { ConformanceTarget, StoreOptions } from "@memory/testing";
import { RedisMemoryStore } from "../src/index.ts";
import type { RedisClient } from "../src/script.ts";
import { redisTarget } from "./target.ts";

// The run lives in milliseconds and the server in real ones: every millisecond of the run is a hundred seconds of the server.
const STRETCH = 100_000;

/** How many sequences a deployment's model-based run has: 100, or `MEMORY_SEQUENCES`. */
export const SEQUENCES: number = Number(process.env["MEMORY_SEQUENCES"] ?? 100);

/** What is compared with. */
export const reference: ConformanceTarget = {
  name: "in-memory",
  open: (options) => new InMemoryMemoryStore(options),
};

/** A store over a client, in its own namespace. */
export function modelTarget(name: string, client: RedisClient, namespace: string): ConformanceTarget {
  const open = (options: StoreOptions): MemoryStore => {
    const ttlMs = options.ttlMs === undefined ? {} : { ttlMs: options.ttlMs * STRETCH };
    const store = new RedisMemoryStore(client, { ...options, ...ttlMs, namespace });
    return new Proxy(store, {
      get(target, member) {
        if (member === "expire") {
          const expire: MemoryStore["expire"] = (scope, key, given) =>
            target.expire(scope, key, { ...given, ttlMs: given.ttlMs * STRETCH });
          return expire;
        }
        const found: unknown = Reflect.get(target, member, target);
        return typeof found === "function" ? found.bind(target) : found;
      },
    });
  };
  const target = redisTarget(name, client, namespace, open);
  return { ...target, elapse: (ms) => target.elapse?.(ms * STRETCH + 1) };
}
