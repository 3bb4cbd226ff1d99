// The options of the routed store: its own, and where it names none, those that its members were given. Two rules must not
// both hold for one kind, so that members that disagree are refused until the routed store says which it is.

import { MemorySettingsError, type MemoryStoreOptions, type MemoryStoreSettings } from "@memory/core";
import { optionsOf } from "@memory/core/driver";
import { type Member, memberOf } from "./members.ts";

/**
 * What a routed store takes: what every store does but `settings`, which stay each member's own. What is left out comes
 * from the members: `redactor` and `clock` when all were given the same, `onEvent` when those that were given one were
 * given the same, `contradictions`, `decay` and `entropy` from the durable one, and the `derivedIndices` of all together.
 * The largest value is the least that a member takes, and no more than `maxValueBytes`.
 */
export type RoutedMemoryStoreOptions = Omit<MemoryStoreOptions, "settings">;

type Option = keyof RoutedMemoryStoreOptions;
type Pace = Pick<MemoryStoreSettings, "maxAttempts" | "attemptTimeoutMs" | "queueTimeoutMs" | "backoffMs">;

/** @throws {MemorySettingsError} The members disagree about an option that is not named, or `settings` are given. */
export function composeOptions(members: readonly Member[], own: RoutedMemoryStoreOptions): MemoryStoreOptions {
  if (typeof own !== "object" || own === null) {
    throw new MemorySettingsError("a store's options are not an object", { setting: "options" });
  }
  if (Reflect.get(own, "settings") !== undefined) {
    throw new MemorySettingsError("settings are each member's own; give them to the members", { setting: "settings" });
  }
  const given = members.map(({ store }) => optionsOf(store));
  const observed = given.filter(({ onEvent }) => onEvent !== undefined);
  const durable = optionsOf(memberOf(members, "durable").store);
  // Absent is `undefined`; what else an option must not be is told by the store.
  const chosen = <Name extends Option>(name: Name, otherwise: () => MemoryStoreOptions[Name]) =>
    own[name] === undefined ? otherwise() : own[name];
  return {
    ...own,
    redactor: chosen("redactor", () => agreed("redactor", given)),
    clock: chosen("clock", () => agreed("clock", given)),
    onEvent: chosen("onEvent", () => agreed("onEvent", observed)),
    contradictions: chosen("contradictions", () => durable.contradictions),
    decay: chosen("decay", () => durable.decay),
    entropy: chosen("entropy", () => durable.entropy),
    derivedIndices: chosen("derivedIndices", () => [...new Set(given.flatMap((one) => one.derivedIndices ?? []))]),
    settings: slowest(given),
  };
}

function agreed<Name extends Option>(name: Name, given: readonly MemoryStoreOptions[]): MemoryStoreOptions[Name] {
  const [first, ...rest] = given;
  if (rest.every((one) => one[name] === first?.[name])) return first?.[name];
  throw new MemorySettingsError(`the members disagree about the option ${name}: give the routed store the one to use`, {
    setting: name,
  });
}

// What is done above the members (purging, closing, planning again) waits no shorter than any of them would, and what a
// member remembers for repeats it remembers for as long as it repeats.
function slowest(given: readonly MemoryStoreOptions[]): Partial<Pace> {
  const most = (name: keyof Pace) => Math.max(...given.map(({ settings }) => settings?.[name] ?? 0));
  return {
    maxAttempts: most("maxAttempts"),
    attemptTimeoutMs: most("attemptTimeoutMs"),
    queueTimeoutMs: most("queueTimeoutMs"),
    backoffMs: most("backoffMs"),
  };
}
