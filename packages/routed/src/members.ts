// Which store serves what: the slots, the kinds that each has to hold, and the refusal of a hole or an overlap, so that no
// kind is ever served by nobody, or by one store today and by another tomorrow.

import { type MemoryKind, MemorySettingsError, type MemoryStore } from "@memory/core";
import { driverOf, type MemoryDriver } from "@memory/core/driver";

/** The stores to bind. One that holds the kinds of several slots is given for each of them. */
export interface RoutedMembers {
  /** Holds `working`. */
  readonly working: MemoryStore;
  /** Holds `profile` and `episodic`, and keeps the registrations of derived artefacts of every kind. */
  readonly durable: MemoryStore;
  /** Holds `semantic`. */
  readonly semantic: MemoryStore;
}

/** The name of a slot. */
export type Slot = keyof RoutedMembers;

/** A store that is bound, once, however many slots it fills. */
export interface Member {
  readonly store: MemoryStore;
  readonly driver: MemoryDriver;
  readonly slots: readonly Slot[];
  /** Its adapter's name; `name:slot` where another member has the same. */
  readonly name: string;
}

const SLOTS: Readonly<Record<Slot, readonly MemoryKind[]>> = {
  working: ["working"],
  durable: ["profile", "episodic"],
  semantic: ["semantic"],
};
const NAMES: readonly Slot[] = ["working", "durable", "semantic"];

/** The distinct members, in the order of their first slots. @throws {MemorySettingsError} A hole, an overlap, no store. */
export function distinctMembers(members: RoutedMembers): readonly Member[] {
  if (typeof members !== "object" || members === null) {
    throw new MemorySettingsError("the members are no object of stores: { working, durable, semantic }", {
      setting: "members",
    });
  }
  const unknown = Object.keys(members).find((name) => !NAMES.some((slot) => slot === name));
  if (unknown !== undefined) {
    throw new MemorySettingsError("a member is bound under a name that is none of working, durable, semantic", {
      setting: unknown,
    });
  }
  const bound = NAMES.map((slot) => ({ slot, store: members[slot], driver: driverIn(members, slot) }));
  const byStore = Map.groupBy(bound, ({ store }) => store);
  const found = [...byStore.values()].flatMap((ones) => {
    const [first] = ones;
    return first === undefined ? [] : [{ ...first, slots: ones.map(({ slot }) => slot) }];
  });
  const named = found.map(({ store, driver, slots, slot }): Member => {
    const isAlone = found.every((other) => other.store === store || other.driver.name !== driver.name);
    return { store, driver, slots, name: isAlone ? driver.name : `${driver.name}:${slot}` };
  });
  refuseGaps(named);
  return named;
}

/** The member that fills a slot. */
export function memberOf(members: readonly Member[], slot: Slot): Member {
  const found = members.find(({ slots }) => slots.includes(slot));
  if (found === undefined) throw new MemorySettingsError("a slot is filled by no store", { setting: slot });
  return found;
}

function driverIn(members: RoutedMembers, slot: Slot): MemoryDriver {
  try {
    return driverOf(members[slot]);
  } catch (error) {
    if (!(error instanceof MemorySettingsError)) throw error;
    throw new MemorySettingsError(`${slot} is no store that createMemoryStore made`, { setting: slot });
  }
}

function refuseGaps(members: readonly Member[]): void {
  const problems: { readonly slot: Slot; readonly text: string }[] = [];
  for (const slot of NAMES) {
    for (const kind of SLOTS[slot]) {
      const own = memberOf(members, slot);
      if (own.driver[kind] === undefined) {
        problems.push({ slot, text: `${kind} is held by nobody: ${slot} (${own.driver.name}) does not hold it` });
      }
      const others = members.filter((other) => other !== own && other.driver[kind] !== undefined);
      for (const other of others) {
        const both = `${slot} (${own.driver.name}) and ${other.slots.join(", ")} (${other.driver.name})`;
        problems.push({ slot: other.slots[0] ?? slot, text: `${kind} is held by both ${both}` });
      }
    }
  }
  const [first] = problems;
  if (first === undefined) return;
  const texts = problems.map(({ text }) => text).join("; ");
  throw new MemorySettingsError(`the stores do not fit together: ${texts}`, { setting: first.slot });
}
