// Wrongs about durable facts: windows, the two axes of time, lineages, races, repeats.

import type { ContradictionPolicy } from "@memory/core";
import type { KeyHeads, KeyVersions, ProfileSection, VersionRow } from "@memory/core/driver";
import { profile, type Sabotage } from "./sabotage.ts";

const rows = (state: KeyVersions | null, change: (row: VersionRow) => VersionRow): KeyVersions | null =>
  state === null ? null : { ...state, versions: state.versions.map(change) };
const open = (heads: KeyHeads, keep: (head: KeyHeads["open"][number]) => boolean): KeyHeads => ({
  ...heads,
  open: heads.open.filter(keep),
});
const policy = (contradictions: ContradictionPolicy): Pick<Sabotage, "options"> => ({
  options: (options) => ({ ...options, contradictions }),
});

export const profileSabotages: readonly Sabotage[] = [
  {
    name: "`validTo` still holds",
    fails: ["profile/window-is-half-open", "profile/empty-window-is-never-live"],
    ...profile((section) => ({
      async versions(request, call) {
        const later = (row: VersionRow): VersionRow => {
          const { validTo } = row.record;
          return { ...row, record: { ...row.record, validTo: validTo === undefined ? undefined : validTo + 1 } };
        };
        return rows(await section.versions(request, call), later);
      },
    })),
  },
  {
    name: "`validFrom` does not hold yet",
    fails: ["profile/window-is-half-open"],
    ...profile((section) => ({
      versions: (request, call) =>
        section.versions({ ...request, asOf: request.asOf === undefined ? undefined : request.asOf - 1 }, call),
    })),
  },
  {
    name: "`knownAt` is ignored",
    fails: ["profile/known-at-hides-what-was-not-known-yet", "profile/two-time-axes", "beliefs/known-at"],
    ...profile((section) => ({
      versions: (request, call) => section.versions({ ...request, knownAt: undefined }, call),
      beliefs: (request, call) => section.beliefs({ ...request, knownAt: undefined }, call),
    })),
  },
  {
    name: "`asOf` is ignored by pages of beliefs",
    fails: ["beliefs/as-of"],
    ...profile((section) => ({
      beliefs: (request, call) => section.beliefs({ ...request, asOf: undefined }, call),
    })),
  },
  {
    name: "`asOf` defaults to the store's clock alone",
    fails: ["profile/sees-what-was-acknowledged"],
    ...profile((section) => ({
      versions: (request, call) => section.versions({ ...request, asOf: request.asOf ?? call.now }, call),
    })),
  },
  {
    name: "the version that came last holds, whatever it is about",
    fails: ["profile/late-note-does-not-override", "profile/every-order-of-arrival-tells-one-story"],
    ...profile((section) => ({
      async versions(request, call) {
        const state = await section.versions(request, call);
        if (state === null) return null;
        const all = await section.history({ ...request, reach: "exact", after: undefined, limit: 1_000 }, call);
        const versions = state.versions.map(
          (row) =>
            all
              .filter((one) => one.lineage === row.lineage && (one.record.validFrom ?? 0) <= (request.asOf ?? call.now))
              .at(-1) ?? row,
        );
        return { ...state, versions };
      },
    })),
  },
  {
    name: "a decision does not end the other lineages",
    fails: ["profile/resolves-ends-the-other-lineage", "profile/settled-lineage-ends-for-good"],
    ...profile((section) => ({ commit: (plan, call) => section.commit({ ...plan, settles: [] }, call) })),
  },
  {
    name: "a lost race is written all the same",
    fails: ["profile/one-of-n-writers-wins"],
    ...profile((section) => ({
      async commit(plan, call) {
        if (await section.commit(plan, call)) return true;
        const heads = await section.heads(
          { ...plan, id: `${plan.record.id}-late`, at: undefined, before: undefined },
          call,
        );
        const record = { ...plan.record, id: `${plan.record.id}-late`, version: heads.version + 1 };
        return section.commit({ ...plan, base: heads.version, baseToken: heads.token, record }, call);
      },
    })),
  },
  {
    name: "a plan lands on whatever version has the number that it was made on",
    fails: ["profile/a-plan-ends-with-its-key"],
    ...profile((section) => ({
      async commit(plan, call) {
        const { token } = await section.heads({ ...plan, id: undefined, at: undefined, before: undefined }, call);
        return section.commit({ ...plan, baseToken: token }, call);
      },
    })),
  },
  {
    name: "`recordedAt` follows a clock that goes back",
    fails: ["profile/recorded-at-never-decreases"],
    ...profile((section) => ({
      heads: async (request, call) => ({ ...(await section.heads(request, call)), recordedAt: undefined }),
    })),
  },
  {
    name: "a lapsed lineage is closed",
    fails: ["profile/lapsed-lineage-is-open"],
    ...profile((section) => ({
      async heads(request, call) {
        const heads = await section.heads(request, call);
        return open(heads, ({ newest }) => (newest.record.validTo ?? Number.POSITIVE_INFINITY) > call.now);
      },
    })),
  },
  {
    name: "a lineage that begins in the future is not seen by a write",
    fails: ["profile/future-lineage-is-open"],
    ...profile((section) => ({
      async heads(request, call) {
        const heads = await section.heads(request, call);
        return open(heads, ({ newest }) => (newest.record.validFrom ?? 0) <= call.now);
      },
    })),
  },
  {
    name: "a lineage is judged by what holds, not by its newest version",
    fails: ["profile/judged-by-the-newest-version"],
    ...profile((section) => ({
      async heads(request, call) {
        const heads = await section.heads(request, call);
        return { ...heads, open: heads.open.map((head) => ({ ...head, newest: head.held ?? head.newest })) };
      },
    })),
  },
  {
    name: "an id that another key holds is renamed",
    fails: ["profile/id-held-by-another-key"],
    ...profile((section) => ({
      async heads(request, call) {
        const heads = await section.heads(request, call);
        return { ...heads, idKey: heads.idKey === undefined ? undefined : request.key };
      },
    })),
  },
  {
    name: "a repeat is a new version",
    fails: ["profile/repeat-answers-as-the-first-did", "profile/repeat-is-compared-after-masking"],
    ...profile((section) => ({
      async heads(request, call) {
        const heads = await section.heads(request, call);
        const renewed = (head: KeyHeads["open"][number]) => ({
          ...head,
          newest: { ...head.newest, record: { ...head.newest.record, confidence: 0.123 } },
        });
        return { ...heads, open: heads.open.map(renewed) };
      },
    })),
  },
  {
    name: "a history shows the newest versions only",
    fails: ["profile/nothing-is-overwritten", "portability/export-is-everything-under-the-scope"],
    ...profile((section) => ({ history: newestOnly(section) })),
  },
  {
    name: "a history is in the order of validity",
    fails: ["beliefs/history-is-by-key-and-version"],
    ...profile((section) => ({
      async history(request, call) {
        const found = await section.history(request, call);
        return [...found].sort((a, b) => (a.record.validFrom ?? 0) - (b.record.validFrom ?? 0));
      },
    })),
  },
  {
    name: "a history forgets that versions were followed",
    fails: ["profile/shows-the-smaller-valid-to"],
    ...profile((section) => ({
      async history(request, call) {
        const found = await section.history(request, call);
        return found.map((row) => ({ ...row, next: undefined }));
      },
    })),
  },
  {
    name: "beliefs leave out keys of which nothing holds",
    fails: ["beliefs/lists-what-holds-no-record"],
    ...profile((section) => ({
      async beliefs(request, call) {
        const found = await section.beliefs(request, call);
        return found.filter((state) =>
          state.versions.some(({ record }) => (record.validTo ?? Number.POSITIVE_INFINITY) > call.now),
        );
      },
    })),
  },
  {
    name: "beliefs take a key prefix without case",
    fails: ["beliefs/key-prefix-is-compared-exactly"],
    ...profile((section) => ({
      async beliefs(request, call) {
        const found = await section.beliefs({ ...request, keyPrefix: undefined }, call);
        const prefix = (request.keyPrefix ?? "").toLowerCase();
        return found.filter((state) => state.key.toLowerCase().startsWith(prefix));
      },
    })),
  },
  {
    name: "everything supersedes everything",
    fails: ["profile/other-subjects-branch", "profile/other-predicates-branch"],
    ...policy({ judge: () => "supersede" }),
  },
  {
    name: "everything branches",
    fails: ["profile/same-subject-and-predicates-supersede"],
    ...policy({ judge: () => "branch" }),
  },
  {
    name: "predicates are compared in their order",
    fails: ["profile/same-subject-and-predicates-supersede"],
    ...policy({
      judge: (incoming, newest) =>
        incoming.subject === newest.subject && JSON.stringify(incoming.predicate) === JSON.stringify(newest.predicate)
          ? "supersede"
          : "branch",
    }),
  },
  {
    name: "nothing decays",
    fails: [
      "profile/decay-never-deletes",
      "profile/decay-is-weighed-at-as-of",
      "profile/a-custom-decay-policy-is-asked",
    ],
    options: (options) => {
      const { decay: _decay, ...rest } = options;
      return rest;
    },
  },
  {
    name: "decay is weighed at the epoch",
    fails: ["profile/decay-is-weighed-at-as-of"],
    options: (options) => {
      const { decay } = options;
      return decay === undefined ? options : { ...options, decay: { weigh: (record) => decay.weigh(record, 0) } };
    },
  },
];

function newestOnly(section: ProfileSection): ProfileSection["history"] {
  return async (request, call) => {
    const found = await section.history(request, call);
    return found.filter((row) => row.next === undefined && row.end === undefined);
  };
}
