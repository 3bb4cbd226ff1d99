// Seeded chance: the same seed gives the same numbers, and every part of a run throws dice of its own, so that one that
// throws more often does not change what the others get.

/** A seeded generator (splitmix32). */
export class Dice {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** Dice for a part of what these are for: the same for the same seed and name, whatever was thrown before. */
  static of(seed: number, name: string): Dice {
    let hash = seed >>> 0;
    for (const character of name) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193) >>> 0;
    const dice = new Dice(hash);
    dice.next();
    return dice;
  }

  /** At least 0 and below 1. */
  next(): number {
    this.#state = (this.#state + 0x9e3779b9) >>> 0;
    let mixed = this.#state ^ (this.#state >>> 16);
    mixed = Math.imul(mixed, 0x21f0aaad);
    mixed ^= mixed >>> 15;
    mixed = Math.imul(mixed, 0x735a2d97);
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 0x1_0000_0000;
  }

  /** A whole number from 0 up to, not including, `count`. */
  below(count: number): number {
    return Math.floor(this.next() * count);
  }

  /** A whole number from `least` to `most`. */
  between(least: number, most: number): number {
    return least + this.below(most - least + 1);
  }

  /** Whether something that happens with this probability happens. */
  chance(probability: number): boolean {
    return this.next() < probability;
  }

  /** One of them. @throws {RangeError} There is none. */
  pick<T>(list: readonly T[]): T {
    const picked = list[this.below(list.length)];
    if (picked === undefined) throw new RangeError("nothing to pick from");
    return picked;
  }

  /** One of them, each as likely as its weight says. @throws {RangeError} There is none. */
  weighted<T>(list: readonly (readonly [weight: number, what: T])[]): T {
    let rest = this.next() * list.reduce((sum, [weight]) => sum + weight, 0);
    for (const [weight, what] of list) {
      rest -= weight;
      if (rest < 0) return what;
    }
    throw new RangeError("nothing to pick from");
  }

  /** All of them in another order. */
  shuffled<T>(list: readonly T[]): readonly T[] {
    return list
      .map((what) => [this.next(), what] as const)
      .sort(([a], [b]) => a - b)
      .map(([, what]) => what);
  }
}
