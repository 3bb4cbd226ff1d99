// Wrongs about resemblance: what is replaced, what is ranked, and how many come back.

import type { NearestRow } from "@memory/core/driver";
import { type Sabotage, semantic } from "./sabotage.ts";

const nearest = (change: (rows: readonly NearestRow[]) => readonly NearestRow[]) =>
  semantic((section) => ({
    async nearest(request, call) {
      return change(await section.nearest({ ...request, limit: 1_000 }, call)).slice(0, request.limit);
    },
  }));

export const semanticSabotages: readonly Sabotage[] = [
  {
    name: "a record that is there is not replaced",
    fails: ["semantic/index-replaces-by-key"],
    ...semantic((section) => ({
      async index(records, call) {
        for (const record of records)
          if ((await section.get(record, call)) === null) await section.index([record], call);
      },
    })),
  },
  {
    name: "the value is replaced without its vector",
    fails: ["semantic/index-replaces-by-key", "semantic/sees-what-was-written-last"],
    ...semantic((section) => ({
      async index(records, call) {
        for (const record of records) {
          const there = await section.get(record, call);
          await section.index([{ ...record, embedding: there?.embedding ?? record.embedding }], call);
        }
      },
    })),
  },
  {
    name: "a recall gives no vector",
    fails: ["semantic/index-and-recall"],
    noticedAs: "MEMORY_CORRUPTION",
    ...semantic((section) => ({
      async get(request, call) {
        const record = await section.get(request, call);
        return record === null ? null : { ...record, embedding: undefined };
      },
    })),
  },
  {
    name: "the score is the distance",
    fails: ["semantic/score-is-one-minus-distance"],
    ...nearest((rows) => rows.map((row) => ({ ...row, score: 1 - row.score }))),
  },
  { name: "the farthest come first", fails: ["semantic/closest-first"], ...nearest((rows) => [...rows].reverse()) },
  {
    name: "ties are in no order",
    fails: ["semantic/ties-by-key"],
    ...nearest((rows) =>
      [...rows]
        .sort((a, b) => b.score - a.score || (a.record.id < b.record.id ? 1 : -1))
        .sort((a, b) => b.score - a.score || (a.record.key < b.record.key ? 1 : -1)),
    ),
  },
  {
    name: "the filter is applied to what the limit left",
    fails: ["semantic/fills-the-limit-under-a-filter"],
    ...semantic((section) => ({
      async nearest(request, call) {
        const rows = await section.nearest({ ...request, filter: undefined }, call);
        const wanted = Object.entries(request.filter ?? {});
        return rows.filter(({ record }) =>
          wanted.every(([name, list]) => list.some((one) => one === record.metadata?.[name])),
        );
      },
    })),
  },
  {
    name: "the scope is applied to what the limit left",
    fails: ["semantic/fills-the-limit-in-a-crowd", "semantic/fills-the-limit-under-a-user"],
    ...semantic((section) => ({
      async nearest(request, call) {
        const { tenantId } = request.scope;
        const rows = await section.nearest({ ...request, scope: { tenantId }, reach: "under" }, call);
        const names = ["userId", "sessionId", "agent"] as const;
        return rows.filter(({ record }) =>
          names.every(
            (name) =>
              record.scope[name] === request.scope[name] ||
              (request.reach === "under" && request.scope[name] === undefined),
          ),
        );
      },
    })),
  },
  {
    name: "the window is applied to what the limit left",
    fails: ["semantic/as-of"],
    ...semantic((section) => ({
      async nearest(request, call) {
        const all = await section.nearest({ ...request, limit: 1_000 }, call);
        const later = await section.nearest({ ...request, asOf: request.asOf + 1e9 }, call);
        return later.filter((row) => all.some((one) => one.record.id === row.record.id));
      },
    })),
  },
  {
    name: "a search is as of now, always",
    fails: ["semantic/as-of"],
    ...semantic((section) => ({ nearest: (request, call) => section.nearest({ ...request, asOf: call.now }, call) })),
  },
  {
    name: "`minScore` is ignored",
    fails: ["semantic/min-score"],
    ...semantic((section) => ({
      nearest: (request, call) => section.nearest({ ...request, minScore: undefined }, call),
    })),
  },
  {
    name: "a score has to be greater than `minScore`",
    fails: ["semantic/min-score-takes-a-hits-own"],
    ...semantic((section) => ({
      async nearest(request, call) {
        const rows = await section.nearest(request, call);
        return rows.filter(({ score }) => request.minScore === undefined || score > request.minScore);
      },
    })),
  },
  {
    name: "only some hundreds of many are looked at",
    fails: ["semantic/closest-of-many"],
    ...nearest((rows) =>
      rows.length < 500 ? rows : rows.filter(({ record }) => Number(record.key.slice(1)) % 2 === 0),
    ),
  },
  {
    name: "from the sixth search on the closest is passed over",
    fails: ["semantic/repeats-the-answer"],
    ...semantic((section) => {
      let searches = 0;
      return {
        async nearest(request, call) {
          searches += 1;
          const rows = await section.nearest({ ...request, limit: request.limit + 1 }, call);
          return searches < 6 ? rows.slice(0, request.limit) : rows.slice(1);
        },
      };
    }),
  },
  {
    name: "the filter is ignored",
    fails: ["semantic/filter"],
    ...semantic((section) => ({
      nearest: (request, call) => section.nearest({ ...request, filter: undefined }, call),
    })),
  },
  {
    name: "one less than the limit comes back",
    fails: ["semantic/limit"],
    ...semantic((section) => ({
      nearest: (request, call) => section.nearest({ ...request, limit: Math.max(1, request.limit - 1) }, call),
    })),
  },
];
