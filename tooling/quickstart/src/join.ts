// Several stores as one: each kind of memory is in one of them. What an erasure counts and takes is asked of all; derived
// artefacts are registered in the store that is named first.

import type { MemoryStore } from "@memory/core";
import { driverOf, type ErasureSection, type ErasureTally, type MemoryDriver } from "@memory/core/driver";

/** A driver over the stores' own, which are gated and retried each by itself. It closes them. */
export function joined(keeper: MemoryStore, ...others: readonly MemoryStore[]): MemoryDriver {
  const drivers = [keeper, ...others].map(driverOf);
  const sections = drivers.map(({ erasure }) => {
    if (erasure === undefined) throw new TypeError("all of them must be able to erase");
    return erasure;
  });
  return {
    ...Object.assign({}, ...drivers.map(kindsOf)),
    name: driverOf(keeper).name,
    guarded: true,
    erasure: sections.reduce(both),
    verify: async (request, call) => {
      const warnings = await Promise.all(drivers.map((driver) => driver.verify?.(request, call) ?? []));
      return warnings.flat();
    },
    isTransient: () => false,
    isExhausted: () => false,
    close: async (deadlineMs) => {
      await Promise.all(drivers.map((driver) => driver.close(deadlineMs)));
    },
  };
}

function kindsOf({ working, profile, episodic, semantic }: MemoryDriver): Partial<MemoryDriver> {
  const all = { working, profile, episodic, semantic };
  return Object.fromEntries(Object.entries(all).filter(([, section]) => section !== undefined));
}

function both(keeper: ErasureSection, other: ErasureSection): ErasureSection {
  return {
    ...keeper,
    narrowing: true,
    async count(target, call) {
      const own = await keeper.count?.(target, call);
      const theirs = await other.count?.(target, call);
      const { artefacts = 0, sharedArtefacts = 0 } = own ?? {};
      return { counts: sum(own?.counts ?? {}, theirs?.counts ?? {}), artefacts, sharedArtefacts };
    },
    async tombstone(target, call) {
      const theirs = await other.tombstone(target, call);
      return sum(await keeper.tombstone(target, call), theirs);
    },
    async sweep(request, call) {
      const theirs = await other.sweep(request, call);
      return sum((await keeper.sweep(request, call)) ?? {}, theirs ?? {});
    },
  };
}

// Each kind is in one of them only.
function sum(own: ErasureTally, theirs: ErasureTally): ErasureTally {
  return { ...own, ...theirs };
}
