// What a checker finds.

/** A promise that was not kept. */
export interface Violation {
  /** Which promise, in a word: `lost`, `twice`, `un-erased`. */
  readonly rule: string;
  /** The call that shows it. */
  readonly call: string | undefined;
  readonly detail: string;
}

/** Collects them; of one rule at one place the first few are enough. */
export class Findings {
  readonly all: Violation[] = [];
  readonly #counts: Map<string, number> = new Map();

  add(rule: string, call: string | undefined, detail: string): void {
    const count = this.#counts.get(rule) ?? 0;
    this.#counts.set(rule, count + 1);
    if (count < KEPT) this.all.push({ rule, call, detail });
  }

  /** How many there were, by rule. */
  get counts(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#counts);
  }
}

const KEPT = 8;
