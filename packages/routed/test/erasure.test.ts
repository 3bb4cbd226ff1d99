// Erasure over three members that share no transaction: the order of its steps, members that fail at each of them, and a
// process that dies between any two.

import type { DerivedIndex, MemoryEvent, MemoryKind, MemoryScope } from "@memory/core";
import type { MemoryDriver } from "@memory/core/driver";
import { FakeClock, type FaultKind, faultyDriver } from "@memory/testing";
import { describe, expect, it, test } from "vitest";
import { FILLED, FILLED_RECORDS, fill, readable } from "./holdings.ts";
import { bind, type MemberDrivers, memberDrivers } from "./in-memory-target.ts";
import { mortal } from "./mortal.ts";

const ann: MemoryScope = { tenantId: "acme", userId: "ann" };
const bob: MemoryScope = { tenantId: "acme", userId: "bob" };
const KINDS: readonly MemoryKind[] = ["working", "profile", "episodic", "semantic"];
const SLOTS = ["working", "durable", "semantic"] as const;
type Slot = (typeof SLOTS)[number];

class NotedIndex implements DerivedIndex {
  readonly name = "summaries";
  readonly purged = new Set<string>();
  before: () => Promise<void> = async () => {};

  async purge(_scope: MemoryScope, artefactIds: readonly string[]): Promise<void> {
    await this.before();
    for (const id of artefactIds) this.purged.add(id);
  }
}

/** Fills two users, with an artefact of each kind's record for the first, and gives an index that notes. */
async function filled(drivers: MemberDrivers): Promise<NotedIndex> {
  const store = bind(drivers);
  for (const scope of [ann, bob]) await fill(store, scope);
  const sources = { working: "w", profile: "p2", episodic: "e", semantic: "v" } as const;
  for (const sourceKind of KINDS) {
    const own = { sourceKind, sourceId: sources[sourceKind], adapter: "summaries" };
    await store.derived(ann, { ...own, artefactId: `of-${sourceKind}` });
  }
  await store.derived(bob, { artefactId: "bobs", sourceKind: "profile", sourceId: "p2", adapter: "summaries" });
  return new NotedIndex();
}

const ARTEFACTS = KINDS.map((kind) => `of-${kind}`).toSorted();

test("everything is unreadable in every member before the first artefact is purged, and purged before rows go", async () => {
  const shared = memberDrivers();
  const index = await filled(shared);
  const { drivers, done } = mortal(shared, undefined);
  const seen: (readonly MemoryKind[])[] = [];
  index.before = async () => void seen.push(await readable(bind(shared), ann));
  const events: MemoryEvent[] = [];
  const store = bind(drivers, { derivedIndices: [index], onEvent: (event) => events.push(event) });
  const receipt = await store.erase(ann);
  expect(receipt).toMatchObject({
    counts: FILLED,
    records: FILLED_RECORDS,
    artefacts: 4,
    adapters: ["summaries"],
    outstanding: [],
    complete: true,
  });
  expect(seen).toEqual([[]]);
  expect([...index.purged].toSorted()).toEqual(ARTEFACTS);
  const steps = done.map((call) => call.split(".")[1]);
  expect(steps).toEqual([
    ...["tombstone", "tombstone", "tombstone", "condemned", "condemned", "condemned"],
    ...["forget", "sweep", "sweep", "sweep"],
  ]);
  // What is registered while others still hide is condemned with them: the keeper comes last.
  expect(done.indexOf("durable.tombstone")).toBe(2);
  expect(events.filter(({ name }) => name === "adk.memory.erased")).toMatchObject([
    { store: "routed", counts: FILLED, records: FILLED_RECORDS, artefacts: 4, complete: true },
  ]);
  expect(await readable(store, bob)).toEqual(KINDS);
  expect((await store.derivations({ tenantId: "acme" }, { reach: "under" })).derivations).toHaveLength(1);
});

test("what is registered for a record falls with it as long as the record can be read, however late its member hides it", async () => {
  const shared = memberDrivers();
  const index = await filled(shared);
  const { erasure } = shared.working;
  if (erasure === undefined) throw new Error("the section is missing");
  const asked = Promise.withResolvers<void>();
  const slow = Promise.withResolvers<void>();
  const tombstone: typeof erasure.tombstone = async (target, call) => {
    asked.resolve();
    await slow.promise;
    return await erasure.tombstone(target, call);
  };
  const store = bind(
    { ...shared, working: { ...shared.working, erasure: { ...erasure, tombstone } } },
    { derivedIndices: [index] },
  );
  const erased = store.erase(ann);
  await asked.promise;
  // The other member has hidden what it holds, and there was time for every step that waits for nobody.
  while ((await readable(store, ann)).includes("semantic")) await new Promise((resolve) => setImmediate(resolve));
  expect(await store.read(ann, "k")).toMatchObject({ id: "w" });
  await store.derived(ann, { artefactId: "late", sourceKind: "working", sourceId: "w", adapter: "summaries" });
  slow.resolve();
  expect(await erased).toMatchObject({ artefacts: 5, complete: true });
  expect(index.purged).toContain("late");
});

describe("a process that dies in an erasure", () => {
  const deaths = Array.from({ length: 10 }, (_, at) => at + 1).flatMap((at) =>
    (["before", "after"] as const).map((when) => ({ at, when })),
  );

  test.each(deaths)("$when its call $at: another one finishes it", async (death) => {
    const shared = memberDrivers();
    const index = await filled(shared);
    const { drivers, died, done } = mortal(shared, death);
    const dying = bind(drivers, { derivedIndices: [index] }).erase(ann);
    expect(await Promise.race([died.then(() => "died"), dying.then(() => "done")])).toBe("died");

    const store = bind(shared, { derivedIndices: [index] });
    // What hid had its effect; nothing is half hidden within a kind.
    const hidden = SLOTS.filter((slot) => done.includes(`${slot}.tombstone`));
    const left = await readable(store, ann);
    expect(left).toEqual(KINDS.filter((kind) => !hidden.includes(slotOf(kind))));
    // Written after the process died: the erasure that finishes takes it too, and counts it.
    await store.append(ann, "late", 1);
    const receipt = await store.erase(ann);
    expect(receipt).toMatchObject({ complete: true, outstanding: [] });
    // A sweep that was done answered for its member, to a process that could tell nobody.
    const untold = done.includes("working.sweep") ? 2 : 0;
    const untoldVectors = done.includes("semantic.sweep") ? 1 : 0;
    const untoldDurable = done.includes("durable.sweep") ? 5 : 0;
    expect(receipt.records).toBe(FILLED_RECORDS + 1 - untold - untoldVectors - untoldDurable);
    expect([...index.purged].toSorted()).toEqual(ARTEFACTS);
    expect(await readable(store, ann)).toEqual([]);
    expect(await store.erase(ann)).toMatchObject({ records: 0, artefacts: 0, complete: true });
    expect(await readable(store, bob)).toEqual(KINDS);
    expect((await store.derivations({ tenantId: "acme" }, { reach: "under" })).derivations).toHaveLength(1);
  });

  test("has ten calls to die in", async () => {
    const shared = memberDrivers();
    const index = await filled(shared);
    const { drivers, done } = mortal(shared, undefined);
    await bind(drivers, { derivedIndices: [index] }).erase(ann);
    expect(done).toHaveLength(10);
  });
});

describe("a member that fails", () => {
  const steps = ["tombstone", "condemned", "forget", "sweep"] as const;
  const faults: readonly FaultKind[] = ["refused", "request-lost", "reply-lost", "exhausted", "fatal"];
  const cases = SLOTS.flatMap((slot) =>
    steps
      .filter((step) => step !== "forget" || slot === "durable")
      .flatMap((step) => faults.map((fault) => ({ slot, step, fault }))),
  );

  test.each(cases)(
    "$slot at $step for good ($fault) is outstanding, the others are done",
    async ({ slot, step, fault }) => {
      const shared = memberDrivers();
      const index = await filled(shared);
      const { driver } = faultyDriver(shared[slot], [{ on: `erasure.${step}`, fault, times: 99 }]);
      const events: MemoryEvent[] = [];
      const impatient = { settings: { backoffMs: 0 }, derivedIndices: [index] };
      const store = bind({ ...shared, [slot]: driver }, { ...impatient, onEvent: (event) => events.push(event) });
      const name = `in-memory:${slot}`;
      const error: unknown = await store.erase(ann).catch((reason: unknown) => reason);
      expect(error).toMatchObject({
        code: "PARTIAL_ERASURE",
        adapter: name,
        receipt: { outstanding: [name], complete: false, completedAt: null },
      });
      expect(events.filter((event) => event.name === "adk.memory.erased")).toMatchObject([
        { outstanding: [name], complete: false },
      ]);

      const healthy = bind(shared, impatient);
      const isHidden = step !== "tombstone" || fault === "reply-lost";
      const others = KINDS.filter((kind) => slotOf(kind) !== slot);
      expect(await readable(healthy, ann)).toEqual(isHidden ? [] : KINDS.filter((kind) => !others.includes(kind)));
      const first = receiptOf(error);
      expect(first.counts).toEqual(pick(FILLED, others));
      const second = await healthy.erase(ann);
      // The notes go with the sweep, and with its answer what they said.
      const isUntold = step === "sweep" && fault === "reply-lost";
      const owed = FILLED_RECORDS - first.records;
      expect(second).toMatchObject({ records: isUntold ? 0 : owed, complete: true, outstanding: [] });
      const isForgotten = step === "forget" && fault === "reply-lost";
      expect(first.artefacts + second.artefacts).toBe(isForgotten ? 0 : 4);
      expect([...index.purged].toSorted()).toEqual(ARTEFACTS);
      expect(await healthy.erase(ann)).toMatchObject({ records: 0, artefacts: 0, complete: true });
      expect(await readable(healthy, bob)).toEqual(KINDS);
    },
  );

  test.each(cases.filter(({ fault }) => fault === "refused" || fault === "reply-lost" || fault === "request-lost"))(
    "$slot at $step once ($fault) is tried again, and nothing is counted twice or lost",
    async ({ slot, step, fault }) => {
      const shared = memberDrivers();
      const index = await filled(shared);
      const { driver } = faultyDriver(shared[slot], [{ on: `erasure.${step}`, fault }]);
      const store = bind({ ...shared, [slot]: driver }, { settings: { backoffMs: 0 }, derivedIndices: [index] });
      expect(await store.erase(ann)).toMatchObject({ counts: FILLED, artefacts: 4, complete: true, outstanding: [] });
    },
  );

  const stages = ["tombstone", "condemned", "sweep"] as const;
  const pairs = SLOTS.flatMap((first, at) =>
    SLOTS.slice(at + 1).flatMap((second) =>
      stages.flatMap((one) => stages.map((other) => ({ first, one, second, other }))),
    ),
  );

  test.each(pairs)(
    "$first at $one and $second at $other leaves the third done and both outstanding, each of which is finished and counted once",
    async ({ first, one, second, other }) => {
      const shared = memberDrivers();
      const index = await filled(shared);
      const failing = (slot: Slot, step: string) =>
        faultyDriver(shared[slot], [{ on: `erasure.${step}`, fault: "refused", times: 99 }]).driver;
      const impatient = { settings: { backoffMs: 0 }, derivedIndices: [index] };
      const both = bind({ ...shared, [first]: failing(first, one), [second]: failing(second, other) }, impatient);
      const error: unknown = await both.erase(ann).catch((reason: unknown) => reason);
      const outstanding = [`in-memory:${first}`, `in-memory:${second}`].toSorted();
      expect(error).toMatchObject({ code: "PARTIAL_ERASURE", adapter: outstanding[0], receipt: { outstanding } });
      const told = receiptOf(error);
      const third = KINDS.filter((kind) => slotOf(kind) !== first && slotOf(kind) !== second);
      expect(told.counts).toEqual(pick(FILLED, third));

      // One of them is back, then the other.
      const half = bind({ ...shared, [second]: failing(second, other) }, impatient);
      const later = receiptOf(await half.erase(ann).catch((reason: unknown) => reason));
      const last = await bind(shared, impatient).erase(ann);
      expect(last).toMatchObject({ complete: true, outstanding: [] });
      expect(told.records + later.records + last.records).toBe(FILLED_RECORDS);
      expect(told.artefacts + later.artefacts + last.artefacts).toBe(4);
      expect([...index.purged].toSorted()).toEqual(ARTEFACTS);
      expect(await readable(bind(shared), ann)).toEqual([]);
      expect(await readable(bind(shared), bob)).toEqual(KINDS);
    },
  );

  it("is outstanding beside an index that fails, in byte order; both are told", async () => {
    const shared = memberDrivers();
    const index = await filled(shared);
    index.before = () => Promise.reject(new Error("down"));
    const { driver } = faultyDriver(shared.semantic, [{ on: "erasure.sweep", fault: "fatal" }]);
    const store = bind({ ...shared, semantic: driver }, { derivedIndices: [index] });
    await expect(store.erase(ann)).rejects.toMatchObject({
      code: "PARTIAL_ERASURE",
      adapter: "in-memory:semantic",
      receipt: { outstanding: ["in-memory:semantic", "summaries"], artefacts: 0, adapters: ["summaries"] },
      cause: { code: "MEMORY_UNAVAILABLE" },
    });
    index.before = async () => {};
    expect(await store.erase(ann)).toMatchObject({ records: 1, artefacts: 4, complete: true });
  });

  it("with all others, so that nothing was hidden anywhere, is no partial erasure", async () => {
    const shared = memberDrivers();
    await filled(shared);
    const down = (driver: MemoryDriver) =>
      faultyDriver(driver, [{ on: "erasure.tombstone", fault: "fatal", times: 99 }]).driver;
    const store = bind({
      working: down(shared.working),
      durable: down(shared.durable),
      semantic: down(shared.semantic),
    });
    await expect(store.erase(ann)).rejects.toMatchObject({ code: "MEMORY_UNAVAILABLE", store: "in-memory" });
    expect(await readable(bind(shared), ann)).toEqual(KINDS);
  });

  it("by silence is given up after its own budget, and the others are done meanwhile", async () => {
    const shared = memberDrivers();
    const index = await filled(shared);
    const { driver, calls } = faultyDriver(shared.working, [{ on: "erasure.tombstone", fault: "silent", times: 99 }]);
    const clock = new FakeClock();
    const settings = { attemptTimeoutMs: 100, maxAttempts: 2, backoffMs: 0 };
    const store = bind({ ...shared, working: driver }, { clock, settings, derivedIndices: [index] });
    const erased = store.erase(ann).catch((reason: unknown) => reason);
    while (calls.length < 2) {
      clock.advance(100);
      await new Promise((resolve) => setImmediate(resolve));
    }
    // Those that do not wait for it are hidden already.
    expect(await readable(bind(shared), ann)).not.toContain("semantic");
    clock.advance(100);
    expect(await erased).toMatchObject({ code: "PARTIAL_ERASURE", adapter: "in-memory:working" });
    expect(calls).toEqual(["erasure.tombstone", "erasure.tombstone"]);
    expect(await readable(bind(shared), ann)).toEqual(["working"]);
  });
});

test("a caller who stops it hears the reason, and running it again finishes", async () => {
  const shared = memberDrivers();
  const index = await filled(shared);
  const controller = new AbortController();
  index.before = async () => {
    if (!controller.signal.aborted) controller.abort(new RangeError("stop"));
  };
  const store = bind(shared, { derivedIndices: [index] });
  await expect(store.erase(ann, { signal: controller.signal })).rejects.toThrow(RangeError);
  expect(await readable(store, ann)).toEqual([]);
  expect(await store.erase(ann)).toMatchObject({ records: FILLED_RECORDS, artefacts: 4, complete: true });
});

test("what a member registered on its own before it was bound is purged too", async () => {
  const shared = memberDrivers();
  const index = await filled(shared);
  const derivation = {
    scope: ann,
    artefactId: "own",
    sourceKind: "working",
    sourceId: "w",
    adapter: "summaries",
  } as const;
  const call = { now: 0, attempt: 1, budgetMs: 0, signal: new AbortController().signal };
  await shared.working.erasure?.register({ ...derivation, mixes: false }, call);
  expect(await bind(shared, { derivedIndices: [index] }).erase(ann)).toMatchObject({ artefacts: 5, complete: true });
  expect(index.purged).toContain("own");
});

function slotOf(kind: MemoryKind): Slot {
  return kind === "profile" || kind === "episodic" ? "durable" : kind;
}

function pick(counts: Readonly<Record<MemoryKind, number>>, kinds: readonly MemoryKind[]) {
  return Object.fromEntries(kinds.map((kind) => [kind, counts[kind]]));
}

function receiptOf(error: unknown): { readonly counts: object; readonly records: number; readonly artefacts: number } {
  if (!(error instanceof Error)) throw new Error("no receipt");
  return Reflect.get(error, "receipt");
}
