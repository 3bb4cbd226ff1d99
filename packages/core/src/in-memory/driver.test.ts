// The in-memory driver by the driver contract alone: what tokens, notes and orders promise beneath a store.

import { describe, expect, test } from "vitest";
import { storedRecord } from "../../test/stored-record.ts";
import { untyped } from "../../test/untyped.ts";
import type { DriverCall, MemoryDriver, WritePlan } from "../model/driver.ts";
import type { Derivation } from "../model/erasure.ts";
import { MemorySettingsError } from "../model/errors.ts";
import type { MemoryScope } from "../model/scope.ts";
import { inMemoryDriver } from "./driver.ts";

const scope: MemoryScope = { tenantId: "acme", userId: "ann" };
const under = { reach: "under", scope: { tenantId: "acme" } } as const;
const whole = { ...under, kinds: undefined, keys: undefined };

function at(now: number, budgetMs = 100): DriverCall {
  return { now, attempt: 1, budgetMs, signal: new AbortController().signal };
}

// The section of a driver that has it.
function section<Name extends "working" | "profile" | "episodic" | "semantic" | "erasure">(
  driver: MemoryDriver,
  name: Name,
): NonNullable<MemoryDriver[Name]> {
  const found = driver[name];
  if (found === undefined) throw new Error(`the driver has no ${name} section`);
  return found;
}

describe("options", () => {
  test.each([
    [{ ttlMs: 0 }, "ttlMs"],
    [{ maxElements: 1.5 }, "maxElements"],
    [{ embeddingDimensions: -1 }, "embeddingDimensions"],
    [{ maxValueBytes: Number.NaN }, "maxValueBytes"],
  ])("a count that is none is refused: %o", (options, setting) => {
    expect(() => inMemoryDriver(options)).toThrow(MemorySettingsError);
    expect(() => inMemoryDriver(options)).toThrow(expect.objectContaining({ setting }));
  });

  test.each([
    [{ sliding: "yes" }, "sliding"],
    [{ metric: "manhattan" }, "metric"],
    [{ without: ["dreams"] }, "without"],
    [{ without: "working" }, "without"],
  ])("a choice that there is not is refused: %o", (options, setting) => {
    expect(() => inMemoryDriver(untyped(options))).toThrow(
      expect.objectContaining({ code: "MEMORY_SETTINGS", setting }),
    );
  });

  test("without options every section is there, with 384 dimensions and the cosine", () => {
    const driver = inMemoryDriver();
    expect(section(driver, "semantic")).toMatchObject({ dimensions: 384, metric: "cosine" });
    expect(Object.keys(driver)).toEqual(
      expect.arrayContaining(["working", "profile", "episodic", "semantic", "erasure"]),
    );
  });

  test("a section that is left out is not there", () => {
    const driver = inMemoryDriver({ without: ["profile", "erasure"] });
    expect(driver.profile).toBeUndefined();
    expect(driver.erasure).toBeUndefined();
    expect(driver.working).toBeDefined();
  });
});

describe("working", () => {
  const slot = { scope, key: "key" };
  const head = storedRecord({ value: "" });
  const put = (value = "1") => ({ head, content: { value } });
  const append = (token: string, after?: number) => ({ ...slot, head, item: token, token, after });

  test("an append that is called again with its token answers as the first, also after expiry and erasure", async () => {
    const driver = inMemoryDriver();
    const working = section(driver, "working");
    expect(await working.append(append("a"), at(0))).toEqual({ outcome: "appended", length: 1 });
    expect(await working.append(append("b"), at(0))).toEqual({ outcome: "appended", length: 2 });
    expect(await working.append(append("a"), at(50))).toEqual({ outcome: "appended", length: 1 });
    expect((await working.get({ ...slot, last: undefined }, at(50)))?.content.items).toEqual(["a", "b"]);
    await section(driver, "erasure").tombstone(whole, at(60));
    expect(await working.append(append("b"), at(100))).toEqual({ outcome: "appended", length: 2 });
    expect(await working.get({ ...slot, last: undefined }, at(100))).toBeNull();
  });

  test("a token is forgotten once its budget is spent", async () => {
    const working = section(inMemoryDriver(), "working");
    await working.append(append("a"), at(0));
    expect(await working.append(append("a"), at(101))).toEqual({ outcome: "appended", length: 2 });
  });

  test("a moved or full sequence stays as it is and keeps its expiry", async () => {
    const working = section(inMemoryDriver({ ttlMs: 10, maxElements: 1 }), "working");
    await working.put(put(), at(0));
    expect(await working.append(append("a", 0), at(5))).toEqual({ outcome: "moved", length: 1 });
    expect(await working.append(append("b", 1), at(5))).toEqual({ outcome: "full", length: 1, limit: 1 });
    expect(await working.get({ ...slot, last: undefined }, at(9))).not.toBeNull();
    expect(await working.get({ ...slot, last: undefined }, at(10))).toBeNull();
  });

  test("what was given is not aliased: appending leaves the written array alone, and a read is a copy", async () => {
    const working = section(inMemoryDriver(), "working");
    const items = ["x"];
    await working.put({ head, content: { items } }, at(0));
    const before = await working.get({ ...slot, last: undefined }, at(0));
    await working.append(append("y"), at(0));
    expect(items).toEqual(["x"]);
    expect(before?.content.items).toEqual(["x"]);
    expect((await working.get({ ...slot, last: 1 }, at(0)))?.content.items).toEqual(["y"]);
    expect((await working.get({ ...slot, last: 9 }, at(0)))?.content.items).toEqual(["x", "y"]);
  });

  test("an explicit expiry holds through reads, until a write re-arms the store's own", async () => {
    const working = section(inMemoryDriver({ ttlMs: 100, sliding: true }), "working");
    await working.put(put(), at(0));
    await working.get({ ...slot, last: undefined }, at(90));
    expect(await working.expire({ ...slot, ttlMs: 20 }, at(100))).toBe(true);
    await working.get({ ...slot, last: undefined }, at(110));
    expect(await working.keys({ ...under, keyPrefix: undefined, after: undefined, limit: 9 }, at(119))).toEqual([
      { scope, key: "key", expiresInMs: 1 },
    ]);
    await working.put(put(), at(119));
    await working.get({ ...slot, last: undefined }, at(200));
    expect(await working.get({ ...slot, last: undefined }, at(299))).not.toBeNull();
    expect(await working.get({ ...slot, last: undefined }, at(399))).toBeNull();
  });

  test("without a store expiry an explicit one stays through writes and appends", async () => {
    const working = section(inMemoryDriver(), "working");
    await working.put(put(), at(0));
    await working.expire({ ...slot, ttlMs: 10 }, at(0));
    await working.put(put("2"), at(5));
    await working.append(append("a"), at(6));
    expect(await working.get({ ...slot, last: undefined }, at(10))).toBeNull();
    await working.put(put("3"), at(11));
    expect(await working.get({ ...slot, last: undefined }, at(9_999))).not.toBeNull();
  });

  test("expired keys are neither listed nor counted nor met by an expire or an append", async () => {
    const driver = inMemoryDriver({ ttlMs: 10 });
    const working = section(driver, "working");
    for (let index = 0; index < 30; index += 1) {
      await working.put({ head: storedRecord({ value: "", key: `k${index}` }), content: { value: "1" } }, at(index));
    }
    expect(await section(driver, "erasure").count?.(whole, at(35))).toMatchObject({ counts: { working: 4 } });
    expect(await working.expire({ scope, key: "k25", ttlMs: 0 }, at(35))).toBe(false);
    expect(await working.append({ ...append("t", 0), key: "k25", head: storedRecord({ key: "k25" }) }, at(35))).toEqual(
      {
        outcome: "appended",
        length: 1,
      },
    );
    const rows = await working.keys({ ...under, keyPrefix: undefined, after: undefined, limit: 99 }, at(36));
    expect(rows.map(({ key }) => key)).toEqual(["k25", "k27", "k28", "k29"]);
  });
});

describe("profile", () => {
  const fact = { scope, key: "key" };

  function plan(
    base: number,
    fields: Partial<WritePlan> & { from?: number; id?: string; recordedAt?: number },
  ): WritePlan {
    const { from = base, id = `v${base + 1}`, recordedAt = base, ...rest } = fields;
    const record = storedRecord({ id, version: base + 1, validFrom: from, recordedAt, key: rest.key ?? "key" });
    const baseToken = base === 0 ? undefined : `t${base - 1}`;
    return {
      ...fact,
      base,
      baseToken,
      record,
      lineage: 1,
      head: base || undefined,
      settles: [],
      token: `t${base}`,
      ...rest,
    };
  }

  test("a commit lands once by its token, and loses against a newer version or a taken id", async () => {
    const profile = section(inMemoryDriver(), "profile");
    expect(await profile.commit(plan(0, {}), at(0))).toBe(true);
    expect(await profile.commit(plan(0, {}), at(0))).toBe(true);
    expect(await profile.commit(plan(0, { token: "other" }), at(0))).toBe(false);
    expect(await profile.commit(plan(0, { token: "third", key: "second", id: "w1" }), at(0))).toBe(true);
    expect(await profile.commit(plan(0, { token: "fourth", key: "third", id: "v1" }), at(0))).toBe(false);
    const history = { scope, reach: "exact", key: "key", after: undefined, limit: 9 } as const;
    expect(await profile.history(history, at(0))).toHaveLength(1);
  });

  test("a commit loses where the version that it was planned on was erased and another has its number", async () => {
    const driver = inMemoryDriver();
    const profile = section(driver, "profile");
    await profile.commit(plan(0, {}), at(0));
    const { token } = await profile.heads({ ...fact, id: "v2", at: undefined, before: undefined }, at(0));
    await section(driver, "erasure").tombstone({ scope, reach: "under", kinds: undefined, keys: undefined }, at(1));
    await profile.commit(plan(0, { token: "anew", recordedAt: 5 }), at(5));
    expect(await profile.commit(plan(1, { baseToken: token }), at(6))).toBe(false);
    expect(await profile.commit(plan(1, { baseToken: "anew" }), at(6))).toBe(true);
  });

  test("a late note about the past stands where it belongs in time, and only for whom it was known", async () => {
    const profile = section(inMemoryDriver(), "profile");
    await profile.commit(plan(0, { from: 10, recordedAt: 10 }), at(0));
    await profile.commit(plan(1, { from: 30, recordedAt: 30 }), at(0));
    await profile.commit(plan(2, { from: 20, recordedAt: 40 }), at(0));
    const look = async (asOf: number | undefined, knownAt?: number) => {
      const rows = (await profile.versions({ ...fact, asOf, knownAt }, at(0)))?.versions ?? [];
      return rows.map(({ record, next }) => [record.id, next?.id]);
    };
    expect(await look(undefined)).toEqual([["v2", undefined]]);
    expect(await look(25)).toEqual([["v3", "v2"]]);
    expect(await look(25, 39)).toEqual([["v1", "v2"]]);
    expect(await look(15)).toEqual([["v1", "v3"]]);
    expect(await look(5)).toEqual([]);
  });

  test("heads before a version know nothing of it, nor of what it settled", async () => {
    const profile = section(inMemoryDriver(), "profile");
    await profile.commit(plan(0, {}), at(0));
    await profile.commit(plan(1, { lineage: 2, head: undefined }), at(0));
    await profile.commit(plan(2, { lineage: 1, head: 1, settles: [2] }), at(0));
    const heads = (before: number | undefined) => profile.heads({ ...fact, id: "v3", at: undefined, before }, at(9));
    expect(await heads(undefined)).toMatchObject({ version: 3, lineages: 2, open: [{ lineage: 1 }], idKey: "key" });
    const past = await heads(3);
    expect(past).toMatchObject({ version: 2, lineages: 2, open: [{ lineage: 1 }, { lineage: 2 }] });
    expect(past.idKey).toBeUndefined();
    expect(past.open[1]?.newest.end).toBeUndefined();
    expect(await heads(2)).toMatchObject({ version: 1, lineages: 1, open: [{ lineage: 1 }] });
    expect(await heads(1)).toMatchObject({ version: 0, lineages: 0, open: [] });
    const [, ended] = (await profile.versions({ ...fact, asOf: 9, knownAt: undefined }, at(9)))?.versions ?? [];
    expect(ended).toMatchObject({ lineage: 2, end: { id: "v3", validFrom: 2 } });
  });

  test("a history is read in pages that cut through keys, all of a name or all of a scope", async () => {
    const profile = section(inMemoryDriver(), "profile");
    const inner = { tenantId: "acme", userId: "ann", sessionId: "s" };
    for (const [owner, key] of [
      [scope, "a"],
      [scope, "ab"],
      [inner, "a"],
    ] as const) {
      for (let base = 0; base < 3; base += 1) {
        const fields = { scope: owner, key, id: `${key}${base}` };
        const made = plan(base, fields);
        await profile.commit({ ...made, record: { ...made.record, scope: owner } }, at(0));
      }
    }
    const walk = async (key: string | undefined): Promise<string[]> => {
      const seen: string[] = [];
      let after: Parameters<typeof profile.history>[0]["after"];
      for (;;) {
        const [row, ...more] = await profile.history({ ...under, key, after, limit: 1 }, at(0));
        expect(more).toEqual([]);
        if (row === undefined) return seen;
        const { record } = row;
        seen.push(`${record.scope.sessionId ?? "-"}/${record.key}/${record.version}`);
        after = { scope: record.scope, key: record.key, version: record.version ?? 0 };
      }
    };
    expect(await walk("a")).toEqual(["-/a/1", "-/a/2", "-/a/3", "s/a/1", "s/a/2", "s/a/3"]);
    expect(await walk(undefined)).toHaveLength(9);
  });
});

describe("episodic", () => {
  test("a log with one conflict stores nothing and gives back what differs", async () => {
    const episodic = section(inMemoryDriver(), "episodic");
    const one = storedRecord({ id: "1", validFrom: 1, value: '{"a":1,"b":2}', metadata: { x: 1, y: 2 } });
    expect(await episodic.log([{ record: one, anyFrom: false }], at(0))).toEqual([]);
    const same = { ...one, validFrom: 9, recordedAt: 9 };
    expect(await episodic.log([{ record: same, anyFrom: true }], at(0))).toEqual([]);
    const fresh = { record: storedRecord({ id: "2", validFrom: 2 }), anyFrom: false };
    const reordered = { ...one, value: '{"b":2, "a":1}' };
    expect(await episodic.log([fresh, { record: reordered, anyFrom: false }], at(0))).toEqual([one]);
    expect(await episodic.log([fresh, { record: same, anyFrom: false }], at(0))).toEqual([one]);
    const page = { ...under, key: undefined, since: undefined, until: undefined, asOf: undefined, filter: undefined };
    expect(await episodic.page({ ...page, after: undefined, limit: 9 }, at(0))).toEqual([one]);
  });
});

describe("semantic", () => {
  test("a score is 1 minus the metric's distance, and ties go by key, then scope", async () => {
    const query = { ...under, embedding: [3, 4], asOf: 0, filter: undefined, minScore: undefined };
    for (const [metric, scores] of [
      ["cosine", [1, 1, 0.6]],
      ["l2", [1, 1, 1 - Math.sqrt(20)]],
      ["inner", [26, 26, 4]],
    ] as const) {
      const semantic = section(inMemoryDriver({ embeddingDimensions: 2, metric }), "semantic");
      const far = storedRecord({ key: "far", embedding: [1, 0] });
      const near = storedRecord({ key: "b", embedding: [3, 4] });
      await semantic.index([far, near, { ...near, scope: { tenantId: "acme" } }], at(0));
      const rows = await semantic.nearest({ ...query, limit: 3 }, at(0));
      expect(rows.map(({ score }) => score)).toEqual(scores.map((score) => expect.closeTo(score, 12)));
      expect(rows.map(({ record }) => record.scope.userId)).toEqual([undefined, "ann", "ann"]);
      expect(await semantic.nearest({ ...query, limit: 1 }, at(0))).toEqual(rows.slice(0, 1));
      expect(await semantic.get({ scope, key: "far" }, at(0))).toEqual(far);
    }
  });
});

describe("erasure", () => {
  const derivation = (fields: Partial<Derivation>): Derivation => ({
    scope,
    artefactId: "x",
    sourceKind: "semantic",
    sourceId: "id",
    adapter: "cache",
    mixes: false,
    ...fields,
  });
  const page = { ...under, after: undefined, limit: 9 };

  test("an erasure that died before its sweep is counted by the next, once", async () => {
    const driver = inMemoryDriver();
    const erasure = section(driver, "erasure");
    await section(driver, "working").put({ head: storedRecord({ value: "" }), content: { value: "1" } }, at(0));
    expect(await erasure.tombstone({ ...whole, scope }, at(0))).toEqual({ working: 1 });
    await section(driver, "episodic").log([{ record: storedRecord({ validFrom: 0 }), anyFrom: false }], at(0));
    expect(await erasure.count?.(whole, at(0))).toEqual({ counts: { episodic: 1 }, artefacts: 0, sharedArtefacts: 0 });
    expect(await erasure.tombstone(whole, at(0))).toEqual({ working: 1, episodic: 1 });
    expect(await erasure.sweep({ scope, reach: "exact" }, at(0))).toEqual({ working: 1 });
    expect(await erasure.sweep(under, at(0))).toEqual({ episodic: 1 });
    expect(await erasure.sweep(under, at(0))).toEqual({});
  });

  test("a narrowed erasure condemns the derivations of what it erased, and no others", async () => {
    const driver = inMemoryDriver({ embeddingDimensions: 1 });
    const erasure = section(driver, "erasure");
    const records = ["a", "b"].map((key) => storedRecord({ key, id: key, embedding: [1] }));
    await section(driver, "semantic").index(records, at(0));
    for (const sourceId of ["a", "b", "gone"]) {
      await erasure.register(derivation({ sourceId, artefactId: sourceId }), at(0));
    }
    await erasure.register(derivation({ sourceKind: "profile", sourceId: "a", artefactId: "other" }), at(0));
    await erasure.tombstone({ ...whole, kinds: ["semantic"], keys: ["a"] }, at(0));
    const condemned = async () => (await erasure.condemned(page, at(0))).map((one) => one.derivation.artefactId);
    expect(await condemned()).toEqual(["a"]);
    await erasure.tombstone({ ...whole, kinds: ["semantic"] }, at(0));
    expect(await condemned()).toEqual(["a", "b", "gone"]);
    expect(await erasure.derivations(page, at(0))).toMatchObject([{ artefactId: "other" }]);
  });

  test("an artefact is shared while another scope holds it and nobody mixes it; a dry run says the same", async () => {
    const erasure = section(inMemoryDriver(), "erasure");
    const bob = { tenantId: "acme", userId: "bob" };
    const forecast = () => erasure.count?.({ ...whole, scope }, at(0));
    await erasure.register(derivation({}), at(0));
    expect(await forecast()).toMatchObject({ artefacts: 1, sharedArtefacts: 0 });
    await erasure.register(derivation({ scope: { tenantId: "other" } }), at(0));
    await erasure.register(derivation({ artefactId: "x2", scope: bob }), at(0));
    expect(await forecast()).toMatchObject({ artefacts: 1, sharedArtefacts: 0 });
    await erasure.register(derivation({ scope: bob }), at(0));
    expect(await forecast()).toMatchObject({ artefacts: 0, sharedArtefacts: 1 });
    await erasure.tombstone({ ...whole, scope }, at(0));
    expect(await forecast()).toMatchObject({ artefacts: 0, sharedArtefacts: 1 });
    expect(await erasure.condemned(page, at(0))).toEqual([{ derivation: derivation({}), shared: true }]);
    await erasure.register(derivation({ scope: bob, mixes: true }), at(0));
    expect(await erasure.condemned(page, at(0))).toEqual([{ derivation: derivation({}), shared: false }]);
  });

  test("a registration made again is condemned no more, and forgetting then leaves it", async () => {
    const erasure = section(inMemoryDriver(), "erasure");
    await erasure.register(derivation({}), at(0));
    await erasure.tombstone(whole, at(0));
    await erasure.register(derivation({ mixes: true }), at(0));
    await erasure.forget([derivation({})], at(0));
    expect(await erasure.condemned(page, at(0))).toEqual([]);
    expect(await erasure.derivations(page, at(0))).toEqual([derivation({ mixes: true })]);
    await erasure.tombstone(whole, at(0));
    await erasure.forget([derivation({})], at(0));
    expect(await erasure.condemned(page, at(0))).toEqual([]);
    expect(await erasure.derivations(page, at(0))).toEqual([]);
  });
});
