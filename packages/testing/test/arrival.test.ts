// The order in which facts arrive decides nothing about what is believed: late notes, corrections of the past and branches
// that are numbered otherwise come to the same beliefs at every instant.

import type { Belief, MemoryRecordInput, MemoryStore } from "@memory/core";
import { InMemoryMemoryStore } from "@memory/core/in-memory";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { FakeClock } from "../src/fake-clock.ts";
import { NaiveMemoryStore } from "../src/model/naive.ts";

const START = 1_000_000;
const scope = { tenantId: "acme", userId: "user1" };
const TIMEOUT_MS = 120_000;

// Facts about at most three things (a subject and its aspects), each fact of one thing from an instant of its own.
const facts = fc
  .uniqueArray(fc.integer({ min: -6, max: 6 }), { minLength: 1, maxLength: 7 })
  .chain((froms) =>
    fc.tuple(
      ...froms.map((from) =>
        fc.record({
          from: fc.constant(START + from * 10),
          lasts: fc.option(fc.integer({ min: 0, max: 8 }), { nil: undefined }),
          subject: fc.constantFrom("ann", "bob", undefined),
        }),
      ),
    ),
  )
  .map((list) =>
    list.map(
      (one, at): MemoryRecordInput => ({
        id: `fact${at}`,
        key: "k",
        value: at,
        source: "note",
        validFrom: one.from,
        ...(one.lasts === undefined ? {} : { validTo: one.from + one.lasts * 5 }),
        ...(one.subject === undefined ? {} : { subject: one.subject, predicate: ["p"] }),
      }),
    ),
  );
const arrivals = facts.chain((list) =>
  fc.tuple(fc.constant(list), fc.shuffledSubarray(list, { minLength: list.length, maxLength: list.length })),
);
const stores: readonly [string, (clock: FakeClock) => MemoryStore][] = [
  ["the in-memory store", (clock) => new InMemoryMemoryStore({ clock })],
  ["the naive model", (clock) => new NaiveMemoryStore({ clock })],
];

describe.each(stores)("%s", (_, open) => {
  it("believes the same at every instant, whatever order the facts arrived in", { timeout: TIMEOUT_MS }, async () => {
    await fc.assert(
      fc.asyncProperty(arrivals, fc.boolean(), async ([list, shuffled], moves) => {
        const first = await beliefsAfter(open, list, moves);
        const second = await beliefsAfter(open, shuffled, moves);
        expect(second).toEqual(first);
      }),
      { numRuns: 400 },
    );
  });

  it("believes the same of one lineage, whatever order its versions arrived in", { timeout: TIMEOUT_MS }, async () => {
    const upserts = fc.tuple(arrivals, fc.boolean());
    await fc.assert(
      fc.asyncProperty(upserts, async ([[list, shuffled], moves]) => {
        const first = await beliefsAfter(open, list, moves, "upsert");
        const second = await beliefsAfter(open, shuffled, moves, "upsert");
        expect(second).toEqual(first);
      }),
      { numRuns: 400 },
    );
  });

  it("shows of every version the same time, whatever order they arrived in", { timeout: TIMEOUT_MS }, async () => {
    await fc.assert(
      fc.asyncProperty(arrivals, async ([list, shuffled]) => {
        const windows = async (records: readonly MemoryRecordInput[]) => {
          const store = await written(open, records, false, "supersede");
          const versions = await store.history(scope, "k");
          const shown = versions.map(({ id, validFrom, validTo, supersededBy }) => ({
            id,
            validFrom,
            validTo,
            supersededBy,
          }));
          return shown.sort((a, b) => (a.id < b.id ? -1 : 1));
        };
        expect(await windows(shuffled)).toEqual(await windows(list));
      }),
      { numRuns: 200 },
    );
  });
});

async function written(
  open: (clock: FakeClock) => MemoryStore,
  records: readonly MemoryRecordInput[],
  moves: boolean,
  by: "supersede" | "upsert",
): Promise<MemoryStore> {
  const clock = new FakeClock(START);
  const store = open(clock);
  for (const record of records) {
    await store[by](scope, record);
    if (moves) clock.advance(3);
  }
  return store;
}

// At every instant at which something can begin or end, and between.
async function beliefsAfter(
  open: (clock: FakeClock) => MemoryStore,
  records: readonly MemoryRecordInput[],
  moves: boolean,
  by: "supersede" | "upsert" = "supersede",
): Promise<readonly unknown[]> {
  const store = await written(open, records, moves, by);
  const seen: unknown[] = [];
  for (let asOf = START - 65; asOf <= START + 105; asOf += 5) {
    seen.push({ asOf, ...told(await store.belief(scope, "k", { asOf })) });
  }
  return seen;
}

// What is believed, without the numbers of versions and lineages and the instants of recording, which are those of arrival.
function told({ record, weight, contradiction }: Belief): object {
  const plain = (one: {
    readonly id: string;
    readonly value: unknown;
    readonly validFrom?: number;
    readonly validTo?: number;
  }) => ({
    id: one.id,
    value: one.value,
    validFrom: one.validFrom,
    validTo: one.validTo,
  });
  return {
    record: record === null ? null : plain(record),
    weight,
    subject: contradiction?.subject,
    aspects: contradiction?.aspects,
    holds: contradiction?.holds.map(plain).sort((a, b) => (a.id < b.id ? -1 : 1)),
  };
}
