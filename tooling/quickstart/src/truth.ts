// What has to be believed, told from the annotation alone: the facts after a turn, and the versions that each fact's
// history has to show. And the one way to ask a store for the same.

import { isDeepStrictEqual } from "node:util";
import { type EpochMs, type JsonValue, type MemoryScope, type MemoryStore, redact } from "@memory/core";
import type { Dialogue, Fact, Facts } from "./transcript.ts";

/** Facts in the one shape in which truth and beliefs are compared: by key, what is said of what. */
export type Said = Readonly<Record<string, readonly [subject: string, predicate: string, value: JsonValue]>>;

/** A version as the history of its key has to show it. */
export interface ExpectedVersion {
  readonly value: JsonValue;
  readonly validFrom: EpochMs;
  readonly validTo: EpochMs | undefined;
}

/** A period in which a fact held. */
export interface Change {
  readonly value: JsonValue;
  readonly from: EpochMs;
  readonly to: EpochMs | undefined;
}

/** What is annotated to hold after a turn (counted from 0); a turn without an annotation changes nothing. */
export function truthAt(dialogue: Dialogue, index: number): Said {
  const facts = dialogue.turns.slice(0, index + 1).findLast((turn) => turn.facts !== undefined)?.facts;
  return Object.fromEntries([...(facts ?? [])].map(([key, fact]) => [key, sayFact(fact)]));
}

/** What the store believes about a person, every page of it. */
export async function beliefsAt(
  store: MemoryStore,
  person: MemoryScope,
  options: { readonly asOf?: EpochMs; readonly knownAt?: EpochMs; readonly limit?: number } = {},
): Promise<Said> {
  const said: [string, Said[string]][] = [];
  let cursor: string | null | undefined;
  do {
    const page = await store.beliefs(person, { ...options, cursor: cursor ?? undefined });
    for (const { key, record, contradiction } of page.beliefs) {
      if (record !== null) said.push([key, [record.subject ?? "", (record.predicate ?? []).join(), record.value]]);
      if (contradiction !== null) said.push([key, ["", "a contradiction", contradiction.holds.length]]);
    }
    cursor = page.cursor;
  } while (cursor !== null);
  return Object.fromEntries(said);
}

/** The periods in which each key's fact held, in their order. */
export function changesOf(dialogue: Dialogue, instants: readonly EpochMs[]): ReadonlyMap<string, readonly Change[]> {
  const changes = new Map<string, Change[]>();
  let held: Facts = new Map();
  dialogue.turns.forEach(({ facts }, index) => {
    const at = instants[index] ?? 0;
    if (facts === undefined) return;
    for (const key of new Set([...held.keys(), ...facts.keys()])) {
      const [old, now] = [held.get(key), facts.get(key)];
      if (old !== undefined && now !== undefined && isDeepStrictEqual(old.value, now.value)) continue;
      const list = changes.get(key) ?? [];
      changes.set(key, list);
      const last = list.pop();
      if (last !== undefined) list.push(old === undefined ? last : { ...last, to: at });
      if (now !== undefined) list.push({ value: redact(now.value), from: at, to: undefined });
    }
    held = facts;
  });
  return changes;
}

/**
 * The versions that a history of these periods shows. A fact that went away was first stated without an end, and then
 * with one: the first statement is outranked, and shows an end at its own beginning.
 */
export function versionsOf(changes: readonly Change[]): readonly ExpectedVersion[] {
  return changes.flatMap(({ value, from, to }, index) => {
    const wasEnded = to !== undefined && changes[index + 1]?.from !== to;
    const stated = { value, validFrom: from, validTo: wasEnded ? from : to };
    return wasEnded ? [stated, { value, validFrom: from, validTo: to }] : [stated];
  });
}

function sayFact({ service, slot, value }: Fact): Said[string] {
  return [redact(service), redact(slot ?? "in use"), redact(value)];
}
