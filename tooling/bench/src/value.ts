// The values that the suites store: what a working record and a turn of an agent look like.

import type { JsonValue } from "@memory/core";

/** 386 bytes as JSON: a working record. */
export const VALUE: JsonValue = {
  user: "Ada Lovelace",
  city: "San Jose",
  party: 4,
  vegetarian: true,
  notes: "prefers a window seat, away from the kitchen",
  when: "2026-11-30T19:30:00.000Z",
  items: ["wine", "bread", "olives"],
  nested: { distance: 1.5, hint: null, text: "a longer piece of text that a person might have typed into a chat box" },
  ref: "0b9f2c1e-7a3d-4f7e-9b1a-2f6f7c9d8e10",
  lang: "en-GB",
  score: 0.87,
  tags: ["dinner", "friday"],
};

/** 97 bytes as JSON: a turn of a conversation. */
export const TURN: JsonValue = {
  role: "user",
  text: "we will be four on Friday, one of us eats no meat, is the window table free?",
};
