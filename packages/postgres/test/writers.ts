// A process of its own that writes to one key with many callers at once, and prints what became of each as JSON. They expect
// nothing, or a version; or, from 0 on, the version that they lost to, until they win ("insist").

import { isMemoryError, memoryScope, memoryStoreSettings } from "@memory/core";
import { PostgresMemoryStore } from "../src/index.ts";

const [dsn = "", tenantId = "", name = "", count = "0", expected = ""] = process.argv.slice(2);
const store = PostgresMemoryStore.connect(
  memoryStoreSettings({ dsn, poolSize: 8, queueTimeoutMs: 60_000, maxAttempts: 6 }),
  {
    settings: { attemptTimeoutMs: 30_000, queueTimeoutMs: 60_000, maxQueued: 10_000 },
  },
);
const scope = memoryScope({ tenantId });

/** What became of one attempt to write, and which version it named. */
export type Outcome =
  | { readonly id: string; readonly won: number; readonly superseded: string | null }
  | { readonly id: string; readonly lost: number | null; readonly code: string; readonly expected: number };

async function attempt(id: string, expectedVersion: number | undefined): Promise<Outcome> {
  const options = expectedVersion === undefined ? {} : { expectedVersion };
  try {
    const { record, superseded } = await store.supersede(scope, { id, key: "k", value: id, source: "writer" }, options);
    return { id, won: record.version ?? 0, superseded: superseded?.id ?? null };
  } catch (error) {
    if (!isMemoryError(error)) throw error;
    const lost = isMemoryError(error, "MEMORY_CONFLICT") ? (error.actualVersion ?? null) : null;
    return { id, lost, code: error.code, expected: expectedVersion ?? -1 };
  }
}

async function insist(id: string): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = [];
  for (let version: number | null = 0; version !== null; ) {
    const outcome = await attempt(id, version);
    outcomes.push(outcome);
    version = "lost" in outcome ? outcome.lost : null;
  }
  return outcomes;
}

const outcomes = await Promise.all(
  [...Array(Number(count)).keys()].map(async (n): Promise<readonly Outcome[]> => {
    const id = `${name}-${n}`;
    if (expected === "insist") return await insist(id);
    return [await attempt(id, expected === "" ? undefined : Number(expected))];
  }),
);
await store.close();
process.stdout.write(JSON.stringify(outcomes.flat()));
