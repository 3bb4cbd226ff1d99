// What a worker can do: an operation of the protocol with arguments that a seed chose, as plain data, and what its answer
// says, as far as a history can be judged by it.

import type { CallOptions, MemoryCapability, MemoryRecord, MemoryRecordInput, MemoryStore } from "@memory/core";
import type { Dice } from "../dice.ts";
import type { Answer, CallArgs, Sight } from "../history.ts";
import { itemOf, keyOf, keyText, numberOf, payload, type World } from "../world.ts";

/** Who calls: a store, its world, and what this worker has seen so far. */
export interface Caller {
  readonly store: MemoryStore;
  readonly world: World;
  readonly dice: Dice;
  /** Lengths and versions that it was told last, by scope and key: what a caller would insist on. */
  readonly known: Map<string, number>;
  /** Episodes of its own that were acknowledged, the newest last. */
  readonly logged: { readonly scope: number; readonly item: string; readonly key: string }[];
}

/** One operation. */
export interface Operation {
  readonly name: string;
  /** Without it the store refuses. */
  readonly needs: MemoryCapability;
  /** How often it is chosen, beside the others. */
  readonly weight: number;
  /** How many calls into a driver it takes at most, each with a budget of its own. */
  readonly calls: number;
  /** Arguments for the call with this id; `undefined` where the caller has none for it yet. */
  draw(caller: Caller, id: string): CallArgs | undefined;
  perform(caller: Caller, id: string, args: CallArgs, options: CallOptions): Promise<Answer>;
}

/** Whether the caller's store can be asked for this. */
export function isOffered({ store }: Caller, { needs }: Operation): boolean {
  return store.capabilities[needs];
}

/** A scope, any of them. */
export function anyScope({ dice, world }: Caller): number {
  return dice.below(world.scopes.length);
}

/** A key of this letter, one of so many. */
export function anyKey({ dice }: Caller, letter: string, count: number): string {
  return `${letter}${dice.below(count)}`;
}

/** Where a caller remembers what it was told of a place. */
export function placeName(args: CallArgs): string {
  return `${args.scope} ${args.key}`;
}

/** The record that an item is, the same whenever it is written. */
export function recordOf(world: World, item: string, key: string): MemoryRecordInput {
  let hash = 0;
  for (const character of item) hash = (hash * 31 + (character.codePointAt(0) ?? 0)) % 9_973;
  return {
    id: `${world.canary}/${item}`,
    key: keyText(world, key),
    value: payload(world, item, hash % 10 === 0 ? 700 : 0),
    source: `${world.canary} turn`,
    metadata: { canary: world.canary, group: hash % 3 },
  };
}

/** Looks at records: what they hold, and what is wrong with them. */
export class Looking {
  readonly seen: Sight[] = [];
  readonly flaws: string[] = [];
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
  }

  /** Notes a record, which holds one item. */
  record(record: MemoryRecord, at?: number): string | undefined {
    const place = this.#place(record);
    return place === undefined ? undefined : this.#item(record.value, place, at);
  }

  /** Notes the record of a sequence, of which the last element has this position where it is known. */
  sequence(record: MemoryRecord, isWhole: boolean): void {
    const place = this.#place(record);
    if (place === undefined) return;
    if (!Array.isArray(record.value)) {
      this.flaws.push("a sequence is no array");
      return;
    }
    for (const [index, value] of record.value.entries()) this.#item(value, place, isWhole ? index + 1 : undefined);
  }

  /** Notes what is wrong. */
  expect(holds: boolean, flaw: string): void {
    if (!holds) this.flaws.push(flaw);
  }

  /** What was noted, as an answer. */
  answer(more: Answer = {}): Answer {
    return { seen: this.seen, ...more, ...(this.flaws.length === 0 ? {} : { flaws: this.flaws }) };
  }

  #place(record: MemoryRecord): { readonly scope: number; readonly key: string } | undefined {
    const scope = numberOf(this.#world, record.scope);
    const key = keyOf(this.#world, record.key);
    if (scope !== -1 && key !== undefined) return { scope, key };
    this.flaws.push("a record of a place that is not in this world");
    return undefined;
  }

  #item(value: unknown, place: { readonly scope: number; readonly key: string }, at?: number): string | undefined {
    const item = itemOf(this.#world, value);
    if (item === undefined) this.flaws.push("a value that no call wrote");
    else this.seen.push({ item, ...place, ...(at === undefined ? {} : { at }) });
    return item;
  }
}
