// The largest parts, keys, ids, metadata and values, texts that patterns would confuse, and numbers at their ends: each is
// kept, found and told apart in every index, under a locale that sorts and compares otherwise.

import { randomBytes } from "node:crypto";
import { type MemoryPage, memoryScope, memoryStoreSettings } from "@memory/core";
import { findPostgres, type PostgresPrimary } from "@tooling/servers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PostgresMemoryStore } from "../src/index.ts";
import { applySchema } from "./target.ts";

const lane = findPostgres();

// No run that an index could compress.
const noise = (bytes: number): string => randomBytes(bytes).toString("base64url").slice(0, bytes);

describe.skipIf(lane.isMissing)("limits", () => {
  let server: PostgresPrimary;
  let store: PostgresMemoryStore;
  let count = 0;

  beforeAll(async () => {
    server = await lane.start();
    await server.psql(
      "CREATE DATABASE icu LOCALE_PROVIDER icu ICU_LOCALE 'en-US' TEMPLATE template0 ENCODING 'UTF8'",
      "postgres",
    );
    const dsn = server.url.replace(/\/memory$/, "/icu");
    await applySchema(dsn);
    store = PostgresMemoryStore.connect(memoryStoreSettings({ dsn, attemptTimeoutMs: 60_000 }), { redactor: null });
    await store.verify();
  });
  afterAll(async () => {
    await store?.close();
    await server?.stop();
  });

  const newScope = () => memoryScope({ tenantId: `limits-${++count}` });

  it("takes parts and ids of 256 bytes with keys of 1,024 in every index", async () => {
    const scope = memoryScope({ tenantId: noise(256), userId: noise(256), sessionId: noise(256), agent: noise(256) });
    const key = noise(1_024);
    const ids = [...Array(4).keys()].map(() => noise(256));
    const [one = "", two = "", three = "", four = ""] = ids;
    await store.supersede(scope, { id: one, key, value: 1, source: "t", subject: "a" });
    await store.supersede(scope, { id: two, key, value: 2, source: "t", subject: "b" });
    await store.supersede(scope, { id: three, key, value: 3, source: "t" }, { resolves: [one, two] });
    await store.supersede(scope, { id: three, key, value: 4, source: "t" });
    expect((await store.profile(scope, key))?.id).toBe(`${three}@4`);
    expect(await store.history(scope, key)).toHaveLength(4);
    await store.logAll(scope, [{ id: four, key, value: 1, source: "t" }]);
    expect(await store.episodes(scope, { key })).toHaveLength(1);
    for (const id of [one, `${three}@4`]) {
      await store.derived(scope, { artefactId: noise(256), sourceKind: "profile", sourceId: id, adapter: "x" });
    }
    expect((await store.erase(scope, { dryRun: true })).artefacts).toBe(2);
    expect((await store.erase(scope, { keys: [key], kinds: ["episodic"] })).records).toBe(1);
  });

  it("takes metadata of 16 KiB, of many members and of one, and finds them", async () => {
    const scope = newScope();
    const many = Object.fromEntries([...Array(900).keys()].map((n) => [`m${n}`, n]));
    const wide = { text: noise(15_000) };
    await store.log(scope, { id: "many", key: "k", value: 1, source: "t", metadata: many });
    await store.log(scope, { id: "wide", key: "k", value: 1, source: "t", metadata: wide });
    const found = async (filter: Record<string, string | number>) =>
      (await store.episodes(scope, { filter })).map((hit) => hit.record.id);
    expect(await found({ m899: 899, m3: 3 })).toEqual(["many"]);
    expect(await found(wide)).toEqual(["wide"]);
  });

  it("takes values of 16 MiB, one by one and several at once", { timeout: 120_000 }, async () => {
    const scope = newScope();
    const most = 16 * 1_024 * 1_024 - 2;
    // The worst to write down: each of these is escaped in JSON, and again in a list.
    const value = '"\\'.repeat(Math.floor(most / 4));
    await store.supersede(scope, { key: "k", value, source: "t" });
    expect((await store.profile(scope, "k"))?.value === value).toBe(true);
    const records = ["a", "b"].map((id) => ({ id, key: "k", value, source: "t", validFrom: 1 }));
    await store.logAll(scope, records);
    await store.logAll(scope, records);
    const hits = await store.episodes(scope, { limit: 2 });
    expect(hits.map((hit) => hit.record.value === value)).toEqual([true, true]);
    await expect(store.log(scope, { key: "k", value: `${value}xxx`, source: "t" })).rejects.toMatchObject({
      code: "MEMORY_LIMIT",
    });
  });

  it("never takes one text for a pattern, a case, a normal form or a neighbour of another", async () => {
    const base = newScope().tenantId;
    const names = [
      "a%",
      "a_",
      "ab",
      "a\\",
      "a\\%",
      "A%",
      "a",
      "a ",
      "a*",
      "é",
      "e\u0301",
      "ß",
      "ss",
      "İ",
      "i",
      "{}",
      "NULL",
      "a'b",
    ];
    for (const [n, name] of names.entries()) {
      const scope = memoryScope({ tenantId: `${base}${name}`, userId: name, sessionId: name });
      await store.log(scope, { id: name, key: name, value: n, source: "t" });
      await store.supersede(scope, { id: name, key: name, value: n, source: "t" });
      await store.supersede(memoryScope({ tenantId: base }), { id: name, key: name, value: n, source: "t" });
    }
    for (const [n, name] of names.entries()) {
      const scope = memoryScope({ tenantId: `${base}${name}`, userId: name, sessionId: name });
      expect(
        (await store.episodes({ tenantId: `${base}${name}` }, { reach: "under" })).map((hit) => hit.record.value),
      ).toEqual([n]);
      expect((await store.profile(scope, name))?.value).toBe(n);
      expect((await store.profile(memoryScope({ tenantId: base }), name))?.value).toBe(n);
      const { beliefs } = await store.beliefs(memoryScope({ tenantId: base }), { keyPrefix: name, limit: 100 });
      const meant = names.filter((one) => one.startsWith(name));
      expect(beliefs.map((one) => one.key)).toEqual(
        meant.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))),
      );
    }
    for (const name of names) {
      expect((await store.erase(memoryScope({ tenantId: base }), { keys: [name] })).records).toBe(1);
      expect((await store.erase({ tenantId: `${base}${name}`, userId: name })).records).toBe(2);
    }
  });

  it("pages keys and ids in the order of their bytes", async () => {
    const scope = newScope();
    const names = [
      "a",
      "B",
      "_",
      "Z",
      "z",
      "é",
      "\uffee",
      "\u{1f600}",
      "\u{10ffff}",
      "\u{10ffff}a",
      "\ud7ff",
      "\ue000",
      "aa",
      "a-b",
      "a b",
      "ab",
    ];
    const order = names.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    for (const name of names) await store.supersede(scope, { key: name, value: 1, source: "t" });
    await store.logAll(
      scope,
      names.map((id) => ({ id, key: "k", value: 1, source: "t", validFrom: 1 })),
    );
    const keys: string[] = [];
    let cursor: string | null = null;
    do {
      const page = await store.beliefs(scope, cursor === null ? { limit: 3 } : { limit: 3, cursor });
      keys.push(...page.beliefs.map((one) => one.key));
      cursor = page.cursor;
    } while (cursor !== null);
    expect(keys).toEqual(order);
    const ids: string[] = [];
    do {
      const page: MemoryPage = await store.page(scope, { limit: 3 }, { cursor });
      ids.push(...page.hits.map((hit) => hit.record.id));
      cursor = page.cursor;
    } while (cursor !== null);
    expect(ids).toEqual(order.toReversed());
    expect((await store.beliefs(scope, { keyPrefix: "\u{10ffff}" })).beliefs.map((one) => one.key)).toEqual([
      "\u{10ffff}",
      "\u{10ffff}a",
    ]);
    expect((await store.beliefs(scope, { keyPrefix: "\ud7ff" })).beliefs.map((one) => one.key)).toEqual(["\ud7ff"]);
  });

  it("gives back every number as it was, in confidence, instants, metadata and values", async () => {
    const scope = newScope();
    const numbers = [
      1e-308,
      5e-324,
      0.1,
      1 / 3,
      2 ** 53,
      2 ** 53 - 1,
      2 ** 63,
      1e308,
      1.7976931348623157e308,
      -1e21,
      1e-7,
    ];
    for (const [n, number] of numbers.entries()) {
      const given = { id: `e${n}`, key: "k", value: { number }, source: "t", metadata: { number } };
      const confidence = number > 0 && number <= 1 ? number : 1;
      const validFrom = 8.64e15 - n;
      await store.log(scope, { ...given, confidence, validFrom });
      await store.logAll(scope, [{ ...given, confidence, validFrom }]);
      const [hit] = await store.episodes(scope, { filter: { number }, limit: 1 });
      expect(hit?.record).toMatchObject({
        id: `e${n}`,
        value: { number },
        metadata: { number },
        confidence,
        validFrom,
      });
    }
    await store.log(scope, { id: "old", key: "k", value: 1, source: "t", validFrom: -8.64e15 });
    expect((await store.episodes(scope, { until: -8.64e15 })).map((hit) => hit.record.id)).toEqual(["old"]);
    await store.supersede(scope, { key: "k", value: 1, source: "t", validFrom: -8.64e15, validTo: 8.64e15 });
    expect((await store.profile(scope, "k", { asOf: 8.64e15 - 1 }))?.validFrom).toBe(-8.64e15);
    expect(await store.profile(scope, "k", { asOf: 8.64e15 })).toBeNull();
  });

  it("filters by value and type", async () => {
    const scope = newScope();
    const values = ["1", 1, true, "true", 1.5, "1.5", "", "null", 0, false, "é", "e\u0301", '{"a":1}'];
    await store.logAll(
      scope,
      values.map((v, n) => ({
        id: `e${n}`,
        key: "k",
        value: n,
        source: "t",
        validFrom: n,
        metadata: { v, ["__proto__"]: "p", "a.b": n },
      })),
    );
    for (const [n, v] of values.entries()) {
      expect((await store.episodes(scope, { filter: { v } })).map((hit) => hit.record.value)).toEqual([n]);
    }
    expect(await store.episodes(scope, { filter: { v: [] } })).toEqual([]);
    const most = [...Array(70_000).keys()];
    expect((await store.episodes(scope, { filter: { v: most } })).map((hit) => hit.record.value)).toEqual([8, 1]);
    expect(await store.episodes(scope, { filter: { v: [...most.map(String), ...values] }, limit: 100 })).toHaveLength(
      values.length,
    );
    expect(await store.episodes(scope, { filter: { v: 1.0, "a.b": [1, 2] } })).toHaveLength(1);
    expect(await store.episodes(scope, { filter: Object.fromEntries([["__proto__", "p"]]), limit: 100 })).toHaveLength(
      values.length,
    );
    expect(await store.episodes(memoryScope({ tenantId: "__proto__" }), { filter: { v: 1 } })).toEqual([]);
  });

  it("takes a repeat with members in another order for the same, and logs what is new beside it", async () => {
    const scope = newScope();
    const given = { id: "e", key: "k", source: "t", validFrom: 1 };
    await store.log(scope, { ...given, value: { a: 1, b: [{ c: 1, d: "\u0000" }] } });
    await store.log(scope, { ...given, value: { b: [{ d: "\u0000", c: 1 }], a: 1 } });
    await store.logAll(scope, [
      { ...given, id: "f", value: 1 },
      { ...given, value: { b: [{ d: "\u0000", c: 1 }], a: 1 } },
      { ...given, id: "g", value: 1 },
      { ...given, id: "g", value: 1 },
    ]);
    expect((await store.episodes(scope)).map((hit) => hit.record.id)).toEqual(["g", "f", "e"]);
    await expect(
      store.logAll(scope, [
        { ...given, id: "h", value: 1 },
        { ...given, value: { a: 2 } },
      ]),
    ).rejects.toMatchObject({ code: "MEMORY_CONFLICT" });
    expect(await store.episodes(scope)).toHaveLength(3);
  });
});
