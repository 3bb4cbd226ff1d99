// What a store does with the broken parts that an application may give it: clocks, observers, options.

import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { untyped } from "../../test/untyped.ts";
import { InMemoryMemoryStore } from "../in-memory.ts";
import type { MemoryEvent } from "../model/event.ts";

const scope = { tenantId: "acme" };
const record = { key: "k", value: 1, source: "test" };
const unhandled: unknown[] = [];
const note = (reason: unknown) => unhandled.push(reason);

beforeEach(() => {
  unhandled.length = 0;
  process.on("unhandledRejection", note);
});

afterEach(() => {
  process.off("unhandledRejection", note);
});

function clockAt(now: unknown): InMemoryMemoryStore {
  const clock = { now: () => untyped<number>(now), sleep: () => new Promise<never>(() => {}) };
  return new InMemoryMemoryStore({ clock });
}

describe("a clock", () => {
  test.each([Number.NaN, Number.POSITIVE_INFINITY, 1e17, "5", undefined])(
    "that gives %s is refused, and nothing is stored",
    async (now) => {
      const refusal = { code: "MEMORY_SETTINGS", setting: "clock" };
      await expect(clockAt(now).write(scope, record)).rejects.toMatchObject(refusal);
    },
  );

  test.each([
    [1.9, 1],
    [-0.5, 0],
  ])("that gives %s is cut to whole milliseconds", async (now, recordedAt) => {
    await expect(clockAt(now).write(scope, record)).resolves.toHaveProperty("recordedAt", recordedAt);
  });
});

test.each<[string, unknown]>([
  ["options", null],
  ["options", 7],
  ["without", { without: "working" }],
  ["without", { without: ["dreams"] }],
  ["toString", { toString: 1 }],
  ["clock", { clock: { now: 5 } }],
  ["redactor", { redactor: false }],
  ["contradictions", { contradictions: () => "branch" }],
  [
    "derivedIndices",
    {
      derivedIndices: [
        { name: "a", purge: async () => {} },
        { name: "a", purge: async () => {} },
      ],
    },
  ],
])("options are refused, and `setting` names %s", (setting, options) => {
  const open = () => new InMemoryMemoryStore(untyped(options));
  expect(open).toThrow(expect.objectContaining({ code: "MEMORY_SETTINGS", setting }));
});

test("an asynchronous observer that rejects leaves no unhandled rejection", async () => {
  const onEvent = async () => {
    throw new Error("an observer's own fault");
  };
  await new InMemoryMemoryStore({ onEvent }).write(scope, record);
  await new Promise((resolve) => setImmediate(resolve));
  expect(unhandled).toEqual([]);
});

test("an operation under a clock that is set back took no time, and never less", async () => {
  let now = 5_000;
  const clock = { now: () => now, sleep: () => new Promise<never>(() => {}) };
  const events: MemoryEvent[] = [];
  const store = new InMemoryMemoryStore({
    clock,
    onEvent: (event) => events.push(event),
    redactor: {
      redact: (text) => {
        now -= 1_000;
        return text;
      },
    },
  });
  await store.write(scope, record);
  expect(events).toMatchObject([{ operation: "write", durationMs: 0, outcome: "ok" }]);
});
