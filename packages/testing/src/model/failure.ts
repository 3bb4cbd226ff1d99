// How a model-based run fails: with the shortest sequence that shows the difference, both answers, and what makes the
// same sequence again. The message says it all: an assertion error's diff of whole answers would bury it, and its type in
// the declarations would need the types of Node wherever the suite is imported.

/** Two stores answered differently: where, and what each said, as text. */
export class ModelDifference extends Error {
  override readonly name = "ModelDifference";
  readonly where: string;
  readonly answered: string;
  readonly wanted: string;
  constructor(where: string, answered: string, wanted: string) {
    super(`${where}\n  answered ${answered}\n  expected ${wanted}`);
    this.where = where;
    this.answered = answered;
    this.wanted = wanted;
  }
}

/** A store differs from the reference over a sequence of operations, which is shrunk. */
export class ModelRunFailure extends Error {
  override readonly name = "ModelRunFailure";
  /** Makes the same sequences again. */
  readonly seed: number;
  /** With the seed: goes straight to the shrunk sequence. */
  readonly path: string;
  /** The step at which the answers differ, and how. */
  readonly where: string;
  /** What the store under test answered, as text. */
  readonly observed: string;
  /** What the reference answered, as text. */
  readonly wanted: string;
  /** How the sequence was set up, and its steps in order, as JSON each. */
  readonly sequence: readonly string[];

  /** @param parts `names` are those of the store under test and of the reference; `cause` is what the sequence failed with. */
  constructor(parts: {
    readonly names: readonly [target: string, reference: string];
    readonly seed: number;
    readonly path: string;
    readonly world: string;
    readonly steps: readonly string[];
    readonly cause: unknown;
  }) {
    const { names, seed, path, world, steps, cause } = parts;
    const lines = [
      `${names[0]} differs from ${names[1]}: ${cause instanceof ModelDifference ? cause.message : String(cause)}`,
      `replay with { seed: ${seed}, path: ${JSON.stringify(path)} }`,
      `in ${world}`,
      ...steps.map((step, at) => `${at + 1}. ${step}`),
    ];
    super(lines.join("\n"), { cause });
    const difference = cause instanceof ModelDifference ? cause : undefined;
    this.seed = seed;
    this.path = path;
    this.where = difference?.where ?? "a store threw what is no answer";
    this.observed = difference?.answered ?? String(cause);
    this.wanted = difference?.wanted ?? "an answer";
    this.sequence = [world, ...steps];
  }
}
