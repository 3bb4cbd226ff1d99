// Where the options of the routed store come from: its own, then its members', who must not disagree.

import {
  type DerivedIndex,
  HalfLife,
  type MemoryEvent,
  type MemoryStoreOptions,
  PatternRedactor,
  SystemClock,
} from "@memory/core";
import { createMemoryStore, optionsOf } from "@memory/core/driver";
import { inMemoryDriver } from "@memory/core/in-memory";
import { describe, expect, it, test } from "vitest";
import { RoutedMemoryStore, type RoutedMemoryStoreOptions } from "./index.ts";
import type { Slot } from "./members.ts";

const scope = { tenantId: "acme" };
const index = (name: string): DerivedIndex => ({ name, purge: async () => undefined });

function bind(given: Partial<Record<Slot, MemoryStoreOptions>>, own?: RoutedMemoryStoreOptions): RoutedMemoryStore {
  const members = {
    working: createMemoryStore(inMemoryDriver({ without: ["profile", "episodic", "semantic"] }), given.working),
    durable: createMemoryStore(inMemoryDriver({ without: ["working", "semantic"] }), given.durable),
    semantic: createMemoryStore(inMemoryDriver({ without: ["working", "profile", "episodic"] }), given.semantic),
  };
  return new RoutedMemoryStore(members, own);
}

test.each<[keyof MemoryStoreOptions, Partial<Record<Slot, MemoryStoreOptions>>]>([
  ["redactor", { working: { redactor: null } }],
  ["redactor", { working: { redactor: new PatternRedactor() }, durable: { redactor: new PatternRedactor() } }],
  ["clock", { semantic: { clock: new SystemClock() } }],
  ["onEvent", { working: { onEvent: () => undefined }, durable: { onEvent: () => undefined } }],
])("members that disagree about %s are refused, unless the routed store is told", (setting, given) => {
  const disagrees = expect.objectContaining({ code: "MEMORY_SETTINGS", setting });
  expect(() => bind(given)).toThrow(disagrees);
  const own = { redactor: null, clock: new SystemClock(), onEvent: () => undefined };
  expect(optionsOf(bind(given, own))).toMatchObject(own);
});

describe("what the members were given holds where nothing is said", () => {
  it("for the redactor, in every kind", async () => {
    const redactor = { redact: (text: string) => text.replaceAll("tea", "[redacted]") };
    const store = bind({ working: { redactor }, durable: { redactor }, semantic: { redactor } });
    await store.append(scope, "k", "tea");
    await store.upsert(scope, { key: "k", value: "tea", source: "test" });
    expect((await store.read(scope, "k"))?.value).toEqual(["[redacted]"]);
    expect((await store.profile(scope, "k"))?.value).toBe("[redacted]");
  });

  it("for the observer that one of them was given: it hears of all kinds, once each", async () => {
    const events: MemoryEvent[] = [];
    const store = bind({ durable: { onEvent: (event) => events.push(event) } });
    await store.append(scope, "k", 1);
    await store.log(scope, { key: "k", value: 1, source: "test" });
    expect(events).toMatchObject([
      { store: "routed", kind: "working", operation: "append", outcome: "ok", attempts: 1 },
      { store: "routed", kind: "episodic", operation: "log", outcome: "ok", attempts: 1 },
    ]);
  });

  it("for policies, which are the durable member's", () => {
    const decay = new HalfLife({ halfLifeMs: 1_000, floor: 0 });
    expect(optionsOf(bind({ durable: { decay } })).decay).toBe(decay);
    expect(optionsOf(bind({ working: { decay } })).decay).toBeUndefined();
  });

  it("for derived indices, of all of them together", () => {
    const [a, b] = [index("a"), index("b")];
    const given = { working: { derivedIndices: [a, b] }, durable: { derivedIndices: [b] } };
    expect(optionsOf(bind(given)).derivedIndices).toEqual([a, b]);
    expect(optionsOf(bind(given, { derivedIndices: [] })).derivedIndices).toEqual([]);
    const taken = { working: { derivedIndices: [a] }, durable: { derivedIndices: [index("a")] } };
    expect(() => bind(taken)).toThrow(expect.objectContaining({ setting: "derivedIndices" }));
  });
});

describe("settings", () => {
  it("are each member's own and refused here", () => {
    const own: object = { settings: { maxAttempts: 1 } };
    expect(() => bind({}, own)).toThrow(expect.objectContaining({ code: "MEMORY_SETTINGS", setting: "settings" }));
  });

  it("above the members are as patient as the most patient of them", () => {
    const given = { working: { settings: { maxAttempts: 7 } }, durable: { settings: { attemptTimeoutMs: 9_000 } } };
    expect(optionsOf(bind(given)).settings).toMatchObject({ maxAttempts: 7, attemptTimeoutMs: 9_000, backoffMs: 50 });
  });
});

test.each(["contradictions", "decay", "derivedIndices", "clock", "onEvent", "entropy", "maxValueBytes"] as const)(
  "null is no %s, and stands for none of the members' either",
  (name) => {
    const none: object = { [name]: null };
    expect(() => bind({ durable: { decay: new HalfLife({ halfLifeMs: 1, floor: 0 }) } }, none)).toThrow(
      expect.objectContaining({ code: "MEMORY_SETTINGS", setting: name }),
    );
  },
);

test("what is undefined is absent, settings too", () => {
  const names = ["redactor", "clock", "onEvent", "contradictions", "decay", "entropy", "derivedIndices", "settings"];
  const absent: object = Object.fromEntries(names.map((name) => [name, undefined]));
  const decay = new HalfLife({ halfLifeMs: 1, floor: 0 });
  expect(optionsOf(bind({ durable: { decay } }, absent)).decay).toBe(decay);
});

test("an option that does not exist is refused, and so are options that are none", () => {
  const unknown: object = { redacter: null };
  expect(() => bind({}, unknown)).toThrow(expect.objectContaining({ setting: "redacter" }));
  const none: unknown = JSON.parse("null");
  expect(() => bind({}, none as RoutedMemoryStoreOptions)).toThrow(expect.objectContaining({ setting: "options" }));
});
