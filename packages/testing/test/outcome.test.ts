// What an operation of several steps says of itself when one of them fails: "nothing happened" only where nothing did.
// Each operation is run over a driver that fails at its first call, then at its second, and so on, and what it said is held
// against what is there.

import {
  exportScope,
  importRecords,
  isMemoryError,
  type MemoryEvent,
  type MemoryExport,
  type MemoryRecordInput,
  type MemoryScope,
  type MemoryStore,
} from "@memory/core";
import { createMemoryStore, driverOf, type MemoryDriver } from "@memory/core/driver";
import { inMemoryDriver } from "@memory/core/in-memory";
import { describe, expect, test } from "vitest";
import { FakeClock } from "../src/fake-clock.ts";
import { type Fault, type FaultKind, faultyDriver } from "../src/faulty-driver.ts";
import { DIMENSIONS } from "./in-memory-target.ts";

const scope: MemoryScope = { tenantId: "acme", userId: "anna" };
const ALWAYS = Number.POSITIVE_INFINITY;
const FAULTS: readonly FaultKind[] = ["refused", "request-lost", "reply-lost", "exhausted", "fatal"];

const fact = (value: string): MemoryRecordInput => ({ key: "fact", value, source: "test" });
const embedding = [1, 0, 0, 0, 0, 0, 0, 0];

/** Operations of more than one step, in a scope that {@link fill} has filled. */
const OPERATIONS: Readonly<Record<string, (store: MemoryStore) => Promise<unknown>>> = {
  erase: (store) => store.erase(scope),
  "erase of one kind": (store) => store.erase(scope, { kinds: ["episodic"] }),
  "supersede that branches": (store) => store.supersede(scope, fact("other")),
  "supersede that came late": (store) => store.supersede(scope, { ...fact("late"), subject: "s", validFrom: 5 }),
  "supersede whose id is taken": (store) => store.supersede(scope, { ...fact("renamed"), id: "f1" }),
  upsert: (store) => store.upsert(scope, { key: "single", value: 2, source: "test" }),
  logAll: (store) => store.logAll(scope, [episode("e1"), episode("e9")]),
  importRecords: (store) => importRecords(store, LINES),
};

const episode = (id: string): MemoryRecordInput => ({ id, key: "turn", value: id, source: "test", validFrom: 7 });

const LINES: readonly MemoryExport[] = [
  { record: imported({ id: "i1", kind: "working", key: "a" }) },
  { record: imported({ id: "i2", kind: "profile", key: "b", version: 1 }), lineage: 1 },
  { record: imported({ id: "i3", kind: "profile", key: "b", version: 2 }), lineage: 1 },
  { record: imported({ id: "i4", kind: "episodic", key: "c" }) },
  { record: imported({ id: "i5", kind: "semantic", key: "d", embedding }) },
];

function imported(
  details: Pick<MemoryExport["record"], "id" | "kind" | "key"> & Partial<MemoryExport["record"]>,
): MemoryExport["record"] {
  return { scope, value: details.id, source: "test", confidence: 1, validFrom: 1, recordedAt: 1, ...details };
}

async function fill(store: MemoryStore): Promise<void> {
  await store.write(scope, { key: "note", value: 1, source: "test" });
  await store.supersede(scope, { ...fact("one"), id: "f1", subject: "s", validFrom: 1 });
  await store.supersede(scope, { ...fact("two"), id: "f2", subject: "s", validFrom: 10 });
  await store.upsert(scope, { key: "single", value: 1, source: "test" });
  await store.log(scope, episode("e1"));
  await store.index(scope, { key: "known", value: 1, source: "test", embedding });
  for (const artefactId of ["x", "y"]) {
    await store.derived(scope, { artefactId, sourceKind: "episodic", sourceId: "e1", adapter: "index" });
  }
}

async function holdings(store: MemoryStore): Promise<unknown> {
  const lines: unknown[] = [];
  for await (const line of exportScope(store, { tenantId: scope.tenantId })) lines.push(line);
  return [lines, (await store.derivations(scope)).derivations];
}

function open(inner: MemoryDriver, plan: readonly Fault[]) {
  const clock = new FakeClock(1_700_000_000_000, { manual: true });
  const { driver, calls } = faultyDriver(inner, plan);
  const events: MemoryEvent[] = [];
  const store = createMemoryStore(driver, {
    clock,
    entropy: () => 0,
    derivedIndices: [{ name: "index", purge: async () => undefined }],
    onEvent: (event) => events.push(event),
  });
  return { store, calls, events, clock };
}

/** Runs the operation over a driver that fails from its `nth` call on. */
async function attempt(call: (store: MemoryStore) => Promise<unknown>, fault: FaultKind, nth: number) {
  const inner = inMemoryDriver({ embeddingDimensions: DIMENSIONS });
  const { store: healthy } = open(inner, []);
  await fill(healthy);
  const before = await holdings(healthy);
  const { store, calls, events, clock } = open(inner, [{ fault, nth, times: ALWAYS }]);
  const error: unknown = await clock.settle(call(store)).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  return { error, calls, events, before, after: await holdings(healthy) };
}

describe.each(Object.entries(OPERATIONS))("%s", (name, call) => {
  test.each(FAULTS)(
    "that is %s at any of its steps says that nothing happened only where nothing did",
    async (fault) => {
      let steps = 0;
      for (let nth = 1; ; nth += 1) {
        const { error, before, after } = await attempt(call, fault, nth);
        if (error === undefined) break;
        steps = nth;
        const isUnknown = isMemoryError(error, "MEMORY_UNAVAILABLE") && error.outcome === "unknown";
        const isNothing =
          isMemoryError(error, "POOL_EXHAUSTED") ||
          (isMemoryError(error, "MEMORY_UNAVAILABLE") && error.outcome === "not-applied");
        expect(isUnknown || isNothing, `step ${nth}`).toBe(true);
        if (isNothing) expect(after, `step ${nth}`).toEqual(before);
      }
      expect(steps).toBeGreaterThan(name === "logAll" ? 0 : 1);
    },
  );
});

describe("an erasure that fails after everything is hidden", () => {
  test.each([
    ["refused", "erasure.condemned"],
    ["exhausted", "erasure.condemned"],
    ["fatal", "erasure.condemned"],
    ["refused", "erasure.forget"],
    ["exhausted", "erasure.forget"],
    ["refused", "erasure.sweep"],
    ["exhausted", "erasure.sweep"],
  ] as const)("(%s at %s) says that its effect is unknown, counts all its attempts, and resumes", async (fault, on) => {
    const inner = inMemoryDriver({ embeddingDimensions: DIMENSIONS });
    await fill(open(inner, []).store);
    const { store, calls, events, clock } = open(inner, [{ on, fault, times: ALWAYS }]);
    const failed = clock.settle(store.erase(scope));
    await expect(failed).rejects.toMatchObject({ code: "MEMORY_UNAVAILABLE", store: "in-memory", outcome: "unknown" });
    await expect(failed).rejects.toMatchObject({ attempts: calls.length });
    expect(events).toMatchObject([{ operation: "erase", outcome: "MEMORY_UNAVAILABLE", attempts: calls.length }]);
    expect(await open(inner, []).store.read(scope, "note")).toBeNull();
    expect(await open(inner, []).store.erase(scope)).toMatchObject({ complete: true, records: 6 });
  });
});

test.each([
  ["refused", "request-lost"],
  ["request-lost", "refused"],
] as const)(
  "an erasure over two stores (%s, %s) that hid nothing for sure says that its effect is unknown",
  async (...faults) => {
    const clock = new FakeClock(1_700_000_000_000, { manual: true });
    const members = faults.map((fault) => {
      const plan = [{ on: "erasure.tombstone", fault, times: ALWAYS }];
      const { erasure } = driverOf(createMemoryStore(faultyDriver(inMemoryDriver(), plan).driver, { clock }));
      if (erasure === undefined) throw new Error("the section is missing");
      return { name: fault, erasure };
    });
    const store = createMemoryStore({ ...inMemoryDriver(), guarded: true, members }, { clock });
    await expect(clock.settle(store.erase(scope))).rejects.toMatchObject({
      code: "MEMORY_UNAVAILABLE",
      outcome: "unknown",
    });
  },
);

describe("what did nothing still says so", () => {
  test("an erasure whose first step is refused", async () => {
    const { error } = await attempt(OPERATIONS["erase"] ?? fill, "refused", 1);
    expect(error).toMatchObject({ code: "MEMORY_UNAVAILABLE", attempts: 3, outcome: "not-applied" });
  });

  test("a belief write that lost its race and is then refused", async () => {
    const inner = inMemoryDriver({ embeddingDimensions: DIMENSIONS });
    const { profile } = inner;
    if (profile === undefined) throw new Error("the section is missing");
    let races = 0;
    const losing = { ...inner, profile: { ...profile, commit: async () => ++races > 9 } };
    const { store, clock } = open(losing, [{ on: "profile.heads", fault: "exhausted", nth: 3, times: ALWAYS }]);
    await expect(clock.settle(store.upsert(scope, fact("one")))).rejects.toMatchObject({ code: "POOL_EXHAUSTED" });
    expect(races).toBe(2);
  });

  test("an import whose first line is refused", async () => {
    const { error } = await attempt(OPERATIONS["importRecords"] ?? fill, "exhausted", 1);
    expect(error).toMatchObject({ code: "POOL_EXHAUSTED" });
  });

  test("a caller's own reason is rejected with as it is", async () => {
    const controller = new AbortController();
    const reason = await attempt((store) => store.erase(scope), "exhausted", 1).then(({ error }) => error);
    const inner = inMemoryDriver({ embeddingDimensions: DIMENSIONS });
    await fill(open(inner, []).store);
    const { store } = open(inner, [{ on: "erasure.condemned", fault: "silent", times: ALWAYS }]);
    const erasing = store.erase(scope, { signal: controller.signal });
    await new Promise<void>((resolve) => setImmediate(resolve));
    controller.abort(reason);
    await expect(erasing).rejects.toBe(reason);
  });
});
