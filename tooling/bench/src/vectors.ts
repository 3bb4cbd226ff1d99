// Vectors as an agent's memory holds them, from a seed: the same seed and sizes give the same float32 numbers everywhere.
//
// The world has 400 topics. A topic has a centre (a Gaussian direction) and 12 aspects, directions in which what is said of
// it differs. A vector is centre + 0.9 * (a Gaussian mix of the aspects) + 0.35 * (Gaussian noise in all dimensions), each of
// the three of expected length 1, brought to length 1. So two of one topic have a cosine of about 0.5 and the nearest of
// some thousand about 0.85, as sentences about one subject have; those of different topics about 0. A scope speaks of 20 of
// the topics, evenly. An on-topic query is a fresh vector of one of them, an off-topic one of a topic that it never speaks of.

/** How a world is made. */
export interface WorldOptions {
  readonly dimensions: number;
  readonly seed?: number;
  /** How much of a vector is noise; 0.35 by default. */
  readonly noise?: number;
  /** Lengths are spread between this and its inverse, evenly on a logarithmic scale; 1 (the default): all are 1. */
  readonly stretch?: number;
}

const TOPICS = 400;
const ASPECTS = 12;
const SPREAD = 0.9;
const NOISE = 0.35;
const TOPICS_OF_A_SCOPE = 20;
/** Noise is cut out of one long list of Gaussian numbers, from a random place on. */
const NOISE_LENGTH = 1 << 20;

/** A source of vectors. */
export class World {
  readonly dimensions: number;
  readonly #seed: number;
  readonly #stretch: number;
  readonly #centres: Float32Array;
  readonly #aspects: Float32Array;
  readonly #gaussians: Float32Array;

  constructor({ dimensions, seed = 1, noise = NOISE, stretch = 1 }: WorldOptions) {
    this.dimensions = dimensions;
    this.#seed = seed;
    this.#stretch = Math.log(stretch);
    const random = randomOf(seed);
    const unit = 1 / Math.sqrt(dimensions);
    this.#centres = gaussians(random, TOPICS * dimensions, unit);
    this.#aspects = gaussians(random, TOPICS * ASPECTS * dimensions, (unit * SPREAD) / Math.sqrt(ASPECTS));
    this.#gaussians = gaussians(random, NOISE_LENGTH, unit * noise);
  }

  /** Vectors of a scope, one after the other in one array: a scope's number names its topics, `series` the draw. */
  ofScope(scope: number, count: number, series = 0): Float32Array {
    const topics = this.#topicsOf(scope);
    const random = randomOf(this.#seed, scope, series, 1);
    return this.#draw(random, count, () => topics[Math.floor(random() * TOPICS_OF_A_SCOPE)] ?? 0);
  }

  /** Queries of topics that the scope speaks of; none of them is one of its vectors. */
  onTopic(scope: number, count: number): readonly Float32Array[] {
    const topics = this.#topicsOf(scope);
    const random = randomOf(this.#seed, scope, 2);
    return this.#apart(this.#draw(random, count, () => topics[Math.floor(random() * TOPICS_OF_A_SCOPE)] ?? 0));
  }

  /** Queries of topics that the scope never speaks of. */
  offTopic(scope: number, count: number): readonly Float32Array[] {
    const spoken = new Set(this.#topicsOf(scope));
    const random = randomOf(this.#seed, scope, 3);
    const topic = (): number => {
      for (;;) {
        const one = Math.floor(random() * TOPICS);
        if (!spoken.has(one)) return one;
      }
    };
    return this.#apart(this.#draw(random, count, topic));
  }

  #topicsOf(scope: number): readonly number[] {
    const random = randomOf(this.#seed, scope);
    const topics = new Set<number>();
    while (topics.size < TOPICS_OF_A_SCOPE) topics.add(Math.floor(random() * TOPICS));
    return [...topics];
  }

  #draw(random: () => number, count: number, topic: () => number): Float32Array {
    const n = this.dimensions;
    const vectors = new Float32Array(count * n);
    const sum = new Float64Array(n);
    for (let index = 0; index < count; index += 1) {
      const of = topic();
      const from = Math.floor(random() * (NOISE_LENGTH - n));
      for (let i = 0; i < n; i += 1) sum[i] = (this.#centres[of * n + i] ?? 0) + (this.#gaussians[from + i] ?? 0);
      for (let aspect = 0; aspect < ASPECTS; aspect += 1) {
        const weight = gaussian(random);
        const at = (of * ASPECTS + aspect) * n;
        for (let i = 0; i < n; i += 1) sum[i] = (sum[i] ?? 0) + weight * (this.#aspects[at + i] ?? 0);
      }
      let squares = 0;
      for (let i = 0; i < n; i += 1) squares += (sum[i] ?? 0) ** 2;
      const length = (this.#stretch === 0 ? 1 : Math.exp((random() * 2 - 1) * this.#stretch)) / Math.sqrt(squares);
      for (let i = 0; i < n; i += 1) vectors[index * n + i] = (sum[i] ?? 0) * length;
    }
    return vectors;
  }

  #apart(vectors: Float32Array): readonly Float32Array[] {
    const n = this.dimensions;
    return Array.from({ length: vectors.length / n }, (_, index) => vectors.subarray(index * n, (index + 1) * n));
  }
}

/** How many vectors each scope has: the first `large`, the others the rest evenly. */
export function scopeSizes(count: number, scopes: number, large: number): readonly number[] {
  const others = scopes - 1;
  return Array.from({ length: scopes }, (_, scope) =>
    scope === 0
      ? large
      : Math.floor(((count - large) * scope) / others) - Math.floor(((count - large) * (scope - 1)) / others),
  );
}

/** Numbers in [0, 1), the same for the same seeds (sfc32, Chris Doty-Humphrey's PractRand). */
export function randomOf(...seeds: readonly number[]): () => number {
  let a = 0x9e3779b9;
  let b = 0x243f6a88;
  let c = 0xb7e15162;
  let counter = 1;
  const next = (): number => {
    const sum = (a + b + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + sum) | 0;
    return (sum >>> 0) / 4_294_967_296;
  };
  for (const seed of seeds) {
    a ^= seed;
    for (let turn = 0; turn < 15; turn += 1) next();
  }
  return next;
}

// Box and Muller's; the second of each pair is not kept.
function gaussian(random: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

function gaussians(random: () => number, count: number, scale: number): Float32Array {
  const values = new Float32Array(count);
  for (let index = 0; index < count; index += 1) values[index] = gaussian(random) * scale;
  return values;
}
