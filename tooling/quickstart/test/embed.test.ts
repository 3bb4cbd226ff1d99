// What the demo relies on in its sentence model.

import { expect, test } from "vitest";
import { sentenceEmbedder } from "../src/embed.ts";

const embedder = sentenceEmbedder();

test("a sentence has the same vector alone and among others", async () => {
  const texts = Array.from({ length: 11 }, (_, index) => `sentence number ${index}, and ${"more ".repeat(index)}`);
  const together = await embedder.embed(texts);
  expect(together.map((vector) => vector.length)).toEqual(texts.map(() => embedder.dimensions));
  const [alone] = await embedder.embed(texts.slice(9, 10));
  expect(cosine(alone ?? [], together[9] ?? [])).toBeCloseTo(1, 4);
});

test("what means the same is closer than what does not", async () => {
  const [asked, same, other] = await embedder.embed([
    "Is there a room for tonight?",
    "I am looking for a place to sleep.",
    "The train leaves at nine.",
  ]);
  expect(cosine(asked ?? [], same ?? [])).toBeGreaterThan(cosine(asked ?? [], other ?? []));
});

test("a very long text costs no more than its beginning", async () => {
  const [vector] = await embedder.embed(["word ".repeat(200_000)]);
  expect(vector?.length).toBe(embedder.dimensions);
});

function cosine(a: readonly number[], b: readonly number[]): number {
  const dot = (x: readonly number[], y: readonly number[]): number =>
    x.reduce((sum, value, index) => sum + value * (y[index] ?? 0), 0);
  return dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b));
}
