// A sabotage is one small wrong done to the reference store, from below (its driver), from above (the store that callers
// hold) or by an option, and the cases that must fail over it. A suite that lets one through proves less than it says.

import type { MemoryErrorCode, MemoryScope, MemoryStore } from "@memory/core";
import type {
  DriverCall,
  EpisodicSection,
  ErasureSection,
  MemoryDriver,
  ProfileSection,
  SemanticSection,
  StoredRecord,
  WorkingSection,
} from "@memory/core/driver";
import type { ConformanceTarget, StoreOptions } from "../../src/context.ts";
import { untyped } from "../../src/untyped.ts";
import { inMemoryTarget } from "../in-memory-target.ts";

/** One small wrong. */
export interface Sabotage {
  /** What is wrong, as a sentence. */
  readonly name: string;
  /** The ids of the cases that must fail. */
  readonly fails: readonly string[];
  /** Where core itself notices and the case meets its error instead of failing an assertion: that error's code. */
  readonly noticedAs?: MemoryErrorCode;
  readonly driver?: (driver: MemoryDriver) => MemoryDriver;
  readonly options?: (options: StoreOptions) => StoreOptions;
  readonly store?: (store: MemoryStore) => MemoryStore;
}

/** The in-memory target with that wrong in it. */
export function sabotaged({ driver, options, store }: Sabotage): ConformanceTarget {
  const target = inMemoryTarget({}, driver);
  return {
    ...target,
    async open(given) {
      const opened = await target.open(options?.(given) ?? given);
      return store?.(opened) ?? opened;
    },
  };
}

/** The driver with members of one section done otherwise. */
export function working(
  change: (section: WorkingSection) => Partial<WorkingSection>,
): Required<Pick<Sabotage, "driver">> {
  return {
    driver: (driver) =>
      driver.working ? { ...driver, working: { ...driver.working, ...change(driver.working) } } : driver,
  };
}
export function profile(
  change: (section: ProfileSection) => Partial<ProfileSection>,
): Required<Pick<Sabotage, "driver">> {
  return {
    driver: (driver) =>
      driver.profile ? { ...driver, profile: { ...driver.profile, ...change(driver.profile) } } : driver,
  };
}
export function episodic(
  change: (section: EpisodicSection) => Partial<EpisodicSection>,
): Required<Pick<Sabotage, "driver">> {
  return {
    driver: (driver) =>
      driver.episodic ? { ...driver, episodic: { ...driver.episodic, ...change(driver.episodic) } } : driver,
  };
}
export function semantic(
  change: (section: SemanticSection) => Partial<SemanticSection>,
): Required<Pick<Sabotage, "driver">> {
  return {
    driver: (driver) =>
      driver.semantic ? { ...driver, semantic: { ...driver.semantic, ...change(driver.semantic) } } : driver,
  };
}
export function erasure(
  change: (section: ErasureSection) => Partial<ErasureSection>,
): Required<Pick<Sabotage, "driver">> {
  return {
    driver: (driver) =>
      driver.erasure ? { ...driver, erasure: { ...driver.erasure, ...change(driver.erasure) } } : driver,
  };
}

/** The store with methods done otherwise. */
export function above(change: (store: MemoryStore) => Partial<MemoryStore>): Required<Pick<Sabotage, "store">> {
  return {
    store: (store) => {
      const changed = change(store);
      return new Proxy(store, {
        get(target, name) {
          if (Object.hasOwn(changed, name)) return Reflect.get(changed, name);
          const member: unknown = Reflect.get(target, name, target);
          return typeof member === "function" ? member.bind(target) : member;
        },
      });
    },
  };
}

/** Every method of every section, its request passed through `down` and its answer through `up`. */
export function everywhere(
  down: (request: unknown) => unknown,
  up: (answer: unknown, request: unknown) => unknown = (answer) => answer,
): Required<Pick<Sabotage, "driver">> {
  const around = <Section extends object>(section: Section): Section => {
    const members = Object.entries(section).map(([name, member]: [string, unknown]) => {
      if (typeof member !== "function") return [name, member];
      return [
        name,
        async (request: unknown, call: DriverCall) =>
          up(await Reflect.apply(member, section, [down(request), call]), request),
      ];
    });
    return untyped(Object.fromEntries(members));
  };
  return {
    driver: (driver) => ({
      ...driver,
      ...(driver.working ? { working: around(driver.working) } : {}),
      ...(driver.profile ? { profile: around(driver.profile) } : {}),
      ...(driver.episodic ? { episodic: around(driver.episodic) } : {}),
      ...(driver.semantic ? { semantic: around(driver.semantic) } : {}),
      ...(driver.erasure ? { erasure: around(driver.erasure) } : {}),
    }),
  };
}

/** Changes every scope on the way down, and lets what comes up bear the scope that was asked for. */
export function scopes(change: (scope: MemoryScope) => MemoryScope): Required<Pick<Sabotage, "driver">> {
  return everywhere(
    (request) => mapScopes(request, change),
    (answer, request) => {
      const asked: unknown =
        typeof request === "object" && request !== null ? Reflect.get(request, "scope") : undefined;
      return asked === undefined ? answer : mapScopes(answer, () => untyped(asked));
    },
  );
}

/** Every record on its way down, changed. */
export function stored(change: (record: StoredRecord) => StoredRecord): Required<Pick<Sabotage, "driver">> {
  return {
    driver: (driver) => ({
      ...driver,
      ...working((section) => ({
        put: ({ head, content }, call) =>
          content.value === undefined
            ? section.put({ head, content }, call)
            : section.put({ head, content: { value: change({ ...head, value: content.value }).value } }, call),
      })).driver(driver),
      ...profile((section) => ({
        commit: (plan, call) => section.commit({ ...plan, record: change(plan.record) }, call),
      })).driver(untyped({ profile: driver.profile })),
      ...episodic((section) => ({
        log: (entries, call) =>
          section.log(
            entries.map((one) => ({ ...one, record: change(one.record) })),
            call,
          ),
      })).driver(untyped({ episodic: driver.episodic })),
      ...semantic((section) => ({ index: (records, call) => section.index(records.map(change), call) })).driver(
        untyped({ semantic: driver.semantic }),
      ),
    }),
  };
}

/** Lets others run in between. */
export function turns(count = 3): Promise<void> {
  return count === 0 ? Promise.resolve() : Promise.resolve().then(() => turns(count - 1));
}

function mapScopes(data: unknown, change: (scope: MemoryScope) => MemoryScope): unknown {
  if (Array.isArray(data)) return data.map((one) => mapScopes(one, change));
  if (typeof data !== "object" || data === null) return data;
  const entries = Object.entries(data).map(([name, one]: [string, unknown]) => [
    name,
    name === "scope" ? change(untyped(one)) : name === "metadata" ? one : mapScopes(one, change),
  ]);
  return Object.fromEntries(entries);
}
