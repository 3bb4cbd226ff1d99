// The demo as a person runs it: what it shows, when it fails, and what it refuses.

import type { MemoryStore } from "@memory/core";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fileOf, run, withOperations } from "./surroundings.ts";

const own = new URL("../data/conversations.jsonl", import.meta.url).pathname;

describe("the demo", () => {
  test("shows every kind of memory on its own conversations, without a mismatch", async () => {
    const { code, output, complaints } = await run([]);
    expect(code).toBe(0);
    expect(complaints).toBe("");
    // The wording of a refusal is core's.
    const shown = output.replace(/( +refused .*\n)(?: {21}\S.*\n)+/g, "$1");
    await expect(shown).toMatchFileSnapshot("demo-output.txt");
  });

  test("replays a file and checks it", async () => {
    const { code, output } = await run(["--input", own]);
    expect(code).toBe(0);
    expect(output).toMatch(/dialogues +3\n/);
    expect(output).toMatch(/embedded +14 of 14/);
    expect(output).toMatch(/mismatches +0\n/);
  });

  test("embeds no more than was asked for", async () => {
    expect((await run(["--input", own, "--embed", "6"])).output).toMatch(/embedded +6 of 14/);
    expect((await run(["--input", own, "--embed", "0"])).output).toMatch(/embedded +0 of 14/);
    expect((await run(["--input", own, "--embed", "all"])).output).toMatch(/embedded +14 of 14/);
  });

  test("says how far it has come on a long file", async () => {
    const lines = Array.from({ length: 40 }, (_, index) => talk({ id: `talk ${index}` }));
    const { code, output } = await run(["--input", await fileOf(lines.join("\n")), "--embed", "0"]);
    expect(code).toBe(0);
    expect(output.match(/replayed \d+ of 40/g)).toEqual(
      ["10", "20", "30", "40"].map((done) => `replayed ${done} of 40`),
    );
  });

  test("never prints what it masked in a file", async () => {
    const text = "write to someone@example.com";
    const file = await fileOf([talk({ id: "a", text }), talk({ id: "b", text: "write to a friend" })].join("\n"));
    const { code, output } = await run(["--input", file]);
    expect(code).toBe(0);
    expect(output).not.toContain("someone@");
  });

  test("colours a terminal only, and not where NO_COLOR asks for none", async () => {
    const file = await fileOf(talk({ id: "a" }));
    const sequence = "\u001b[";
    const args = ["--input", file, "--embed", "0"];
    expect((await run(args)).output).not.toContain(sequence);
    expect((await run(args, { isTTY: true })).output).toContain(sequence);
    expect((await run(args, { isTTY: true, environment: { NO_COLOR: "1" } })).output).not.toContain(sequence);
    expect((await run(args, { isTTY: true, environment: { TERM: "dumb" } })).output).not.toContain(sequence);
  });

  test("keeps control characters of a transcript from the terminal", async () => {
    const file = await fileOf(
      [talk({ id: "a", text: "look \u001b[2J here" }), talk({ id: "b", text: "look here" })].join("\n"),
    );
    const { code, output } = await run(["--input", file]);
    expect(code).toBe(0);
    expect(output).not.toContain("\u001b");
  });
});

describe("a store that is wrong", () => {
  const wrongs: Readonly<Record<string, (store: MemoryStore) => Partial<MemoryStore>>> = {
    "believes something else": (store) => ({
      beliefs: async (...args) => {
        const page = await store.beliefs(...args);
        const change = page.beliefs.map((belief) =>
          belief.record?.key === "Tables_1.guests"
            ? { ...belief, record: { ...belief.record, value: "another number" } }
            : belief,
        );
        return { ...page, beliefs: change };
      },
    }),
    "still believes what was taken back": (store) => ({
      supersede: (scope, record, options) => store.supersede(scope, { ...record, validTo: undefined }, options),
    }),
    "ignores what was asked as of when": (store) => ({
      beliefs: (scope, options) => store.beliefs(scope, { ...options, asOf: undefined, knownAt: undefined }),
    }),
    "loses a version": (store) => ({
      history: async (...args) => (await store.history(...args)).slice(1),
    }),
    "gives an episode twice": (store) => ({
      page: async (...args) => {
        const page = await store.page(...args);
        return { ...page, hits: [...page.hits, ...page.hits.slice(0, 1)] };
      },
    }),
    "gives the first turns for the last": (store) => ({
      read: async (scope, key, options) => {
        const record = await store.read(scope, key);
        if (record === null || !Array.isArray(record.value)) return record;
        return { ...record, value: record.value.slice(0, options?.last) };
      },
    }),
    "appends twice": (store) => ({
      append: async (...args) => {
        await store.append(...args);
        return await store.append(...args);
      },
    }),
    "finds nothing": () => ({ search: async () => [] }),
    "keeps what was to be erased": (store) => ({
      erase: (scope, options) => store.erase({ ...scope, tenantId: "nobody" }, options),
    }),
    "forgets to register what was derived": () => ({ derived: async () => {} }),
  };

  test.each(Object.entries(wrongs))("that %s is told, with exit code 1", async (_name, wrong) => {
    const { code, output } = await run([], { wrap: (store) => withOperations(store, wrong(store)) });
    expect(code).toBe(1);
    expect(output).toMatch(/mismatches +[1-9]/);
    expect(output).toContain("Mismatch: ");
  });
});

describe("what cannot be used", () => {
  test("an unknown argument is refused before anything starts", async () => {
    for (const args of [["--inputt", own], ["--wat"], ["file.jsonl"], ["--input"], ["--embed", "some"]]) {
      const { code, complaints, wasOpened } = await run(args);
      expect([code, wasOpened]).toEqual([1, false]);
      expect(complaints).toContain("--input FILE");
    }
  });

  test("help is no failure", async () => {
    const { code, output, wasOpened } = await run(["--help"]);
    expect([code, wasOpened]).toEqual([0, false]);
    expect(output).toContain("--input FILE");
  });

  test("a file that is missing, a folder, no text or malformed is refused before anything starts", async () => {
    const files = [
      "/nowhere/conversations.jsonl",
      new URL(".", import.meta.url).pathname,
      await fileOf("\ufeff\n\n"),
      await fileOf(`${talk({ id: "a" })}\n{`),
    ];
    for (const file of files) {
      const { code, complaints, output, wasOpened } = await run(["--input", file]);
      expect([code, output, wasOpened]).toEqual([1, "", false]);
      expect(complaints.startsWith(`${file}: `)).toBe(true);
    }
  });

  test("what the store refuses is told without its content", async () => {
    const wide = { wide: { slot: "x".repeat(17 * 1024 * 1024) } };
    const { code, complaints } = await run(["--input", await fileOf(talk({ id: "a", state: wide }))]);
    expect(code).toBe(1);
    expect(complaints).toContain("MEMORY_LIMIT");
    expect(complaints.length).toBeLessThan(400);
  });
});

test("whatever comes and goes in the annotated state, every answer is what it has to be", async () => {
  const name = fc.constantFrom("a", "a.b", "b", "a%2Eb", "__proto__", "me@example.com", " spaced ", "*", "日本");
  const value = fc.oneof(fc.constantFrom("one", "two", "me@example.com", null, true, 0), fc.jsonValue({ maxDepth: 2 }));
  const state = fc.option(
    fc.array(fc.tuple(name, fc.array(fc.tuple(name, value), { maxLength: 3 })), { maxLength: 3 }),
  );
  const turns = fc.array(state, { minLength: 1, maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(fc.array(turns, { minLength: 1, maxLength: 3 }), async (dialogues) => {
      const lines = dialogues.map((states, index) =>
        JSON.stringify({
          id: `talk ${index}`,
          services: [],
          turns: states.map((services) => ({
            speaker: "user",
            text: "and then",
            ...(services === null ? {} : { state: objectOf(services.map(([key, slots]) => [key, objectOf(slots)])) }),
          })),
        }),
      );
      const { code, output } = await run(["--input", await fileOf(lines.join("\n")), "--embed", "0"]);
      expect(output).toMatch(/mismatches +0\n/);
      expect(code).toBe(0);
    }),
    { numRuns: 150 },
  );
});

function talk(parts: { readonly id: string; readonly text?: string; readonly state?: unknown }): string {
  const { id, text = "good morning", state = {} } = parts;
  return JSON.stringify({ id, services: ["s"], turns: [{ speaker: "user", text, state }] });
}

// `Object.fromEntries` defines members, so that `__proto__` is one like any other.
function objectOf(entries: readonly (readonly [string, unknown])[]): Record<string, unknown> {
  return Object.fromEntries(entries);
}
