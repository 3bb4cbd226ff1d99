// A process that dies: from one call into its drivers on, counted over all of them, none is answered any more.

import type { MemoryDriver } from "@memory/core/driver";
import type { MemberDrivers } from "./in-memory-target.ts";

/** Where the process dies: at the call of this number (from 1), before or after it had its effect. */
export interface Death {
  readonly at: number;
  readonly when: "before" | "after";
}

/** Drivers of a process that dies. */
export interface MortalDrivers {
  readonly drivers: MemberDrivers;
  /** Resolves when the process has died. */
  readonly died: Promise<void>;
  /** The calls that had their effect, in order: `working.tombstone`. */
  readonly done: readonly string[];
}

/** Puts a process's life over drivers that outlive it. Only calls of erasures count. */
export function mortal(drivers: MemberDrivers, death: Death | undefined): MortalDrivers {
  const done: string[] = [];
  const { promise: died, resolve: die } = Promise.withResolvers<void>();
  let calls = 0;
  const wrap = (slot: string, driver: MemoryDriver): MemoryDriver => {
    const { erasure } = driver;
    if (erasure === undefined) return driver;
    const section = new Proxy(erasure, {
      get(target, name) {
        const member: unknown = Reflect.get(target, name, target);
        if (typeof member !== "function") return member;
        return async (...args: readonly unknown[]) => {
          calls += 1;
          const isFatal = calls === death?.at;
          const isDead = death !== undefined && (calls > death.at || (isFatal && death.when === "before"));
          if (!isDead) {
            const answer: unknown = await Reflect.apply(member, target, args);
            done.push(`${slot}.${String(name)}`);
            if (!isFatal) return answer;
          }
          die();
          return await new Promise(() => undefined);
        };
      },
    });
    return { ...driver, erasure: section };
  };
  return {
    drivers: {
      working: wrap("working", drivers.working),
      durable: wrap("durable", drivers.durable),
      semantic: wrap("semantic", drivers.semantic),
    },
    died,
    done,
  };
}
