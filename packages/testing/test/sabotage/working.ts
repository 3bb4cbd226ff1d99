// Wrongs about scratch space: sequences, expiry, keys.

import type { WorkingEntry, WorkingSection } from "@memory/core/driver";
import { type Sabotage, turns, working } from "./sabotage.ts";

type Content = WorkingEntry["content"];

const items = (content: Content | undefined): readonly string[] => {
  if (content === undefined) return [];
  return content.items ?? [content.value];
};
// An append that reads, lets others run, and writes back.
const readAndWrite = (section: WorkingSection): Pick<WorkingSection, "append"> => ({
  async append(request, call) {
    const place = { scope: request.scope, key: request.key };
    const there = await section.get({ ...place, last: undefined }, call);
    await turns();
    const all = [...items(there?.content), request.item];
    await section.put({ head: there?.head ?? request.head, content: { items: all } }, call);
    return { outcome: "appended", length: all.length };
  },
});

export const workingSabotages: readonly Sabotage[] = [
  {
    name: "an append reads and writes back, and loses what came between",
    fails: ["working/appends-lose-and-double-nothing"],
    ...working(readAndWrite),
  },
  {
    name: "an append lands twice when another is under way",
    fails: ["working/appends-lose-and-double-nothing"],
    ...working((section) => {
      let underWay = 0;
      return {
        async append(request, call) {
          underWay += 1;
          await turns();
          const isCrowded = underWay > 1;
          const reply = await section.append(request, call);
          underWay -= 1;
          return isCrowded ? section.append({ ...request, token: `${request.token}-again` }, call) : reply;
        },
      };
    }),
  },
  {
    name: "`after` is ignored",
    fails: ["working/after-insists-on-the-length", "working/after-has-one-winner"],
    ...working((section) => ({ append: (request, call) => section.append({ ...request, after: undefined }, call) })),
  },
  {
    name: "`after` is looked at before the append, not with it",
    fails: ["working/after-has-one-winner"],
    ...working((section) => ({
      async append(request, call) {
        const there = await section.get({ scope: request.scope, key: request.key, last: undefined }, call);
        const length = items(there?.content).length;
        await turns();
        if (request.after !== undefined && request.after !== length) return { outcome: "moved", length };
        return section.append({ ...request, after: undefined }, call);
      },
    })),
  },
  {
    name: "positions count from zero",
    fails: ["working/append-position-counts-from-one"],
    ...working((section) => ({
      async append(request, call) {
        const reply = await section.append(request, call);
        return { ...reply, length: reply.length - 1 };
      },
    })),
  },
  {
    name: "an append gives the sequence its own head",
    fails: ["working/sequence-keeps-its-head"],
    ...working((section) => ({
      async append(request, call) {
        const reply = await section.append(request, call);
        const there = await section.get({ scope: request.scope, key: request.key, last: undefined }, call);
        if (there !== null && reply.outcome === "appended") await section.put({ ...there, head: request.head }, call);
        return reply;
      },
    })),
  },
  {
    name: "an append to a written value starts over",
    fails: ["working/append-takes-a-value-as-first"],
    ...working((section) => ({
      async append(request, call) {
        const there = await section.get({ scope: request.scope, key: request.key, last: undefined }, call);
        if (there?.content.value === undefined) return section.append(request, call);
        await section.put({ head: there.head, content: { items: [request.item] } }, call);
        return { outcome: "appended", length: 1 };
      },
    })),
  },
  {
    name: "a full sequence takes one more answer",
    fails: ["working/sequences-are-bounded"],
    ...working((section) => ({
      async append(request, call) {
        const reply = await section.append(request, call);
        return reply.outcome === "full" ? { outcome: "appended", length: reply.length + 1 } : reply;
      },
    })),
  },
  {
    name: "`last` gives the oldest",
    fails: ["working/last-gives-the-newest"],
    ...working((section) => ({
      async get(request, call) {
        const entry = await section.get({ ...request, last: undefined }, call);
        if (entry?.content.items === undefined || request.last === undefined) return entry;
        return { ...entry, content: { items: entry.content.items.slice(0, request.last) } };
      },
    })),
  },
  {
    name: "`last` is ignored",
    fails: ["working/last-gives-the-newest"],
    ...working((section) => ({ get: (request, call) => section.get({ ...request, last: undefined }, call) })),
  },
  {
    name: "a write does not replace what is there",
    fails: ["working/write-replaces"],
    ...working((section) => ({
      async put(entry, call) {
        const { scope, key } = entry.head;
        if ((await section.get({ scope, key, last: undefined }, call)) === null) await section.put(entry, call);
      },
    })),
  },
  {
    name: "the store's TTL is not armed by an append that starts a sequence",
    fails: ["working/ttl-is-armed-by-writes"],
    ...working((section) => ({
      async append(request, call) {
        const there = await section.get({ scope: request.scope, key: request.key, last: undefined }, call);
        return section.append(request, there === null ? { ...call, now: call.now + 1e12 } : call);
      },
    })),
  },
  {
    name: "the store's TTL is not armed by a write",
    fails: ["working/ttl-is-armed-by-writes"],
    ...working((section) => ({ put: (entry, call) => section.put(entry, { ...call, now: call.now + 1e12 }) })),
  },
  {
    name: "an explicit expiry is dropped",
    fails: ["working/expire-now", "working/expire-hides-in-time", "working/explicit-expiry-holds"],
    ...working((section) => ({
      expire: async (request, call) => (await section.get({ ...request, last: undefined }, call)) !== null,
    })),
  },
  {
    name: "expiry counts in seconds",
    fails: ["working/expire-hides-in-time"],
    ...working((section) => ({
      expire: (request, call) => section.expire({ ...request, ttlMs: request.ttlMs * 1_000 }, call),
    })),
  },
  {
    name: "expiring what is absent answers true",
    fails: ["working/expire-of-absent-is-false"],
    ...working((section) => ({
      async expire(request, call) {
        await section.expire(request, call);
        return true;
      },
    })),
  },
  {
    name: "a read arms the store's TTL over an explicit expiry",
    fails: ["working/explicit-expiry-holds"],
    ...working((section) => ({
      async get(request, call) {
        const whole = await section.get({ ...request, last: undefined }, call);
        if (whole !== null) await section.put(whole, call);
        return section.get(request, call);
      },
    })),
  },
  {
    name: "a key prefix is a pattern",
    fails: ["working/key-prefix-is-exact"],
    ...working((section) => ({
      async keys(request, call) {
        const pattern = new RegExp(
          `^${(request.keyPrefix ?? "")
            .replace(/[.+^${}()|[\]\\]/g, "\\$&")
            .replace(/[*%]/g, ".*")
            .replace(/[?_]/g, ".")}`,
          "su",
        );
        const rows = await section.keys({ ...request, keyPrefix: undefined, limit: 1_000 }, call);
        return rows.filter((row) => pattern.test(row.key)).slice(0, request.limit);
      },
    })),
  },
  {
    name: "a page of keys leaves out the row after a cursor",
    fails: ["cursors/keys-walks-each-row-once", "working/keys-reach-under"],
    ...working((section) => ({
      async keys(request, call) {
        const rows = await section.keys({ ...request, limit: request.limit + 1 }, call);
        return request.after === undefined ? rows.slice(0, request.limit) : rows.slice(1);
      },
    })),
  },
  {
    name: "keys are sorted by UTF-16 units",
    fails: ["record/text-order-is-bytes-working"],
    ...working((section) => ({
      async keys(request, call) {
        const rows = await section.keys(request, call);
        return [...rows].sort((a, b) => (a.key < b.key ? -1 : 1));
      },
    })),
  },
];
