// Wrongs about what happened: idempotence, batches, bounds, filters, pages.

import type { EpisodePageRequest, MetadataFilter, StoredRecord } from "@memory/core/driver";
import { above, episodic, type Sabotage } from "./sabotage.ts";

const every = (request: EpisodePageRequest): EpisodePageRequest => ({
  ...request,
  filter: undefined,
  after: undefined,
  limit: 100_000,
});

// Filters in the wrong way, over everything.
const filtering = (matches: (record: StoredRecord, filter: MetadataFilter) => boolean) =>
  episodic((section) => ({
    async page(request, call) {
      const { filter } = request;
      if (filter === undefined || request.after !== undefined) return section.page(request, call);
      const found = await section.page(every(request), call);
      return found.filter((record) => matches(record, filter)).slice(0, request.limit);
    },
  }));

export const episodicSabotages: readonly Sabotage[] = [
  {
    name: "the same id with other content is dropped silently",
    fails: ["episodic/same-id-other-content-conflicts"],
    ...episodic((section) => ({
      async log(entries, call) {
        for (const entry of entries) await section.log([entry], call);
        return [];
      },
    })),
  },
  {
    name: "a batch with a conflict is half written",
    fails: ["episodic/log-all-is-atomic"],
    ...episodic((section) => ({
      async log(entries, call) {
        const differing: StoredRecord[] = [];
        for (const entry of entries) differing.push(...(await section.log([entry], call)));
        return differing;
      },
    })),
  },
  {
    name: "the same episode again is another one",
    fails: ["episodic/log-is-idempotent"],
    ...episodic((section) => {
      let count = 0;
      return {
        log(entries, call) {
          count += 1;
          return section.log(
            entries.map((one) => ({ ...one, record: { ...one.record, id: `${one.record.id}#${count}` } })),
            call,
          );
        },
      };
    }),
  },
  {
    name: "an id is taken once for all scopes",
    fails: ["record/ids-of-scopes-never-collide"],
    ...episodic((section) => {
      const taken = new Set<string>();
      return {
        log(entries, call) {
          const fresh = entries.filter(({ record }) => !taken.has(record.id));
          for (const { record } of fresh) taken.add(record.id);
          return section.log(fresh, call);
        },
      };
    }),
  },
  {
    name: "`since` is exclusive",
    fails: ["episodic/since-and-until-are-inclusive"],
    ...episodic((section) => ({
      page: (request, call) =>
        section.page({ ...request, since: request.since === undefined ? undefined : request.since + 1 }, call),
    })),
  },
  {
    name: "`until` is exclusive",
    fails: ["episodic/since-and-until-are-inclusive"],
    ...episodic((section) => ({
      page: (request, call) =>
        section.page({ ...request, until: request.until === undefined ? undefined : request.until - 1 }, call),
    })),
  },
  {
    name: "the oldest come first",
    fails: ["episodic/newest-first"],
    ...episodic((section) => ({
      async page(request, call) {
        return [...(await section.page({ ...request, limit: 1_000 }, call))].reverse().slice(0, request.limit);
      },
    })),
  },
  {
    name: "equal instants are in ascending order of their ids",
    fails: ["episodic/newest-first"],
    ...episodic((section) => ({
      async page(request, call) {
        const found = await section.page(request, call);
        return [...found].sort((a, b) => (b.validFrom ?? 0) - (a.validFrom ?? 0) || (a.id < b.id ? -1 : 1));
      },
    })),
  },
  {
    name: "a page goes on after the instant, not after the episode",
    fails: ["episodic/pages-give-every-record-once", "cursors/page-walks-each-row-once"],
    ...episodic((section) => ({
      page: (request, call) =>
        section.page(
          { ...request, after: request.after === undefined ? undefined : { ...request.after, id: "!" } },
          call,
        ),
    })),
  },
  {
    name: "a page goes on from an offset",
    fails: ["episodic/pages-hold-while-others-write", "cursors/page-goes-on-while-others-write"],
    ...episodic((section) => {
      const offsets = new Map<string, number>();
      return {
        async page(request, call) {
          const from = request.after === undefined ? 0 : (offsets.get(request.after.id) ?? 0);
          const all = await section.page({ ...request, after: undefined, limit: 100_000 }, call);
          const found = all.slice(from, from + request.limit);
          const last = found.at(-1);
          if (last !== undefined) offsets.set(last.id, from + found.length);
          return found;
        },
      };
    }),
  },
  {
    name: "the key is ignored",
    fails: ["episodic/by-key", "scope/episodic-key-is-exact"],
    noticedAs: "MEMORY_CORRUPTION",
    ...episodic((section) => ({ page: (request, call) => section.page({ ...request, key: undefined }, call) })),
  },
  {
    name: "what has lapsed is left out unasked",
    fails: ["episodic/validity-only-with-as-of"],
    ...episodic((section) => ({
      page: (request, call) => section.page({ ...request, asOf: request.asOf ?? call.now }, call),
    })),
  },
  {
    name: "`asOf` is ignored",
    fails: ["episodic/validity-only-with-as-of"],
    ...episodic((section) => ({ page: (request, call) => section.page({ ...request, asOf: undefined }, call) })),
  },
  {
    name: "one condition of a filter is enough",
    fails: ["episodic/filter-is-and-of-equal"],
    ...filtering((record, filter) =>
      Object.entries(filter).some(([name, wanted]) => wanted.some((one) => one === record.metadata?.[name])),
    ),
  },
  {
    name: "a filter compares as text",
    fails: ["episodic/filter-is-and-of-equal"],
    ...filtering((record, filter) =>
      Object.entries(filter).every(([name, wanted]) =>
        wanted.some((one) => String(one) === String(record.metadata?.[name])),
      ),
    ),
  },
  {
    name: "a filter takes the first of a list only",
    fails: ["episodic/filter-one-of"],
    ...filtering((record, filter) =>
      Object.entries(filter).every(([name, [first]]) => first === record.metadata?.[name]),
    ),
  },
  {
    name: "an empty list in a filter matches everything",
    fails: ["episodic/filter-one-of"],
    ...above((store) => ({
      episodes(scope, query, options) {
        const kept = Object.entries(query?.filter ?? {}).filter(([, one]) => !(Array.isArray(one) && one.length === 0));
        return store.episodes(scope, { ...query, filter: Object.fromEntries(kept) }, options);
      },
    })),
  },
];
