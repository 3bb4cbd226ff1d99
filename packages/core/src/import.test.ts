// What an import does with lines that no export of one store would hold: lines that disagree, lack something, or come from
// places that a driver takes for one another.

import { describe, expect, test } from "vitest";
import { HandClock } from "../test/hand-clock.ts";
import { untyped } from "../test/untyped.ts";
import { exportScope, type MemoryExport } from "./export.ts";
import { importRecords } from "./import.ts";
import { inMemoryDriver } from "./in-memory/driver.ts";
import type { LogEntry, MemoryDriver, PutRequest } from "./model/driver.ts";
import { MemoryRecordError } from "./model/errors.ts";
import type { MemoryStore } from "./model/protocol.ts";
import type { MemoryRecord } from "./model/record.ts";
import type { MemoryScope } from "./model/scope.ts";
import { createMemoryStore } from "./store.ts";

const ann: MemoryScope = { tenantId: "acme", userId: "ann" };
const bob: MemoryScope = { tenantId: "acme", userId: "bob" };

function episode(fields: Partial<MemoryRecord> = {}, beside: object = {}): MemoryExport {
  const record = { id: "e", kind: "episodic", scope: ann, key: "k", value: 1, source: "s", confidence: 1 } as const;
  return { record: { ...record, validFrom: 5, recordedAt: 6, ...fields }, ...beside };
}

function working(fields: Partial<MemoryRecord> = {}): MemoryRecord {
  return { id: "w", kind: "working", scope: ann, key: "k", value: 1, source: "s", confidence: 1, ...fields };
}

/** A store, and what went down into its driver. */
function opened() {
  const inner = inMemoryDriver();
  const puts: PutRequest[] = [];
  const logs: (readonly LogEntry[])[] = [];
  const methods: string[] = [];
  const { working: slots, episodic } = inner;
  if (slots === undefined || episodic === undefined) throw new Error("the section is missing");
  const driver: MemoryDriver = {
    ...inner,
    working: {
      ...slots,
      put: (request, call) => {
        methods.push("put");
        puts.push(request);
        return slots.put(request, call);
      },
      expire: (request, call) => {
        methods.push("expire");
        return slots.expire(request, call);
      },
    },
    episodic: {
      ...episodic,
      log: (request, call) => {
        logs.push(request);
        return episodic.log(request, call);
      },
    },
  };
  const clock = new HandClock();
  return { store: createMemoryStore(driver, { clock }), clock, puts, logs, methods };
}

describe("two lines of one (scope, id)", () => {
  test("with other content are a conflict of the second, and the first is held", async () => {
    const { store } = opened();
    const lines = [episode(), episode({ value: 2 })];
    await expect(importRecords(store, lines)).rejects.toMatchObject({ code: "MEMORY_CONFLICT", id: "e", key: "k" });
    expect((await store.episodes(ann)).map(({ record }) => record.value)).toEqual([1]);
  });

  test("with the same content, its members in any order, are one episode", async () => {
    const { store, logs } = opened();
    const lines = [episode({ value: { a: 1, b: 2 } }), episode({ value: { b: 2, a: 1 } })];
    await importRecords(store, lines);
    expect(await store.episodes(ann)).toHaveLength(1);
    expect(logs.map((entries) => entries.length)).toEqual([1]);
  });
});

test("of vectors with one key the last is held, and each counts as a line, as those of other kinds do", async () => {
  const { store } = opened();
  const embedding = Array.from({ length: 384 }, (_, at) => (at === 0 ? 1 : 0));
  const vector = (value: number): MemoryExport => ({
    record: { ...working({ key: "v", value, embedding }), kind: "semantic" },
  });
  const lines = [vector(1), episode(), episode(), vector(2)];
  expect(await importRecords(store, lines)).toEqual({ counts: { semantic: 2, episodic: 2 }, records: 4 });
  expect((await store.recall(ann, "v"))?.value).toBe(2);
});

describe("lines of several scopes with one id", () => {
  const both = [episode({ value: { a: 1, b: 2 } }), episode({ scope: bob, value: { c: 3, d: 4 } })];

  test("are an episode each", async () => {
    const { store } = opened();
    expect(await importRecords(store, both)).toEqual({ counts: { episodic: 2 }, records: 2 });
    expect((await store.episodes(bob))[0]?.record.value).toEqual({ c: 3, d: 4 });
  });

  test("are each held against their own scope where a driver compares as text", async () => {
    const { store } = opened();
    await importRecords(store, both);
    const again = [episode({ value: { b: 2, a: 1 } }), episode({ scope: bob, value: { d: 4, c: 3 } })];
    await importRecords(store, [...again, episode({ id: "new" })]);
    expect((await store.episodes(ann)).map(({ record }) => record.id).sort()).toEqual(["e", "new"]);
    const crossed = episode({ scope: bob, value: { a: 1, b: 2 } });
    await expect(importRecords(store, [crossed])).rejects.toMatchObject({ code: "MEMORY_CONFLICT" });
  });
});

describe("a line that lacks something", () => {
  test("is refused: an episode without its validFrom", async () => {
    const { store, logs } = opened();
    const { validFrom: _, ...record } = episode().record;
    await expect(importRecords(store, [{ record }])).rejects.toMatchObject({ code: "MEMORY_RECORD", path: "1.record" });
    expect(logs).toEqual([]);
  });

  test.each<[string, object]>([
    ["expiresInMS", { record: working(), expiresInMS: 5 }],
    ["lineage", { record: working(), lineage: 1 }],
    ["settles", episode({}, { settles: [1] })],
    ["expiresInMs", episode({}, { expiresInMs: 5 })],
    ["__proto__", JSON.parse(JSON.stringify(episode()).replace("{", '{"__proto__":1,'))],
  ])("or holds beside its record what its kind does not know is refused: %s", async (name, line) => {
    const { store } = opened();
    const error = { code: "MEMORY_RECORD", path: `1.${name}` };
    await expect(importRecords(store, [untyped(line)])).rejects.toMatchObject(error);
  });

  test("is taken with what is said to be absent, and a number of a version where there are none is passed over", async () => {
    const { store } = opened();
    const line = { ...episode({ version: 7 }), lineage: undefined, expiresInMs: undefined };
    await importRecords(store, [untyped(line), { record: working({ version: 7 }) }]);
    expect((await store.episodes(ann))[0]?.record).not.toHaveProperty("version");
    expect(await store.read(ann, "k")).not.toHaveProperty("version");
  });

  test.each([
    ["its version", { version: undefined }, 1, []],
    ["its validFrom", { validFrom: undefined }, 1, []],
    ["its recordedAt, which would be another one each time", { recordedAt: undefined }, 1, []],
    ["its lineage", {}, undefined, []],
    ["a number in what it settles", {}, 1, [0]],
  ])("is refused: a version without %s", async (_, missing, lineage, settles) => {
    const { store } = opened();
    const fields = { kind: "profile", validFrom: 1, recordedAt: 1, version: 1, ...missing };
    const given = Object.entries({ ...working(), ...fields }).filter(([, value]) => value !== undefined);
    const line = { record: Object.fromEntries(given), ...(lineage === undefined ? {} : { lineage }), settles };
    await expect(importRecords(store, [untyped(line)])).rejects.toMatchObject({ code: "MEMORY_RECORD" });
    expect(await store.history(ann)).toEqual([]);
  });
});

describe("an error says in which line it arose:", () => {
  const late = (line: unknown) => [episode(), { record: working() }, untyped<MemoryExport>(line)];
  const bad = (fields: object) => late({ record: { ...working(), ...fields } });
  test.each<[string, MemoryExport[], object]>([
    ["no line at all", late(null), { code: "MEMORY_RECORD", path: "3.record.kind" }],
    ["an unknown kind", bad({ kind: "dream" }), { code: "MEMORY_RECORD", path: "3.record.kind" }],
    ["a value that is no JSON", bad({ value: { a: [1n] } }), { code: "MEMORY_RECORD", path: "3.record.value.a.0" }],
    [
      "an element that is no JSON",
      bad({ value: [1, new Date()] }),
      { code: "MEMORY_RECORD", path: "3.record.value.1" },
    ],
    ["no scope", bad({ scope: undefined }), { code: "MEMORY_SCOPE", path: "3.record.scope" }],
    ["a scope without its tenant", bad({ scope: {} }), { code: "MEMORY_SCOPE", path: "3.record.scope.tenantId" }],
    ["a vector of another width", bad({ kind: "semantic", embedding: [1] }), { code: "EMBEDDING_DIMENSION" }],
  ])("%s", async (_what, lines, expected) => {
    const error: unknown = await importRecords(opened().store, lines).catch((raised: unknown) => raised);
    expect(error).toMatchObject({ ...expected, message: expect.stringMatching(/^line 3: /) });
    expect(String(Reflect.get(Object(error), "stack")).split("line 3: ")).toHaveLength(2);
  });

  test("a conflict among what is written together names the line of its episode", async () => {
    const { store } = opened();
    await store.log(ann, { id: "held", key: "k", value: 1, source: "s" });
    const lines = [{ record: working() }, episode(), episode({ id: "held", value: 2 }), episode({ id: "after" })];
    await expect(importRecords(store, lines)).rejects.toMatchObject({
      code: "MEMORY_CONFLICT",
      message: expect.stringMatching(/^line 3: /),
    });
  });

  test("what is written together and refused together names the first line and the last", async () => {
    const { clock } = opened();
    const inner = inMemoryDriver();
    const { episodic } = inner;
    if (episodic === undefined) throw new Error("the section is missing");
    const refusing = { ...inner, episodic: { ...episodic, log: () => Promise.reject(new Error("no")) } };
    const lines = [{ record: working() }, episode(), episode({ id: "other" })];
    await expect(importRecords(createMemoryStore(refusing, { clock }), lines)).rejects.toMatchObject({
      code: "MEMORY_UNAVAILABLE",
      message: expect.stringMatching(/^lines 2 to 3: /),
    });
  });

  test("what the caller stops with stays as it is, also an error of ours", async () => {
    const { store } = opened();
    const controller = new AbortController();
    const reason = new MemoryRecordError("mine", { path: "mine" });
    function* lines(): Generator<MemoryExport> {
      controller.abort(reason);
      yield { record: working() };
    }
    await expect(importRecords(store, lines(), { signal: controller.signal })).rejects.toBe(reason);
    expect([reason.message, reason.path]).toEqual(["mine", "mine"]);
  });
});

describe("versions that do not follow one another are a conflict, and nothing is written:", () => {
  const version = (number: number, fields: Partial<MemoryRecord> = {}, lineage = 1): MemoryExport => ({
    record: {
      ...working({ id: `p${number}`, value: number }),
      kind: "profile",
      version: number,
      validFrom: number,
      recordedAt: number * 10,
      ...fields,
    },
    lineage,
  });
  const held = [version(1), version(2)];
  test.each<[string, MemoryExport]>([
    ["one that leaves a number out", version(4)],
    ["one that was recorded before the one before it", version(3, { recordedAt: 19 })],
    ["one whose id another key holds", version(1, { key: "other", id: "p2" })],
    ["one whose id another version of its key has", version(3, { id: "p2" })],
    ["one that continues a lineage that is not there", version(3, {}, 3)],
    ["one that is there with another id", version(2, { id: "else" })],
    ["one that is there with another value", version(2, { value: "else" })],
    ["one that is there and was recorded at another time", version(2, { recordedAt: 21 })],
    ["one that is there in another lineage", version(2, {}, 2)],
    ["one that is there and settled nothing", { ...version(2), settles: [2] }],
  ])("%s", async (_what, line) => {
    const { store } = opened();
    await importRecords(store, held);
    const before = await store.history(ann);
    await expect(importRecords(store, [line])).rejects.toMatchObject({ code: "MEMORY_CONFLICT" });
    expect(await store.history(ann)).toEqual(before);
  });

  test("and those that do follow, or are there, are taken", async () => {
    const { store } = opened();
    await importRecords(store, held);
    const again = [...held, version(3, { recordedAt: 20 }), version(4, {}, 2)];
    expect(await importRecords(store, again)).toEqual({ counts: { profile: 4 }, records: 4 });
    expect((await store.history(ann)).map(({ version: number }) => number)).toEqual([1, 2, 3, 4]);
  });
});

test("an import that is stopped takes no further line", async () => {
  const { store } = opened();
  const controller = new AbortController();
  const given: string[] = [];
  function* lines(): Generator<MemoryExport> {
    for (const id of ["a", "b", "c"]) {
      given.push(id);
      yield episode({ id });
      if (id === "a") controller.abort(new RangeError("stop"));
    }
  }
  await expect(importRecords(store, lines(), { signal: controller.signal })).rejects.toThrow("stop");
  expect(given).toEqual(["a", "b"]);
  expect(await store.episodes(ann)).toEqual([]);
});

test("an import that fails in the middle has brought the lines before", async () => {
  const { store } = opened();
  const embedding = Array.from({ length: 384 }, (_, at) => (at === 0 ? 1 : 0));
  const lines = [
    episode(),
    { record: { ...working({ key: "v", id: "v", embedding }), kind: "semantic" as const } },
    { record: working() },
    { record: working({ key: " " }) },
    episode({ id: "after" }),
  ];
  await expect(importRecords(store, lines)).rejects.toMatchObject({ code: "MEMORY_RECORD", path: "4.record.key" });
  expect((await store.episodes(ann)).map(({ record }) => record.id)).toEqual(["e"]);
  expect(await store.recall(ann, "v")).not.toBeNull();
  expect(await store.read(ann, "k")).not.toBeNull();
});

describe("the lines before the one that an import fails on are imported, and none after it,", () => {
  const embedding = Array.from({ length: 384 }, (_, at) => (at === 0 ? 1 : 0));
  const vector = (key: string): MemoryExport => ({ record: { ...working({ key, embedding }), kind: "semantic" } });
  const there = async (store: MemoryStore) => [
    ...(await store.episodes(ann)).map(({ record }) => record.id).sort(),
    ...(await Promise.all(["v", "w"].map((key) => store.recall(ann, key)))).map((record) => record?.key),
  ];

  test("where it is an episode among others and among vectors", async () => {
    const { store } = opened();
    await store.log(ann, { id: "held", key: "k", value: 1, source: "s" });
    const lines = [episode(), vector("v"), episode({ id: "held", value: 2 }), episode({ id: "after" }), vector("w")];
    await expect(importRecords(store, lines)).rejects.toMatchObject({
      code: "MEMORY_CONFLICT",
      message: expect.stringMatching(/^line 3: /),
    });
    expect(await there(store)).toEqual(["e", "held", "v", undefined]);
  });

  test("which is the first of several, whichever the driver finds first", async () => {
    const { store } = opened();
    for (const id of ["x", "y", "z"]) await store.log(ann, { id, key: "k", value: 1, source: "s" });
    const lines = [episode(), ...["z", "x", "y"].map((id) => episode({ id, value: 2 })), vector("v")];
    await expect(importRecords(store, lines)).rejects.toMatchObject({ message: expect.stringMatching(/^line 2: /) });
    expect(await there(store)).toEqual(["e", "x", "y", "z", undefined, undefined]);
  });

  test("where all of one kind fail together, those of another kind before them", async () => {
    const inner = inMemoryDriver();
    const { episodic } = inner;
    if (episodic === undefined) throw new Error("the section is missing");
    const refusing = { ...inner, episodic: { ...episodic, log: () => Promise.reject(new Error("no")) } };
    const store = createMemoryStore(refusing, { clock: new HandClock() });
    const lines = [vector("v"), episode(), vector("w"), episode({ id: "other" })];
    await expect(importRecords(store, lines)).rejects.toMatchObject({
      code: "MEMORY_UNAVAILABLE",
      message: expect.stringMatching(/^lines 2 to 4: /),
    });
    expect(await there(store)).toEqual(["v", undefined]);
  });
});

test("a source that fails in the middle has brought the lines before, and its error comes out", async () => {
  const { store } = opened();
  async function* broken(): AsyncGenerator<MemoryExport> {
    yield episode();
    throw new RangeError("the file ends here");
  }
  await expect(importRecords(store, broken())).rejects.toBeInstanceOf(RangeError);
  expect(await store.episodes(ann)).toHaveLength(1);
});

describe("a working line", () => {
  test("brings its expiry along in the call that puts it", async () => {
    const { store, clock, puts, methods } = opened();
    await importRecords(store, [{ record: working(), expiresInMs: 1_500 }]);
    expect(methods).toEqual(["put"]);
    expect(puts[0]?.expiresInMs).toBe(1_500);
    await clock.advance(1_499);
    expect(await store.read(ann, "k")).not.toBeNull();
    await clock.advance(1);
    expect(await store.read(ann, "k")).toBeNull();
  });

  test("that was about to expire is about to expire, and does not stay", async () => {
    const { store, puts } = opened();
    await importRecords(store, [{ record: working(), expiresInMs: 0 }]);
    expect(puts[0]?.expiresInMs).toBe(1);
  });

  test("without one stays", async () => {
    const { store, puts } = opened();
    await importRecords(store, [{ record: working() }]);
    expect(puts[0]?.expiresInMs).toBeUndefined();
  });

  test.each([-1, Number.NaN, "1", null])("is refused with an expiry of %j", async (expiresInMs) => {
    const { store, puts } = opened();
    const line = untyped<MemoryExport>({ record: working(), expiresInMs });
    await expect(importRecords(store, [line])).rejects.toMatchObject({ code: "MEMORY_RECORD", path: "1.expiresInMs" });
    expect(puts).toEqual([]);
  });
});

test("a redacted single value that becomes the first of a sequence keeps its mark there, and carries it along", async () => {
  const { store } = opened();
  await store.write(ann, { key: "k", value: "ask ana@example.org", source: "s" });
  await store.append(ann, "k", "plain");
  await store.append(ann, "k", { to: "ben@example.org" });
  const marks = ["value.0", "value.2.to"];
  expect((await store.read(ann, "k"))?.redacted).toEqual(marks);
  expect((await store.read(ann, "k", { last: 1 }))?.redacted).toEqual(["value.0.to"]);
  const elsewhere = opened().store;
  await importRecords(elsewhere, exportScope(store, ann));
  expect(await elsewhere.read(ann, "k")).toMatchObject({
    value: ["ask [redacted]", "plain", { to: "[redacted]" }],
    redacted: marks,
  });
});
