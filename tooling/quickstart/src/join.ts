// Two stores as one: what is worked with and found by resemblance stays in this process, what is believed and what happened
// is in PostgreSQL. What an erasure counts and takes is asked of both; derived artefacts are registered in PostgreSQL.

import type { MemoryStore } from "@memory/core";
import { driverOf, type ErasureSection, type ErasureTally, type MemoryDriver } from "@memory/core/driver";

/** A driver over the stores' own, which are gated and retried each by itself. It closes both. */
export function joined(here: MemoryStore, there: MemoryStore): MemoryDriver {
  const near = driverOf(here);
  const far = driverOf(there);
  const { working, semantic } = near;
  const { profile, episodic } = far;
  if (near.erasure === undefined || far.erasure === undefined) throw new TypeError("both must be able to erase");
  return {
    name: far.name,
    guarded: true,
    ...(working === undefined ? {} : { working }),
    ...(semantic === undefined ? {} : { semantic }),
    ...(profile === undefined ? {} : { profile }),
    ...(episodic === undefined ? {} : { episodic }),
    erasure: both(near.erasure, far.erasure),
    verify: async (request, call) => (await far.verify?.(request, call)) ?? [],
    isTransient: () => false,
    isExhausted: () => false,
    close: async () => {
      await Promise.all([near.close(), far.close()]);
    },
  };
}

function both(near: ErasureSection, far: ErasureSection): ErasureSection {
  return {
    ...far,
    narrowing: true,
    async count(target, call) {
      const mine = await near.count?.(target, call);
      const theirs = await far.count?.(target, call);
      const { artefacts = 0, sharedArtefacts = 0 } = theirs ?? {};
      return { counts: sum(mine?.counts ?? {}, theirs?.counts ?? {}), artefacts, sharedArtefacts };
    },
    async tombstone(target, call) {
      return sum(await near.tombstone(target, call), await far.tombstone(target, call));
    },
    async sweep(request, call) {
      const mine = await near.sweep(request, call);
      const theirs = await far.sweep(request, call);
      return sum(mine ?? {}, theirs ?? {});
    },
  };
}

// Each kind is in one of them only.
function sum(mine: ErasureTally, theirs: ErasureTally): ErasureTally {
  return { ...mine, ...theirs };
}
