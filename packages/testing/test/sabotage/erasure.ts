// Wrongs about forgetting: too little, too much, counted wrongly, and artefacts that outlive their sources.

import type { ErasureTally } from "@memory/core/driver";
import { erasure, type Sabotage } from "./sabotage.ts";

export const erasureSabotages: readonly Sabotage[] = [
  {
    name: "profiles are left where all is erased",
    fails: ["erasure/everything-of-the-scope-is-gone"],
    ...erasure((section) => ({
      tombstone: (target, call) =>
        section.tombstone({ ...target, kinds: target.kinds ?? ["working", "episodic", "semantic"] }, call),
    })),
  },
  {
    name: "the working kind is left where all is erased",
    fails: ["erasure/everything-of-the-scope-is-gone"],
    ...erasure((section) => ({
      tombstone: (target, call) =>
        section.tombstone({ ...target, kinds: target.kinds ?? ["profile", "episodic", "semantic"] }, call),
    })),
  },
  {
    name: "one record too few is counted",
    fails: ["erasure/counts-lineages-and-lapsed-versions"],
    ...erasure((section) => ({
      async sweep(request, call) {
        const tally = await section.sweep(request, call);
        return tally === null || tally.profile === undefined
          ? tally
          : { ...tally, profile: Math.max(0, tally.profile - 1) };
      },
    })),
  },
  {
    name: "a second run counts what the first erased",
    fails: ["erasure/second-run-reports-zero"],
    ...erasure((section) => {
      const before = new Map<string, ErasureTally>();
      return {
        async sweep(request, call) {
          const tally = await section.sweep(request, call);
          const name = JSON.stringify(request.scope);
          if (tally === null) return tally;
          if (Object.values(tally).some((count) => count > 0)) before.set(name, tally);
          return before.get(name) ?? tally;
        },
      };
    }),
  },
  {
    name: "a dry run erases",
    fails: ["erasure/dry-run"],
    ...erasure((section) => {
      const { count } = section;
      if (count === undefined) return {};
      return {
        async count(target, call) {
          const forecast = await count(target, call);
          await section.tombstone(target, call);
          return forecast;
        },
      };
    }),
  },
  {
    name: "a dry run counts nothing",
    fails: ["erasure/dry-run"],
    ...erasure(() => ({ count: async () => ({ counts: {}, artefacts: 0, sharedArtefacts: 0 }) })),
  },
  {
    name: "the exact scope reaches under",
    fails: ["erasure/only-the-scope-itself"],
    ...erasure((section) => ({ tombstone: (target, call) => section.tombstone({ ...target, reach: "under" }, call) })),
  },
  {
    name: "an erasure stays in the scope itself",
    fails: ["erasure/under-and-no-further"],
    ...erasure((section) => ({ tombstone: (target, call) => section.tombstone({ ...target, reach: "exact" }, call) })),
  },
  {
    name: "a user's erasure takes the tenant",
    fails: ["erasure/under-and-no-further"],
    ...erasure((section) => ({
      tombstone: (target, call) => section.tombstone({ ...target, scope: { tenantId: target.scope.tenantId } }, call),
    })),
  },
  {
    name: "an erasure of some keys takes all",
    fails: ["erasure/only-some-keys"],
    ...erasure((section) => ({ tombstone: (target, call) => section.tombstone({ ...target, keys: undefined }, call) })),
  },
  {
    name: "an erasure of some kinds takes all",
    fails: ["erasure/only-some-kinds"],
    ...erasure((section) => ({
      tombstone: (target, call) => section.tombstone({ ...target, kinds: undefined }, call),
    })),
  },
  {
    name: "an erasure settles before it has begun",
    fails: ["erasure/settled-writes-are-gone", "erasure/keyed-reads-find-nothing"],
    ...erasure((section) => ({
      async tombstone() {
        return {};
      },
      condemned: (request, call) => section.condemned(request, call),
    })),
  },
  {
    name: "derived artefacts stay",
    fails: ["derivations/purged-with-the-scope"],
    ...erasure(() => ({ condemned: async () => [] })),
  },
  {
    name: "a shared artefact is purged",
    fails: ["derivations/shared-is-kept"],
    ...erasure((section) => ({
      async condemned(request, call) {
        const found = await section.condemned(request, call);
        return found.map((one) => ({ ...one, shared: false }));
      },
    })),
  },
  {
    name: "that an artefact mixes is forgotten",
    fails: ["derivations/mixing-is-not-kept"],
    ...erasure((section) => ({
      register: (derivation, call) => section.register({ ...derivation, mixes: false }, call),
    })),
  },
  {
    name: "what could not be purged is forgotten",
    fails: ["derivations/resumes-and-counts-once"],
    ...erasure((section) => ({
      async sweep(request, call) {
        const left = await section.condemned({ ...request, after: undefined, limit: 1_000 }, call);
        await section.forget(
          left.map((one) => one.derivation),
          call,
        );
        return section.sweep(request, call);
      },
    })),
  },
  {
    name: "what was purged is not forgotten",
    fails: ["derivations/second-run-purges-nothing"],
    ...erasure(() => ({ forget: async () => undefined })),
  },
  {
    name: "a registration again is another one",
    fails: ["derivations/registering-again-replaces"],
    ...erasure((section) => {
      const seen = new Set<string>();
      return {
        async register(derivation, call) {
          const { mixes: _mixes, ...place } = derivation;
          const name = JSON.stringify(place);
          if (seen.has(name)) return;
          seen.add(name);
          await section.register(derivation, call);
        },
      };
    }),
  },
  {
    name: "a page of derivations is of one",
    fails: ["derivations/pages", "cursors/derivations-walks-each-row-once"],
    ...erasure((section) => ({
      async derivations(request, call) {
        const found = await section.derivations(request, call);
        return request.after === undefined ? found : found.slice(1);
      },
    })),
  },
];
