// The driver: the sections of its members as one. The members' gates, retries and deadlines stay in front of each of them;
// every rule stands once, above all of them.

import type { DriverCall, DriverMember, ErasureSection, MemoryDriver, MemoryWarning } from "@memory/core/driver";
import { all } from "./failures.ts";
import { distinctMembers, type Member, memberOf, type RoutedMembers } from "./members.ts";

export type { RoutedMembers };

/**
 * A driver over the drivers of these stores, which stay reachable on their own; closing it closes them.
 *
 * @throws {MemorySettingsError} A kind is held by none of them or by two (all of these are named), or one is no store.
 */
export function routedDriver(members: RoutedMembers): MemoryDriver {
  return composeDriver(distinctMembers(members));
}

/** The driver over members that fit together. */
export function composeDriver(members: readonly Member[]): MemoryDriver {
  const durable = memberOf(members, "durable");
  const { working } = memberOf(members, "working").driver;
  const { profile, episodic } = durable.driver;
  const { semantic } = memberOf(members, "semantic").driver;
  const erasing = erasingMembers([...members.filter((one) => one !== durable), durable]);
  return {
    name: "routed",
    guarded: true,
    maxValueBytes: Math.min(...members.map(({ store }) => store.capabilities.maxValueBytes)),
    ...(working === undefined ? {} : { working }),
    ...(profile === undefined ? {} : { profile }),
    ...(episodic === undefined ? {} : { episodic }),
    ...(semantic === undefined ? {} : { semantic }),
    ...(erasing === undefined ? {} : { erasure: erasing.keeper, members: erasing.members }),
    verify: (_request, call) => verifyAll(members, call),
    // The members have judged their errors already.
    isTransient: () => false,
    isExhausted: () => false,
    close: async (deadlineMs) => {
      await all(members, ({ driver }) => driver.close(deadlineMs));
    },
  };
}

/** What an erasure reaches; `undefined` where one member cannot erase: then nobody may be told that all is gone. */
function erasingMembers(
  members: readonly Member[],
): { readonly keeper: ErasureSection; readonly members: readonly DriverMember[] } | undefined {
  const found = members.flatMap(({ name, driver: { erasure, members: inner } }): readonly DriverMember[] => {
    if (inner !== undefined) return inner;
    return erasure === undefined ? [] : [{ name, erasure }];
  });
  const last = found.at(-1);
  if (last === undefined || members.some(({ driver }) => driver.erasure === undefined)) return undefined;
  // Members with no transaction in common promise no narrowed erasure, and no exact forecast of it.
  const { narrowing: _, count: __, ...keeper } = last.erasure;
  return { keeper, members: found };
}

async function verifyAll(members: readonly Member[], call: DriverCall): Promise<readonly MemoryWarning[]> {
  const warnings = await all(members, async ({ driver }) => (await driver.verify?.(undefined, call)) ?? []);
  return warnings.flat();
}
