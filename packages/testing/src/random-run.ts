// The model-based run as one test of the suite, beside the cases: random sequences of operations through the store under
// test and through the in-memory reference. What it finds goes into the report with what it takes to see it again.

import { AssertionError } from "node:assert/strict";
import type { MemoryCapabilities } from "@memory/core";
import { InMemoryMemoryStore } from "@memory/core/in-memory";
import type { ConformanceTarget } from "./context.ts";
import { ModelRunFailure } from "./model/failure.ts";
import { type ModelRunOptions, modelBasedRun } from "./model/run.ts";

/** The environment's names for the seed and the path of a run that failed: with both, only its sequence is run. */
export const SEED_VARIABLE = "MEMORY_CONFORMANCE_SEED";
export const PATH_VARIABLE = "MEMORY_CONFORMANCE_PATH";

/** How random sequences are run beside the cases. */
export interface RandomRunOptions extends ModelRunOptions {
  /** What the store is compared with; default: the in-memory store, as wide as the store under test. */
  readonly reference?: ConformanceTarget;
  /** How the store under test measures resemblance, for the default reference; default `cosine`. */
  readonly metric?: "cosine" | "l2" | "inner";
}

/** What became of the random sequences. */
export interface RandomRunResult {
  /** The reference's name. */
  readonly reference: string;
  /** Makes the same sequences again. */
  readonly seed: number;
  /** How many sequences were asked for. */
  readonly sequences: number;
  /** Answers compared; `null` where the run failed. */
  readonly comparisons: number | null;
  /** What it failed with: a `ModelRunFailure` where the stores differ; `undefined` where they do not. */
  readonly error: unknown;
}

/** The name of the test, which a replay gives to the runner. */
export const RANDOM_TEST = "model/random-sequences";

/** What the test claims. */
export const RANDOM_PROMISE = "Random sequences of operations are answered as the reference answers them.";

/**
 * Runs the sequences. A failure is in the result.
 *
 * @throws {RangeError} The environment's seed is no whole number.
 */
export async function randomRun(
  target: ConformanceTarget,
  capabilities: MemoryCapabilities,
  options: RandomRunOptions,
): Promise<RandomRunResult> {
  const { reference = referenceFor(capabilities, options.metric), metric: _, ...plain } = options;
  const run = { seed: Math.floor(Math.random() * 0x7fff_ffff), ...plain, ...fromEnvironment() };
  const common = { reference: reference.name, sequences: run.sequences, seed: run.seed };
  try {
    const { comparisons } = await modelBasedRun(target, reference, run);
    return { ...common, comparisons, error: undefined };
  } catch (error) {
    return { ...common, comparisons: null, error };
  }
}

/**
 * What the test of the run fails with: the shrunk sequence, and the line that runs it again.
 *
 * @param replay The command that runs the test alone; `null` where the runner is not known.
 */
export function sequenceBroken(target: string, error: unknown, replay: string | null): Error {
  if (!(error instanceof ModelRunFailure)) {
    return new Error(`${target} could not be compared: ${String(error)}`, { cause: error });
  }
  const variables = `${SEED_VARIABLE}=${error.seed} ${PATH_VARIABLE}=${error.path}`;
  const lines = [
    `${target} breaks a promise: ${RANDOM_PROMISE}`,
    `  at:       ${error.where}`,
    `  observed: ${error.observed}`,
    `  expected: ${error.wanted}`,
    `  sequence: ${error.sequence.map((step, at) => (at === 0 ? `in ${step}` : `            ${at}. ${step}`)).join("\n")}`,
    `  replay:   ${variables} ${replay ?? `and run the test whose name begins with ${RANDOM_TEST}`}`,
  ];
  const broken = new AssertionError({ message: lines.join("\n"), operator: "fail" });
  broken.cause = error;
  return broken;
}

function referenceFor(capabilities: MemoryCapabilities, metric: RandomRunOptions["metric"]): ConformanceTarget {
  const { embeddingDimensions: width } = capabilities;
  const semantic = width === null ? {} : { embeddingDimensions: width, ...(metric === undefined ? {} : { metric }) };
  return { name: "in-memory", open: (options) => new InMemoryMemoryStore({ ...options, ...semantic }) };
}

function fromEnvironment(): Pick<ModelRunOptions, "seed" | "path"> {
  const [seed, path] = [process.env[SEED_VARIABLE], process.env[PATH_VARIABLE]];
  if (seed === undefined || seed === "") return {};
  if (!/^-?\d+$/.test(seed)) throw new RangeError(`${SEED_VARIABLE} is no whole number`);
  return { seed: Number(seed), ...(path === undefined || path === "" ? {} : { path }) };
}
