// A list is whole, however short its pages are: core takes a page that is not full for the last one.

import { type Derivation, memoryScope, memoryStoreSettings } from "@memory/core";
import {
  type DriverCall,
  driverOf,
  type KeyVersions,
  type MemoryDriver,
  type StoredRecord,
  type VersionRow,
} from "@memory/core/driver";
import { findPostgres, type PostgresPrimary } from "@tooling/servers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PostgresMemoryStore } from "../src/index.ts";
import { applySchema } from "./target.ts";

const lane = findPostgres();

const LIMITS: readonly number[] = [1, 2, 3, 5, 1_000];
const call: DriverCall = { now: 9_000, signal: new AbortController().signal, attempt: 1, budgetMs: 0 };

/** Everything, a page after the other, as core walks: until one is not full. */
async function walk<Row>(limit: number, page: (after: Row | undefined) => Promise<readonly Row[]>): Promise<Row[]> {
  const all: Row[] = [];
  for (;;) {
    const rows = await page(all.at(-1));
    all.push(...rows);
    if (rows.length < limit) return all;
  }
}

describe.skipIf(lane.isMissing)("pages", () => {
  const tenant = memoryScope({ tenantId: "pages" });
  let server: PostgresPrimary;
  let store: PostgresMemoryStore;
  let driver: MemoryDriver;

  beforeAll(async () => {
    server = await lane.start();
    await applySchema(server.url);
    store = PostgresMemoryStore.connect(memoryStoreSettings({ dsn: server.url }));
    driver = driverOf(store);
    for (const userId of ["a", "b", "c"]) {
      for (const sessionId of ["1", "2", "3"]) {
        const scope = { ...tenant, userId, sessionId };
        for (const key of ["j", "k", "l"]) {
          for (let version = 1; version <= (userId === "b" ? 3 : 1); version += 1) {
            await store.upsert(scope, { key, value: version, source: "t" });
          }
        }
        await store.log(scope, {
          id: "same",
          key: "k",
          value: 1,
          source: "t",
          validFrom: 1_000,
          metadata: { of: "t" },
        });
        await store.derived(scope, { artefactId: "x", sourceKind: "episodic", sourceId: "same", adapter: "x" });
      }
    }
  });
  afterAll(async () => {
    await store?.close();
    await server?.stop();
  });

  it.each(LIMITS)("give the history of a key, and of all, under a wide scope: %i versions each", async (limit) => {
    for (const [key, count] of [["k", 15] as const, [undefined, 45] as const]) {
      const rows = await walk<VersionRow>(limit, async (last) => {
        const after = last && { scope: last.record.scope, key: last.record.key, version: last.record.version ?? 0 };
        return (await driver.profile?.history({ scope: tenant, reach: "under", key, after, limit }, call)) ?? [];
      });
      expect(distinct(rows.map(({ record }) => [record.scope, record.key, record.version]))).toBe(count);
      expect(rows).toHaveLength(count);
    }
  });

  it.each(LIMITS)("give the beliefs under a wide scope: %i keys each", async (limit) => {
    for (const [keyPrefix, count] of [["k", 9] as const, [undefined, 27] as const]) {
      const rows = await walk<KeyVersions>(limit, async (after) => {
        const asked = {
          scope: tenant,
          reach: "under",
          keyPrefix,
          after,
          limit,
          asOf: undefined,
          knownAt: undefined,
        } as const;
        return (await driver.profile?.beliefs(asked, call)) ?? [];
      });
      expect(distinct(rows.map(({ scope, key }) => [scope, key]))).toBe(count);
      expect(rows).toHaveLength(count);
    }
  });

  it.each(LIMITS)("give the episodes under a wide scope, all of one instant and one id: %i each", async (limit) => {
    const open = { key: undefined, since: undefined, until: undefined, asOf: undefined, filter: undefined };
    for (const narrow of [{}, { key: "k" }, { filter: { of: ["t"] } }]) {
      const rows = await walk<StoredRecord>(limit, async (last) => {
        const after = last && { validFrom: last.validFrom ?? 0, id: last.id, scope: last.scope };
        const asked = { ...open, ...narrow, scope: tenant, reach: "under", after, limit } as const;
        return (await driver.episodic?.page(asked, call)) ?? [];
      });
      expect(distinct(rows.map(({ scope }) => scope))).toBe(9);
      expect(rows).toHaveLength(9);
    }
  });

  it.each(LIMITS)("give the registrations under a wide scope: %i each", async (limit) => {
    const rows = await walk<Derivation>(limit, async (after) => {
      const asked = { scope: tenant, reach: "under", after, limit } as const;
      return (await driver.erasure?.derivations(asked, call)) ?? [];
    });
    expect(distinct(rows.map(({ scope }) => scope))).toBe(9);
    expect(rows).toHaveLength(9);
  });
});

function distinct(places: readonly unknown[]): number {
  return new Set(places.map((place) => JSON.stringify(place))).size;
}
