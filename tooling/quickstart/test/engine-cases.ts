// What the demo has to do on whatever engine keeps something: remember from run to run, answer right each time, and forget
// one person and nobody else.

import { HalfLife } from "@memory/core";
import { expect } from "vitest";
import { StoryClock } from "../src/clock.ts";
import { sentenceEmbedder } from "../src/embed.ts";
import { type EngineOptions, startEngine } from "../src/engine.ts";
import { Artefacts, canaryOf, everything, person, remember, TENANT } from "./people.ts";
import { run } from "./surroundings.ts";

/** Where an engine keeps things. */
export type Places = Omit<EngineOptions, "embedder">;

const small = new URL("small.jsonl", import.meta.url).pathname;

/** The walk, then a file twice: each run knows the one before, and none has a mismatch. Gives what the walk showed. */
export async function remembersEveryRun(places: Places, keepsTurns: boolean): Promise<string> {
  const kept = keepsTurns
    ? /remembered as +a fact, an episode and a vector, and still a turn of working\s+memory\n/
    : /remembered as +a fact, an episode and a vector\n/;
  const walk = await runOn(places, []);
  expect(walk.output).toMatch(/run +the first here\n/);
  const second = await runOn(places, ["--input", small]);
  expect(second.output).toMatch(/run +number 2 here, as it remembers\n/);
  expect(second.output).toMatch(/the last one +replayed 3 conversations of 27 turns, 0 mismatches\n/);
  expect(second.output).toMatch(kept);
  const third = await runOn(places, ["--input", small, "--embed", "1"]);
  expect(third.output).toMatch(/run +number 3 here, as it remembers\n/);
  expect(third.output).toMatch(/the last one +replayed 2 conversations of 5 turns, 0 mismatches\n/);
  expect(third.output).toMatch(kept);
  return walk.output;
}

/**
 * One of two people is forgotten through the routed store: the receipt counts what there was, what was derived is purged,
 * and nothing is left, also not in what `dump` finds in the engine itself once its stores are closed.
 */
export async function forgetsOnePerson(places: Places, dump: () => Promise<string>): Promise<void> {
  const embedder = sentenceEmbedder();
  const derived = new Artefacts();
  const engine = await startEngine({ ...places, embedder });
  const { store } = engine.open({
    clock: new StoryClock(Date.UTC(2026, 4, 4)),
    decay: new HalfLife({ halfLifeMs: 1e12, floor: 0 }),
    derivedIndices: [derived],
  });
  try {
    await store.verify();
    await remember(store, embedder, "anna");
    await remember(store, embedder, "bert");
    const ofBert = await everything(store, "bert");
    expect(ofBert.length).toBeGreaterThanOrEqual(6);
    const receipt = await store.erase(person("anna"));
    expect(receipt).toMatchObject({
      counts: { working: 1, profile: 2, episodic: 1, semantic: 2 },
      artefacts: 1,
      outstanding: [],
      complete: true,
    });
    expect(derived.purged).toEqual(["built of anna"]);
    expect(await everything(store, "anna")).toEqual([]);
    expect(await everything(store, "bert")).toEqual(ofBert);
  } finally {
    await store.close();
    await engine.close();
  }
  const found = await dump();
  expect(found).not.toContain(canaryOf("anna"));
  expect(found).not.toContain("built of anna");
  expect(found).toContain(canaryOf("bert"));
  expect(found).toContain(TENANT);
}

async function runOn(places: Places, args: readonly string[]): Promise<{ readonly output: string }> {
  const named = Object.entries(places).flatMap(([name, place]) => (place === undefined ? [] : [`--${name}`, place]));
  const result = await run([...args, ...named], { startEngine });
  expect(result).toMatchObject({ code: 0, complaints: "" });
  expect(result.output).toMatch(/mismatches +0\n/);
  return result;
}
