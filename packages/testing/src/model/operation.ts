// What a random sequence is made of: plain data, so that a failing one prints, shrinks and replays. Names are chosen to
// meet: prefixes of each other, separators, patterns, members that every object seems to have.

import type { JsonValue, MemoryCapabilities, MemoryKind, Scalar } from "@memory/core";
import fc from "fast-check";
import { untyped } from "../untyped.ts";
import { FAULTS } from "./fault.ts";

/** One step. Scopes and keys are numbers into the world's; instants are milliseconds after the sequence's start. */
export type Operation =
  | { readonly op: "advance"; readonly ms: number }
  | (Place & Content & { readonly op: "write" })
  | (Place & { readonly op: "append"; readonly value: JsonValue; readonly after?: number; readonly source?: string })
  | (Place & { readonly op: "expire"; readonly ttlMs: number })
  | (Place & { readonly op: "read"; readonly last?: number })
  | (Place & Content & Instants & { readonly op: "upsert" })
  | (Place &
      Content &
      Instants & { readonly op: "supersede"; readonly expects?: number | "newest"; readonly settles?: Settles })
  | (Place & Instants & { readonly op: "repeat"; readonly back: number })
  | (Place & Content & { readonly op: "log" })
  | { readonly op: "logAll"; readonly scope: number; readonly records: readonly (Content & { readonly key: number })[] }
  | (Query & { readonly op: "episodes" })
  | (Query & { readonly op: "turn"; readonly resume: boolean })
  | (Place & Content & { readonly op: "index"; readonly vector: readonly number[] })
  | {
      readonly op: "indexAll";
      readonly scope: number;
      readonly records: readonly (Content & { readonly key: number; readonly vector: readonly number[] })[];
    }
  | (Query & { readonly op: "search"; readonly vector: readonly number[]; readonly minScore?: number })
  | {
      readonly op: "erase";
      readonly scope: number;
      readonly kinds?: readonly MemoryKind[];
      readonly keys?: readonly number[];
      readonly reach?: Reach;
      readonly dryRun?: boolean;
      readonly broken: boolean;
    }
  | {
      readonly op: "derived";
      readonly scope: number;
      readonly artefact: number;
      readonly adapter: string;
      readonly sourceKind: MemoryKind;
      readonly source: number;
      readonly mixes?: boolean;
    }
  | (Place & { readonly op: "fault"; readonly fault: string });

/** Where a step works. */
export interface Place {
  readonly scope: number;
  readonly key: number;
}

/** A record's content; `id` is a number into a small pool, so that ids meet. */
export interface Content {
  readonly id: number;
  readonly value: JsonValue;
  readonly source?: string;
  readonly confidence?: number;
  readonly from?: number;
  readonly to?: number;
  readonly subject?: string;
  readonly predicate?: readonly string[];
  readonly metadata?: Readonly<Record<string, Scalar>>;
}

/** When a profile is looked at after a write. */
export interface Instants {
  readonly asOf: number;
  readonly knownAt: number;
}

/** Which records a write settles: of those that hold now, or by ids of the pool. */
export type Settles = { readonly holds: number } | { readonly ids: readonly number[] };

/** Exactly the scope, or all under it. */
export type Reach = "exact" | "under";

/** What a list is asked for. */
export interface Query {
  readonly scope: number;
  readonly key?: number;
  readonly since?: number;
  readonly until?: number;
  readonly asOf?: number;
  readonly filter?: Readonly<Record<string, Scalar | readonly Scalar[]>>;
  readonly reach?: Reach;
  readonly limit?: number;
}

/** A scope's parts; the tenant is a suffix to one that is new for every sequence. */
export interface WorldScope {
  readonly tenant: string;
  readonly userId?: string;
  readonly sessionId?: string;
  readonly agent?: string;
}

/** The few scopes and keys that a sequence is about, how its store expires keys, and its steps. */
export interface Sequence {
  readonly scopes: readonly WorldScope[];
  readonly keys: readonly string[];
  readonly expiry: "none" | "ttl" | "sliding";
  /** Whether its clock also goes back. Then nothing expires: what expiry means to a clock that goes back is not promised. */
  readonly backwards: boolean;
  readonly steps: readonly Operation[];
}

/** What a run is made of. */
export interface SequenceShape {
  readonly kinds: readonly MemoryKind[];
  readonly capabilities: MemoryCapabilities;
  /** The most steps. */
  readonly most: number;
}

const TENANTS = ["", "", "", "1", "10", ":b", "*", "%", "{}"];
const PARTS: readonly Omit<WorldScope, "tenant">[] = [
  {},
  { userId: "user1" },
  { userId: "user10" },
  { userId: "user1", sessionId: "s" },
  { userId: "user1", sessionId: "s", agent: "a" },
  { userId: "user1:s" },
  { sessionId: "s" },
  { sessionId: "user1" },
  { agent: "user1" },
  { userId: "a:b" },
  { userId: "a", sessionId: "b" },
  { userId: "a", agent: "b" },
  { userId: "*" },
  { userId: "user%" },
  { userId: "{}" },
  { userId: "__proto__" },
  { userId: "user1", sessionId: "__proto__" },
  { userId: "\u{1f98a}" },
  { userId: "\uffff" },
  { userId: "User1" },
  { userId: "user1 " },
];
const KEYS = [
  "k",
  "k1",
  "k10",
  "a:b",
  "a",
  "*",
  "k%",
  "k_",
  "{}",
  "\u{1f98a}",
  "\uffff",
  "__proto__",
  "constructor",
  "K",
  "k ",
];
const VALUES: readonly JsonValue[] = [
  null,
  0,
  -0,
  "",
  "x",
  [],
  ["a"],
  [1, [2], null],
  {},
  { a: 1, b: 2 },
  { b: 2, a: 1 },
  JSON.parse('{"__proto__":{"x":1},"":0}'),
  "\u0000\ud800",
  [9_007_199_254_740_991, 1e-308, 0.1],
  false,
];
const METADATA: readonly Readonly<Record<string, Scalar>>[] = [
  {},
  { a: 1 },
  { a: "1" },
  { a: true, b: "x" },
  { a: 1, b: "y" },
  JSON.parse('{"__proto__":"p"}'),
];
/** Conditions on metadata that some records meet and others nearly do. */
export const FILTERS: readonly Readonly<Record<string, Scalar | readonly Scalar[]>>[] = [
  {},
  { a: 1 },
  { a: ["1", true] },
  { a: [] },
  { a: 1, b: "y" },
  { toString: "x" },
  JSON.parse('{"__proto__":"p"}'),
];

/** Random sequences of steps over a random small world, for a store that can do what `shape.capabilities` says. */
export function sequences(shape: SequenceShape): fc.Arbitrary<Sequence> {
  const scope = fc.record(
    {
      tenant: fc.constantFrom(...TENANTS),
      parts: fc.constantFrom(...PARTS),
    },
    { noNullPrototype: true },
  );
  return fc.record(
    {
      scopes: fc
        .array(scope, { minLength: 3, maxLength: 5 })
        .map((list): readonly WorldScope[] => [
          { tenant: "" },
          ...list.map((one) => ({ tenant: one.tenant, ...one.parts })),
        ]),
      keys: fc.uniqueArray(fc.constantFrom(...KEYS), { minLength: 3, maxLength: 3 }),
      expiry: fc.constantFrom("none", "none", "ttl", "sliding"),
      backwards: fc.boolean(),
      steps: fc.array(step(shape), { minLength: 1, maxLength: shape.most, size: "max" }),
    },
    { noNullPrototype: true },
  );
}

function step({ kinds, capabilities }: SequenceShape): fc.Arbitrary<Operation> {
  const reach = capabilities.reach ? maybe(fc.constantFrom<Reach>("exact", "under")) : fc.constant(undefined);
  const filter = capabilities.filter ? maybe(fc.constantFrom(...FILTERS)) : fc.constant(undefined);
  const place = { scope: few(5), key: few(3) };
  const query = {
    scope: few(5),
    since: maybe(offset()),
    until: maybe(offset()),
    asOf: maybe(offset()),
    filter,
    reach,
    limit: maybe(fc.integer({ min: 1, max: 4 })),
  };
  const vector = fc
    .array(fc.integer({ min: -1, max: 1 }), { minLength: 4, maxLength: 4 })
    .map((components) => widen(components, capabilities.embeddingDimensions ?? 4));
  const weighted: fc.WeightedArbitrary<Operation>[] = [
    { weight: 3, arbitrary: steps({ op: fc.constant("advance"), ms: fc.constantFrom(1, 5, 10, 20, 40, -15) }) },
    {
      weight: 1,
      arbitrary: steps({ op: fc.constant("fault"), fault: fc.constantFrom(...faultsFor(kinds)), ...place }),
    },
  ];
  const add = (weight: number, arbitrary: fc.Arbitrary<Operation>) => weighted.push({ weight, arbitrary });
  if (kinds.includes("working")) {
    add(3, steps({ op: fc.constant("write"), ...place, ...content() }));
    add(
      5,
      steps({
        op: fc.constant("append"),
        ...place,
        value: fc.constantFrom(...VALUES),
        after: maybe(fc.nat(3)),
        source: maybe(fc.constantFrom("tool", "turn")),
      }),
    );
    add(2, steps({ op: fc.constant("expire"), ...place, ttlMs: fc.constantFrom(0, 5, 10, 30) }));
    add(2, steps({ op: fc.constant("read"), ...place, last: maybe(fc.integer({ min: 1, max: 3 })) }));
  }
  if (kinds.includes("profile")) {
    const write = { ...place, ...content(), asOf: offset(), knownAt: offset() };
    add(2, steps({ op: fc.constant("upsert"), ...write }));
    add(2, steps({ op: fc.constant("repeat"), ...place, back: few(4), asOf: offset(), knownAt: offset() }));
    if (capabilities.supersession) {
      const settles = fc.oneof(
        fc.record({ holds: fc.integer({ min: 1, max: 7 }) }, { noNullPrototype: true }),
        fc.record({ ids: fc.array(few(6), { minLength: 1, maxLength: 2 }) }, { noNullPrototype: true }),
      );
      const expects = fc.oneof(fc.nat(4), fc.constant<"newest">("newest"));
      add(8, steps({ op: fc.constant("supersede"), ...write, expects: rarely(expects), settles: rarely(settles) }));
    }
  }
  if (kinds.includes("episodic")) {
    add(5, steps({ op: fc.constant("log"), ...place, ...content() }));
    const records = fc.array(fc.record({ key: few(3), ...content() }, { noNullPrototype: true }).map(present), {
      maxLength: 4,
    });
    add(1, steps({ op: fc.constant("logAll"), scope: few(5), records }));
    add(2, steps({ op: fc.constant("episodes"), ...query, key: maybe(few(3)) }));
    add(3, steps({ op: fc.constant("turn"), ...query, key: maybe(few(3)), resume: fc.boolean() }));
  }
  if (kinds.includes("semantic")) {
    add(4, steps({ op: fc.constant("index"), ...place, ...content(), vector }));
    const records = fc.array(fc.record({ key: few(3), ...content(), vector }, { noNullPrototype: true }).map(present), {
      maxLength: 4,
    });
    add(1, steps({ op: fc.constant("indexAll"), scope: few(5), records }));
    const { since: _since, until: _until, ...semantic } = query;
    add(
      3,
      steps({ op: fc.constant("search"), ...semantic, vector, minScore: maybe(fc.constantFrom(0.3, 0.6, -0.2, -0.9)) }),
    );
  }
  if (capabilities.erasure) {
    const adapter = fc.constantFrom("alpha", "beta", "gamma", "alpha", "beta");
    const derived = {
      scope: fc.nat(4),
      artefact: few(2),
      adapter,
      sourceKind: fc.constantFrom(...kinds),
      source: few(6),
      mixes: maybe(fc.boolean()),
    };
    add(3, steps({ op: fc.constant("derived"), ...derived }));
    const narrow = <T>(arbitrary: fc.Arbitrary<T>) =>
      capabilities.erasureNarrowing ? maybe(arbitrary) : fc.constant(undefined);
    const erase = {
      scope: fc.nat(4),
      kinds: narrow(fc.subarray([...kinds], { minLength: 1 })),
      keys: narrow(fc.uniqueArray(few(3), { minLength: 1, maxLength: 2 })),
      reach: narrow(fc.constantFrom<Reach>("exact", "under")),
      dryRun: narrow(fc.boolean()),
      broken: fc.integer({ min: 0, max: 5 }).map((one) => one === 5),
    };
    add(1, steps({ op: fc.constant("erase"), ...erase }));
  }
  return fc.oneof(...weighted);
}

// What is `undefined` was not asked for: it is left out, so that a printed step shows what was meant.
function steps<T extends { readonly op: Operation["op"] }>(
  parts: { [Name in keyof T]: fc.Arbitrary<T[Name]> },
): fc.Arbitrary<Operation> {
  // The one place where the parts of a step become a step; their types were checked part by part where they stand.
  return fc.record(parts, { noNullPrototype: true }).map((one): Operation => untyped(present(one)));
}

function content(): { [Name in keyof Content]-?: fc.Arbitrary<Content[Name] | undefined> } & {
  id: fc.Arbitrary<number>;
  value: fc.Arbitrary<JsonValue>;
} {
  return {
    id: few(6),
    value: fc.constantFrom(...VALUES),
    source: rarely(fc.constantFrom("tool", "turn")),
    confidence: rarely(fc.constantFrom(0, 0.5, 1)),
    from: maybe(offset()),
    to: rarely(fc.constantFrom(0, 10, 20, 1_000)),
    subject: rarely(fc.constantFrom("ann", "bob", "")),
    predicate: rarely(fc.constantFrom([], ["p"], ["p", "q"], ["q", "p"], ["p", "p"])),
    metadata: rarely(fc.constantFrom(...METADATA)),
  };
}

function present<T extends object>(one: T): { [Name in keyof T]: Exclude<T[Name], undefined> } {
  return untyped(Object.fromEntries(Object.entries(one).filter(([, value]) => value !== undefined)));
}

function maybe<T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> {
  return fc.option(arbitrary, { nil: undefined, freq: 2 });
}

function rarely<T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> {
  return fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary });
}

// Small numbers, the smallest ones most often: things have to meet.
function few(most: number): fc.Arbitrary<number> {
  return fc.oneof({ weight: 2, arbitrary: fc.constant(0) }, { weight: 2, arbitrary: fc.nat(most - 1) });
}

function offset(): fc.Arbitrary<number> {
  return fc.integer({ min: -3, max: 9 }).map((tens) => tens * 10);
}

function widen(components: readonly number[], width: number): readonly number[] {
  const vector = Array.from({ length: width }, (_, at) => components[at] ?? 0);
  return vector.some((component) => component !== 0) ? vector : vector.map((_, at) => (at === 0 ? 1 : 0));
}

function faultsFor(kinds: readonly MemoryKind[]): readonly string[] {
  return Object.entries(FAULTS).flatMap(([name, fault]) => (kinds.includes(fault.kind) ? [name] : []));
}
