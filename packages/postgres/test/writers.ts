// A process of its own that writes to one key with many callers at once, and prints what became of each as JSON.

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
const options = expected === "" ? {} : { expectedVersion: Number(expected) };

/** What became of one write. */
export type Outcome =
  | { readonly won: number; readonly superseded: number | null }
  | { readonly lost: number | null; readonly code: string };

const outcomes = await Promise.all(
  [...Array(Number(count)).keys()].map(async (n): Promise<Outcome> => {
    const record = { id: `${name}-${n}`, key: "k", value: `${name}-${n}`, source: "writer" };
    try {
      const { record: written, superseded } = await store.supersede(scope, record, options);
      return { won: written.version ?? 0, superseded: superseded?.version ?? null };
    } catch (error) {
      if (!isMemoryError(error)) throw error;
      return { lost: isMemoryError(error, "MEMORY_CONFLICT") ? error.actualVersion : null, code: error.code };
    }
  }),
);
await store.close();
process.stdout.write(JSON.stringify(outcomes));
