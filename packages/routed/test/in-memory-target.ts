// Three in-memory members, bound as one: what everything but the servers can be proven over, fast.

import type { MemoryKind, MemoryScope } from "@memory/core";
import { createMemoryStore, type DriverCall, type MemoryDriver, type StoredRecord } from "@memory/core/driver";
import { type InMemoryDriverOptions, type InMemorySection, inMemoryDriver } from "@memory/core/in-memory";
import type { ConformanceTarget, StoreOptions } from "@memory/testing";
import { RoutedMemoryStore } from "../src/index.ts";

/** The width of the vectors. */
const DIMENSIONS = 8;

const WITHOUT = {
  working: ["profile", "episodic", "semantic"],
  durable: ["working", "semantic"],
  semantic: ["working", "profile", "episodic"],
} as const satisfies Record<string, readonly InMemorySection[]>;

/** The drivers of three members: one of a kind each, and the durable one of two. */
export interface MemberDrivers {
  readonly working: MemoryDriver;
  readonly durable: MemoryDriver;
  readonly semantic: MemoryDriver;
}

/** Three fresh in-memory drivers, each of the kinds of its slot. */
export function memberDrivers(embeddingDimensions: number = DIMENSIONS): MemberDrivers {
  return {
    working: workingDriver(),
    durable: inMemoryDriver({ without: WITHOUT.durable }),
    semantic: inMemoryDriver({ embeddingDimensions, without: WITHOUT.semantic }),
  };
}

function workingDriver(options: InMemoryDriverOptions = {}): MemoryDriver {
  return inMemoryDriver({ ...options, without: WITHOUT.working });
}

/** Binds the drivers: what is each member's own goes to the members, what is the rules' to the store above them. */
export function bind(drivers: MemberDrivers, options: StoreOptions = {}): RoutedMemoryStore {
  const { ttlMs: _ttlMs, sliding: _sliding, maxElements: _maxElements, settings, clock, ...rules } = options;
  const own = { settings, clock };
  return new RoutedMemoryStore(
    {
      working: createMemoryStore(drivers.working, own),
      durable: createMemoryStore(drivers.durable, own),
      semantic: createMemoryStore(drivers.semantic, own),
    },
    rules,
  );
}

/** A target whose stores share three drivers, and a working one for each way to expire. */
export function routedTarget(embeddingDimensions: number = DIMENSIONS): ConformanceTarget {
  const shared = memberDrivers(embeddingDimensions);
  const working = new Map<string, MemoryDriver>();
  const driversFor = ({ ttlMs, sliding, maxElements }: StoreOptions): MemberDrivers => {
    const name = JSON.stringify([ttlMs, sliding, maxElements]);
    const own = working.get(name) ?? workingDriver({ ttlMs, sliding, maxElements });
    working.set(name, own);
    return { ...shared, working: own };
  };
  return {
    name: "routed over in-memory",
    open: (options) => bind(driversFor(options), options),
    elapse: () => undefined,
    async corrupt(scope, kind, key) {
      for (const own of working.values()) await damage({ ...shared, working: own }, scope, kind, key);
    },
  };
}

// The driver gives out the very records that it keeps.
async function damage(drivers: MemberDrivers, scope: MemoryScope, kind: MemoryKind, key: string): Promise<void> {
  const call: DriverCall = { now: Date.now(), attempt: 1, budgetMs: 0, signal: new AbortController().signal };
  const records: StoredRecord[] = [];
  if (kind === "working") {
    const entry = await drivers.working.working?.get({ scope, key, last: undefined }, call);
    if (entry != null) await drivers.working.working?.put({ head: entry.head, content: { value: "{" } }, call);
  } else if (kind === "profile") {
    const page = { scope, reach: "exact", key, after: undefined, limit: 1 } as const;
    records.push(...((await drivers.durable.profile?.history(page, call)) ?? []).map((row) => row.record));
  } else if (kind === "episodic") {
    const rest = { since: undefined, until: undefined, asOf: undefined, filter: undefined, after: undefined, limit: 1 };
    records.push(...((await drivers.durable.episodic?.page({ scope, reach: "exact", key, ...rest }, call)) ?? []));
  } else {
    const held = await drivers.semantic.semantic?.get({ scope, key }, call);
    if (held != null) await drivers.semantic.semantic?.index([{ ...held, value: "{" }], call);
  }
  for (const record of records) Object.assign(record, { value: "{" });
}
