// The model-based run: random sequences of operations through the store under test and through a reference, everything
// observable compared after each step. A difference is shrunk to the shortest sequence that shows it, and printed with
// what it takes to run it again.

import type { MemoryKind, MemoryStore } from "@memory/core";
import fc from "fast-check";
import type { ConformanceTarget, StoreOptions } from "../context.ts";
import { FakeClock } from "../fake-clock.ts";
import { KINDS } from "../kinds.ts";
import { Comparison } from "./difference.ts";
import { ModelDifference, ModelRunFailure } from "./failure.ts";
import { type Look, looksAfter, looksAtEnd, type Sights } from "./look.ts";
import { type Operation, type Sequence, sequences } from "./operation.ts";
import {
  ending,
  type Hints,
  keyOf,
  notingIndices,
  perform,
  type Side,
  scopeOf,
  TTL_MS,
  type World,
  worldOf,
} from "./side.ts";

/** How long a run is, and where it starts. */
export interface ModelRunOptions {
  /** How many sequences. */
  readonly sequences: number;
  /** Makes the same sequences again; default: random. It is in the report and in the error. */
  readonly seed?: number;
  /** With the seed of a failed run: goes straight to its shrunk sequence. */
  readonly path?: string;
  /** Only these kinds; default: all that the store under test has. */
  readonly kinds?: readonly MemoryKind[];
  /** The most steps of a sequence, which has half as many on average; default 50. */
  readonly mostSteps?: number;
  /** Opens every store with this; default: no bound. A small one is reached. */
  readonly maxElements?: number;
}

/** What a run did. */
export interface ModelRunReport {
  readonly seed: number;
  readonly sequences: number;
  /** Steps done to each store. */
  readonly steps: number;
  /** Answers compared. */
  readonly comparisons: number;
}

/**
 * Drives random sequences of operations through `target` and `reference` and compares every answer, every error with its
 * fields, and after each step what both then hold. The reference may be the in-memory store or the naive model, opened
 * with the same width and metric; it is opened anew for every sequence, the target once for each way of expiring. Every
 * sequence works in tenants of its own; nothing is flushed, and runs may go side by side. Ids and instants are given; the
 * clock is a fake one, and where a server owns expiry it is moved by the target's `elapse`: without that, a store whose
 * keys do not expire by the store's clock differs.
 *
 * @throws {ModelRunFailure} They differ: the message holds the seed, the path and the shrunk sequence.
 * @throws {RangeError} The reference cannot do what the target can, or holds vectors of another width.
 */
export async function modelBasedRun(
  target: ConformanceTarget,
  reference: ConformanceTarget,
  options: ModelRunOptions,
): Promise<ModelRunReport> {
  const seed = options.seed ?? Math.floor(Math.random() * 0x7fff_ffff);
  const run = new Run(target, reference, options);
  try {
    const shape = { ...(await run.sights()), most: options.mostSteps ?? 50 };
    const property = fc.asyncProperty(sequences(shape), (sequence) => run.once(sequence));
    const details = await fc.check(property, {
      seed,
      numRuns: options.sequences,
      endOnFailure: false,
      ...(options.path === undefined ? {} : { path: options.path }),
    });
    if (details.failed) throw failure(target, reference, details);
    return { seed, sequences: details.numRuns, steps: run.steps, comparisons: run.comparisons };
  } finally {
    await run.close();
  }
}

class Run {
  steps = 0;
  comparisons = 0;
  readonly #clock: FakeClock = new FakeClock();
  readonly #start: number = this.#clock.now();
  readonly #name: string = Math.random().toString(36).slice(2, 10);
  readonly #target: ConformanceTarget;
  readonly #reference: ConformanceTarget;
  readonly #options: ModelRunOptions;
  readonly #opened: Map<string, Side> = new Map();
  #sights: Sights | undefined;
  #count = 0;

  constructor(target: ConformanceTarget, reference: ConformanceTarget, options: ModelRunOptions) {
    this.#target = target;
    this.#reference = reference;
    this.#options = options;
  }

  /** What the store under test can do, of what is asked for. */
  async sights(): Promise<Sights> {
    const { capabilities } = (await this.#openTarget("none")).store;
    const kinds = KINDS.filter((kind) => capabilities[kind] && (this.#options.kinds ?? KINDS).includes(kind));
    const reference = await this.#reference.open({ clock: this.#clock });
    const wants = kinds.filter((kind) => !reference.capabilities[kind]);
    const width = reference.capabilities.embeddingDimensions;
    await reference.close();
    if (kinds.length === 0 || wants.length > 0) throw new RangeError(`the reference lacks: ${wants.join(", ")}`);
    if (kinds.includes("semantic") && width !== capabilities.embeddingDimensions) {
      throw new RangeError(
        `the reference holds vectors of ${width}, the target of ${capabilities.embeddingDimensions}`,
      );
    }
    this.#sights = { kinds, capabilities };
    return this.#sights;
  }

  /** One sequence through both. */
  async once(sequence: Sequence): Promise<void> {
    this.#clock.set(this.#start);
    this.#count += 1;
    const world = worldOf(sequence, `model-${this.#name}-${this.#count}.`, this.#start);
    const expiry = sequence.backwards ? "none" : sequence.expiry;
    const tested = await this.#openTarget(expiry);
    const indices = notingIndices();
    const model: Side = { store: await this.#open(this.#reference, expiry, indices), indices, walk: undefined };
    // A sequence before this one may have ended in the middle.
    tested.walk = undefined;
    purgesOf(tested);
    try {
      await this.#drive(tested, model, world);
    } finally {
      await model.store.close();
    }
  }

  async close(): Promise<void> {
    for (const { store } of this.#opened.values()) await store.close();
  }

  async #drive(tested: Side, model: Side, world: World): Promise<void> {
    const sights = this.#sights ?? (await this.sights());
    const comparison = new Comparison({ exactExpiry: this.#target.elapse === undefined });
    for (const [at, step] of world.sequence.steps.entries()) {
      this.steps += 1;
      const where = `step ${at + 1} (${step.op})`;
      if (step.op === "advance") {
        await this.#advance(step.ms, world.sequence.backwards);
        continue;
      }
      if (step.op === "expire" && world.sequence.backwards) continue;
      const hints = await hintsFor(step, model.store, world);
      await this.#compare(comparison, where, (side) => perform(side, world, step, hints), tested, model);
      if (step.op === "erase") this.#comparePurges(comparison, where, tested, model);
      await this.#look(comparison, where, looksAfter(step, world, sights), tested, model);
    }
    await this.#look(comparison, "the end", looksAtEnd(world, sights), tested, model);
  }

  async #advance(ms: number, backwards: boolean): Promise<void> {
    if (ms < 0 && !backwards) return;
    this.#clock.advance(ms);
    if (ms > 0) await this.#target.elapse?.(ms);
  }

  async #look(comparison: Comparison, where: string, looks: readonly Look[], tested: Side, model: Side): Promise<void> {
    for (const look of looks) {
      await this.#compare(comparison, `${where}, then ${look.name}`, (side) => look.ask(side.store), tested, model);
    }
  }

  async #compare(
    comparison: Comparison,
    where: string,
    call: (side: Side) => Promise<unknown> | undefined,
    tested: Side,
    model: Side,
  ): Promise<void> {
    this.comparisons += 1;
    const expected = await ending(async () => call(model));
    const actual = await ending(async () => call(tested));
    const found = comparison.difference(actual, expected);
    if (found !== undefined) throw differs(where, found, actual, expected);
  }

  #comparePurges(comparison: Comparison, where: string, tested: Side, model: Side): void {
    const [actual, expected] = [purgesOf(tested), purgesOf(model)];
    const found = comparison.difference(actual, expected, "purged");
    if (found !== undefined) throw differs(where, found, actual, expected);
  }

  async #openTarget(expiry: Sequence["expiry"]): Promise<Side> {
    const there = this.#opened.get(expiry);
    if (there !== undefined) return there;
    const indices = notingIndices();
    const side: Side = { store: await this.#open(this.#target, expiry, indices), indices, walk: undefined };
    this.#opened.set(expiry, side);
    return side;
  }

  async #open(from: ConformanceTarget, expiry: Sequence["expiry"], indices: Side["indices"]): Promise<MemoryStore> {
    const { maxElements } = this.#options;
    const options: StoreOptions = {
      clock: this.#clock,
      derivedIndices: indices,
      ...(expiry === "none" ? {} : { ttlMs: TTL_MS, sliding: expiry === "sliding" }),
      ...(maxElements === undefined ? {} : { maxElements }),
    };
    return await from.open(options);
  }
}

async function hintsFor(step: Operation, reference: MemoryStore, world: World): Promise<Hints> {
  const none: Hints = { holds: [], newest: 0, last: undefined };
  if (step.op !== "repeat" && step.op !== "supersede") return none;
  if (step.op === "supersede" && step.expects !== "newest" && (step.settles === undefined || "ids" in step.settles))
    return none;
  const scope = scopeOf(world, step.scope);
  const key = keyOf(world, step.key);
  const { record, contradiction } = await reference.belief(scope, key);
  const versions = await reference.history(scope, key);
  const holds = contradiction?.holds ?? (record === null ? [] : [record]);
  return {
    holds: holds.map((one) => one.id),
    newest: versions.at(-1)?.version ?? 0,
    last: versions.at(-1 - (step.op === "repeat" ? step.back : 0)),
  };
}

function purgesOf(side: Side): readonly string[] {
  const all = side.indices.flatMap((index) => [...index.purged]).sort();
  for (const index of side.indices) index.purged.clear();
  return all;
}

function differs(where: string, found: string, actual: unknown, expected: unknown): ModelDifference {
  return new ModelDifference(`${where}: ${found}`, print(actual), print(expected));
}

function print(answer: unknown): string {
  const text = JSON.stringify(answer) ?? "undefined";
  return text.length > 4_000 ? `${text.slice(0, 4_000)}...` : text;
}

function failure(
  target: ConformanceTarget,
  reference: ConformanceTarget,
  details: fc.RunDetails<[Sequence]>,
): ModelRunFailure {
  const [sequence] = details.counterexample ?? [];
  const cause: unknown = details.errorInstance;
  const { steps = [], ...world } = sequence ?? {};
  return new ModelRunFailure({
    names: [target.name, reference.name],
    seed: details.seed,
    path: details.counterexamplePath ?? "",
    world: JSON.stringify(world),
    steps: steps.map((step) => JSON.stringify(step)),
    cause,
  });
}
