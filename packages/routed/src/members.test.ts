// What fits together and what does not, by name.

import type { MemoryStore } from "@memory/core";
import { createMemoryStore } from "@memory/core/driver";
import { InMemoryMemoryStore, type InMemorySection, inMemoryDriver } from "@memory/core/in-memory";
import { describe, expect, it, test } from "vitest";
import { RoutedMemoryStore } from "./index.ts";
import { distinctMembers, type RoutedMembers } from "./members.ts";

const KINDS: readonly InMemorySection[] = ["working", "profile", "episodic", "semantic"];
const holding = (...kinds: readonly InMemorySection[]): MemoryStore =>
  new InMemoryMemoryStore({ without: KINDS.filter((kind) => !kinds.includes(kind)) });
const named = (name: string, ...kinds: readonly InMemorySection[]): MemoryStore =>
  createMemoryStore({ ...inMemoryDriver({ without: KINDS.filter((kind) => !kinds.includes(kind)) }), name });
const working = () => named("redis", "working");
const durable = () => named("postgres", "profile", "episodic");
const semantic = () => named("pgvector", "semantic");

function untyped<T>(value: unknown): T {
  return value as T;
}

test.each<[string, RoutedMembers, string, readonly RegExp[]]>([
  [
    "a kind that nobody holds",
    { working: working(), durable: named("postgres", "profile"), semantic: semantic() },
    "durable",
    [/episodic is held by nobody: durable \(postgres\)/],
  ],
  [
    "a kind that two hold",
    { working: working(), durable: named("postgres", "profile", "episodic", "semantic"), semantic: semantic() },
    "durable",
    [/semantic is held by both semantic \(pgvector\) and durable \(postgres\)/],
  ],
  [
    "all that is wrong at once, where two stores are swapped",
    { working: durable(), durable: working(), semantic: semantic() },
    "working",
    [/working is held by nobody/, /working is held by both/, /profile is held by/, /episodic is held by/],
  ],
  [
    "two stores of all kinds",
    { working: new InMemoryMemoryStore(), durable: new InMemoryMemoryStore(), semantic: semantic() },
    "durable",
    [/working is held by both/, /profile is held by both/, /semantic is held by both/],
  ],
])("refuses %s, and names kinds and members", (_what, members, setting, texts) => {
  const error = thrown(() => new RoutedMemoryStore(members));
  expect(error).toMatchObject({ code: "MEMORY_SETTINGS", setting });
  for (const text of texts) expect(String(error)).toMatch(text);
});

test.each<[string, unknown, string]>([
  ["no object", null, "members"],
  ["a missing member", { working: working(), durable: durable() }, "semantic"],
  ["a member that is no store", { working: {}, durable: durable(), semantic: semantic() }, "working"],
  [
    "a member under another name",
    { working: working(), durable: durable(), semantic: semantic(), profil: durable() },
    "profil",
  ],
])("refuses %s", (_what, members, setting) => {
  expect(thrown(() => new RoutedMemoryStore(untyped(members)))).toMatchObject({ code: "MEMORY_SETTINGS", setting });
});

describe("members", () => {
  it("that are one store given twice are one member", () => {
    const both = holding("profile", "episodic", "semantic");
    const found = distinctMembers({ working: working(), durable: both, semantic: both });
    expect(found.map(({ name, slots }) => [name, slots])).toEqual([
      ["redis", ["working"]],
      ["in-memory", ["durable", "semantic"]],
    ]);
  });

  it("of one adapter are told apart by their slots", () => {
    const found = distinctMembers({
      working: holding("working"),
      durable: holding("profile", "episodic"),
      semantic: semantic(),
    });
    expect(found.map(({ name }) => name)).toEqual(["in-memory:working", "in-memory:durable", "pgvector"]);
  });
});

describe("capabilities", () => {
  const bound = (members: Partial<RoutedMembers> = {}) =>
    new RoutedMemoryStore({ working: working(), durable: durable(), semantic: semantic(), ...members });

  it("are the members' together, without a narrowed erasure", () => {
    const { capabilities, name } = bound();
    expect(name).toBe("routed");
    expect(capabilities).toEqual({
      ...new InMemoryMemoryStore().capabilities,
      erasureNarrowing: false,
    });
  });

  it("leave erasure out where one member cannot erase", async () => {
    const store = bound({
      semantic: new InMemoryMemoryStore({ without: ["working", "profile", "episodic", "erasure"] }),
    });
    expect(store.capabilities.erasure).toBe(false);
    await expect(store.erase({ tenantId: "acme" })).rejects.toMatchObject({
      code: "MEMORY_CAPABILITY",
      adapter: "routed",
      missing: ["erasure"],
    });
  });

  it("hold the largest value to what every member takes", () => {
    const small = new InMemoryMemoryStore({ without: ["profile", "episodic", "semantic"], maxValueBytes: 1_000 });
    expect(bound({ working: small }).capabilities.maxValueBytes).toBe(1_000);
    const members = { working: small, durable: durable(), semantic: semantic() };
    expect(new RoutedMemoryStore(members, { maxValueBytes: 500 }).capabilities.maxValueBytes).toBe(500);
    expect(new RoutedMemoryStore(members, { maxValueBytes: 2_000 }).capabilities.maxValueBytes).toBe(1_000);
  });

  it("refuse to narrow an erasure, whatever the members can", async () => {
    const scope = { tenantId: "acme" };
    for (const options of [{ kinds: ["working"] }, { keys: ["k"] }, { reach: "exact" }, { dryRun: true }] as const) {
      await expect(bound().erase(scope, options)).rejects.toMatchObject({ missing: ["erasureNarrowing"] });
    }
  });
});

test("a routed store is a store that can be bound again", async () => {
  const inner = new RoutedMemoryStore({ working: working(), durable: durable(), semantic: semantic() });
  const store = new RoutedMemoryStore({ working: inner, durable: inner, semantic: inner });
  const scope = { tenantId: "acme" };
  await store.append(scope, "k", 1);
  await store.upsert(scope, { key: "k", value: 1, source: "test" });
  expect(await store.erase(scope)).toMatchObject({ counts: { working: 1, profile: 1 }, complete: true });
  await store.close();
  await expect(inner.verify()).rejects.toMatchObject({ code: "MEMORY_UNAVAILABLE" });
});

function thrown(run: () => unknown): unknown {
  try {
    run();
  } catch (error) {
    return error;
  }
  throw new Error("nothing was thrown");
}
