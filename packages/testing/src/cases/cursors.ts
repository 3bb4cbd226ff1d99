// Pages: every list that has a cursor walks its rows once each, in order, and a cursor goes on with the list that it came
// from and with no other.

import assert from "node:assert/strict";
import type { MemoryCapability, MemoryReach, MemoryScope, MemoryStore } from "@memory/core";
import type { ConformanceCase } from "../case.ts";
import type { CaseContext } from "../context.ts";
import { record, refused } from "../kinds.ts";
import { untyped } from "../untyped.ts";

interface Page {
  readonly rows: readonly string[];
  readonly cursor: string | null;
}

/** A list with a cursor. */
interface PagedList {
  readonly name: string;
  readonly needs: MemoryCapability;
  /** Stores the row of that name. */
  put(store: MemoryStore, scope: MemoryScope, name: string): Promise<unknown>;
  /** Whether rows come in the order of their names (`1`) or against it (`-1`). */
  readonly order: 1 | -1;
  page(
    store: MemoryStore,
    scope: MemoryScope,
    limit: number,
    cursor?: string | null,
    reach?: MemoryReach,
  ): Promise<Page>;
  /** The same list with another query. */
  other?(store: MemoryStore, scope: MemoryScope, cursor: string): Promise<unknown>;
}

const LISTS: readonly PagedList[] = [
  {
    name: "keys",
    needs: "working",
    order: 1,
    put: (store, scope, name) => store.write(scope, record(name)),
    async page(store, scope, limit, cursor, reach) {
      const page = await store.keys(scope, { limit, cursor: cursor ?? undefined, reach });
      return { rows: page.keys.map(({ key }) => key), cursor: page.cursor };
    },
    other: (store, scope, cursor) => store.keys(scope, { keyPrefix: "r", cursor }),
  },
  {
    name: "beliefs",
    needs: "profile",
    order: 1,
    put: (store, scope, name) => store.upsert(scope, record(name)),
    async page(store, scope, limit, cursor, reach) {
      const page = await store.beliefs(scope, { limit, cursor: cursor ?? undefined, reach });
      return { rows: page.beliefs.map(({ key }) => key), cursor: page.cursor };
    },
    other: (store, scope, cursor) => store.beliefs(scope, { keyPrefix: "r", cursor }),
  },
  {
    name: "page",
    needs: "episodic",
    order: -1,
    // One instant for all, so that only the id orders them.
    put: (store, scope, name) => store.log(scope, { ...record("k"), id: name, validFrom: 1_000 }),
    async page(store, scope, limit, cursor, reach) {
      const page = await store.page(scope, { limit, reach }, { cursor });
      return { rows: page.hits.map((hit) => hit.record.id), cursor: page.cursor };
    },
    other: (store, scope, cursor) => store.page(scope, { key: "k" }, { cursor }),
  },
  {
    name: "derivations",
    needs: "erasure",
    order: 1,
    put: (store, scope, name) =>
      store.derived(scope, { artefactId: name, sourceKind: "profile", sourceId: "i", adapter: "index" }),
    async page(store, scope, limit, cursor, reach) {
      const page = await store.derivations(scope, { limit, cursor: cursor ?? undefined, reach });
      return { rows: page.derivations.map(({ artefactId }) => artefactId), cursor: page.cursor };
    },
  },
];

async function fill(
  list: PagedList,
  store: MemoryStore,
  scope: MemoryScope,
  count: number,
): Promise<readonly string[]> {
  const names = Array.from({ length: count }, (_, index) => `r${String(index).padStart(4, "0")}`);
  await Promise.all([...names].reverse().map((name) => list.put(store, scope, name)));
  return list.order === 1 ? names : [...names].reverse();
}

async function walk(list: PagedList, store: MemoryStore, scope: MemoryScope, limit: number): Promise<readonly Page[]> {
  const pages: Page[] = [];
  let cursor: string | null = null;
  do {
    const page: Page = await list.page(store, scope, limit, cursor);
    pages.push(page);
    cursor = page.cursor;
    assert.ok(pages.length <= 1_000, "the pages do not end");
  } while (cursor !== null);
  return pages;
}

async function firstCursor(list: PagedList, store: MemoryStore, scope: MemoryScope): Promise<string> {
  await fill(list, store, scope, 3);
  const { cursor } = await list.page(store, scope, 1);
  assert.ok(cursor !== null);
  return cursor;
}

const perList: readonly ConformanceCase[] = LISTS.flatMap((list): readonly ConformanceCase[] => {
  const needs = { [list.needs]: true };
  const refusal = async (context: CaseContext) => {
    const store = await context.open();
    await refused(context, store, list.page(store, context.scope(), 1));
  };
  return [
    {
      id: `cursors/${list.name}-walks-each-row-once`,
      promise: `The pages of \`${list.name}\` hold every row exactly once, in order, for any limit; the cursor is \`null\` at the end.`,
      needs,
      refusal,
      async run(context) {
        const store = await context.open();
        const scope = context.scope({ userId: "u" });
        const expected = await fill(list, store, scope, 7);
        for (const limit of [1, 2, 3, 6, 7, 8, 1_000]) {
          const pages = await walk(list, store, scope, limit);
          assert.deepEqual(
            pages.flatMap(({ rows }) => rows),
            expected,
            `limit ${limit}`,
          );
          assert.ok(
            pages.every(({ rows }) => rows.length <= limit),
            `limit ${limit}`,
          );
          for (const page of pages.slice(0, -1)) assert.ok(typeof page.cursor === "string" && page.cursor !== "");
        }
        assert.deepEqual(await walk(list, store, context.scope({ userId: "nobody" }), 2), [{ rows: [], cursor: null }]);
      },
    },
    {
      id: `cursors/${list.name}-goes-on-while-others-write`,
      promise: `A walk over \`${list.name}\` meets every row that was there from its beginning exactly once, while others write.`,
      needs,
      refusal,
      async run(context) {
        const store = await context.open();
        const scope = context.scope();
        const expected = await fill(list, store, scope, 10);
        const seen: string[] = [];
        let cursor: string | null = null;
        let round = 0;
        do {
          const page: Page = await list.page(store, scope, 3, cursor);
          seen.push(...page.rows);
          cursor = page.cursor;
          for (const name of [`a${round}`, `r0004-${round}`, `z${round}`]) await list.put(store, scope, name);
          round += 1;
        } while (cursor !== null && round < 100);
        assert.deepEqual(
          seen.filter((name) => /^r\d{4}$/.test(name)),
          expected,
        );
        assert.equal(new Set(seen).size, seen.length, "a row came twice");
      },
    },
    {
      id: `cursors/${list.name}-goes-on-in-another-store`,
      promise: `A cursor of \`${list.name}\` holds no state in the store: another store over the same servers goes on with it.`,
      needs,
      refusal,
      async run(context) {
        const [one, other] = [await context.open(), await context.open()];
        const expected = await fill(list, one, context.scope(), 4);
        const first = await list.page(one, context.scope(), 2);
        await one.close();
        const second = await list.page(other, context.scope(), 2, first.cursor);
        assert.deepEqual([...first.rows, ...second.rows], expected);
      },
    },
    {
      id: `cursors/${list.name}-refuses-a-foreign-cursor`,
      promise: `A cursor of \`${list.name}\` is a \`MemoryCursorError\` for another scope, reach, query or list.`,
      needs,
      refusal,
      async run(context) {
        const store = await context.open();
        const scope = context.scope({ userId: "u" });
        const cursor = await firstCursor(list, store, scope);
        const others: readonly MemoryScope[] = [
          context.scope(),
          context.scope({ userId: "v" }),
          context.scope({ userId: "u", sessionId: "s" }),
          context.scope({ sessionId: "u" }),
          context.foreign({ userId: "u" }),
        ];
        for (const one of others) await context.rejects(list.page(store, one, 1, cursor), "MEMORY_CURSOR");
        if (context.capabilities.reach) {
          await context.rejects(list.page(store, scope, 1, cursor, "under"), "MEMORY_CURSOR");
        }
        if (list.other !== undefined) await context.rejects(list.other(store, scope, cursor), "MEMORY_CURSOR");
        for (const another of LISTS.filter(
          ({ name, needs: kind }) => name !== list.name && context.capabilities[kind],
        )) {
          await context.rejects(another.page(store, scope, 1, cursor), "MEMORY_CURSOR");
        }
        assert.equal((await list.page(store, scope, 5, cursor)).rows.length, 2);
      },
    },
    {
      id: `cursors/${list.name}-refuses-a-damaged-cursor`,
      promise: `A cursor of \`${list.name}\` that is damaged, or of another version, is a \`MemoryCursorError\`; one that is no text is a \`MemoryRecordError\`.`,
      needs,
      refusal,
      async run(context) {
        const store = await context.open();
        const scope = context.scope({ userId: "u" });
        const cursor = await firstCursor(list, store, scope);
        const damaged = [
          "",
          "x",
          "1",
          "null",
          "[]",
          "e30",
          cursor.slice(0, -3),
          cursor.slice(1),
          `${cursor}AAAA`,
          "A".repeat(5_000),
        ];
        for (const one of damaged) await context.rejects(list.page(store, scope, 1, one), "MEMORY_CURSOR");
        for (const one of [7, {}, true]) {
          await context.rejects(list.page(store, scope, 1, untyped(one)), "MEMORY_RECORD", { path: "options.cursor" });
        }
      },
    },
  ];
});

/** Cases about pages and cursors. */
export const cursorCases: readonly ConformanceCase[] = perList;
