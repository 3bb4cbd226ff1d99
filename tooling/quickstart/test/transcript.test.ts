// What a transcript has to be, and how it is told what it is not.

import { expect, test } from "vitest";
import { factKey, parseTranscript, TranscriptError } from "../src/transcript.ts";

const turn = { speaker: "user", text: "hello", state: { Tables_1: { city: "Kyoto" } } };
const good = { id: "a", services: ["Tables_1"], turns: [turn, { speaker: "system", text: "yes?" }] };

test("a conversation comes out with its facts by key", () => {
  const [dialogue] = parseTranscript(`${JSON.stringify(good)}\r\n\n`);
  expect(dialogue?.turns.map((one) => one.facts && [...one.facts])).toEqual([
    [
      ["Tables_1", { service: "Tables_1", slot: null, value: true }],
      ["Tables_1.city", { service: "Tables_1", slot: "city", value: "Kyoto" }],
    ],
    undefined,
  ]);
});

test.each([
  ["no JSON", "{", "line 1 "],
  ["no object", "[]", "line 1 "],
  ["no id", line({ id: undefined }), "line 1: id "],
  ["a blank id", line({ id: " " }), "line 1: id "],
  ["an id with a NUL", line({ id: "a\0" }), "line 1: id "],
  ["an id of half a character", line({ id: "\ud800" }), "line 1: id "],
  ["a long id", line({ id: "é".repeat(101) }), "line 1: id "],
  ["no services", line({ services: undefined }), "line 1: services "],
  ["a service that is no text", line({ services: ["a", 1] }), "line 1: services[1] "],
  ["no turns", line({ turns: [] }), "line 1: turns "],
  ["turns that are no list", line({ turns: {} }), "line 1: turns "],
  ["a turn that is no object", line({ turns: [turn, null] }), "line 1: turns[1] "],
  ["another speaker", line({ turns: [{ ...turn, speaker: "agent" }] }), "line 1: turns[0].speaker "],
  ["a turn without a text", line({ turns: [{ ...turn, text: undefined }] }), "line 1: turns[0].text "],
  ["a state that is no object", line({ turns: [{ ...turn, state: null }] }), "line 1: turns[0].state "],
  ["a service without slots", line({ turns: [{ ...turn, state: { s: "x" } }] }), "line 1: turns[0].state.s "],
  ["a blank service", line({ turns: [{ ...turn, state: { " ": {} } }] }), 'line 1: turns[0].state." " '],
  ["a blank slot", line({ turns: [{ ...turn, state: { s: { "": 1 } } }] }), 'line 1: turns[0].state.s."" '],
  ["a key too long", line({ turns: [{ ...turn, state: { s: { ["x".repeat(1_023)]: 1 } } }] }), "line 1: turns[0]."],
  ["an id twice", `${line({})}\n\n${line({})}`, "line 3: "],
  ["nothing", "\n \n", "holds no conversation"],
])("%s is refused with its place", (_what, text, place) => {
  const refused = caught(() => parseTranscript(text));
  expect(refused).toBeInstanceOf(TranscriptError);
  expect(String(Reflect.get(Object(refused), "message")).startsWith(place)).toBe(true);
});

test("no two slots meet in one key", () => {
  const pairs = [
    ["a.b", "c"],
    ["a", "b.c"],
    ["a%2Eb", "c"],
    ["a.b.c", null],
    ["a", null],
  ] as const;
  expect(new Set(pairs.map(([service, slot]) => factKey(service, slot))).size).toBe(pairs.length);
});

function line(parts: Readonly<Record<string, unknown>>): string {
  return JSON.stringify({ ...good, ...parts });
}

function caught(attempt: () => unknown): unknown {
  try {
    return attempt();
  } catch (error) {
    return error;
  }
}
