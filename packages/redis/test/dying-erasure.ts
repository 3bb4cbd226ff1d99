// A process that erases and is killed in the middle: it hides the scope, says so, and begins to remove rows.

import { driverOf } from "@memory/core/driver";
import { Redis } from "ioredis";
import { RedisMemoryStore } from "../src/index.ts";

const store = new RedisMemoryStore(new Redis(process.argv[2] ?? ""));
const { erasure } = driverOf(store);
const target = {
  scope: { tenantId: "acme", userId: "gone" },
  reach: "under" as const,
  kinds: undefined,
  keys: undefined,
};
const call = { now: Date.now(), signal: new AbortController().signal, attempt: 1, budgetMs: 30_000 };

await erasure?.tombstone(target, call);
process.stdout.write("hidden\n");
// To be killed in the midst of this, or before it.
await new Promise((resolve) => setTimeout(resolve, 60_000));
