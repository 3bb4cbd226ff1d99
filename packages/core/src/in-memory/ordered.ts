// A sorted set: what every page, every range and every expiry of the in-memory driver is read from. Items lie in chunks of
// at most 512, so that a binary search finds the chunk and then the place, and an insertion moves one chunk at most.

const CHUNK = 512;

/** A sorted set of objects. `add`, `delete` and `seek` cost O(log n) comparisons; iterating costs what it gives. */
export class Ordered<T extends object> {
  readonly #compare: (a: T, b: T) => number;
  readonly #chunks: T[][] = [];
  #size = 0;

  /** @param compare A total order; items that it calls equal (0) are one item. What it looks at must not change. */
  constructor(compare: (a: T, b: T) => number) {
    this.#compare = compare;
  }

  /** How many items are in the set. */
  get size(): number {
    return this.#size;
  }

  /** Adds an item; `false` when an equal one is there (which then stays). */
  add(item: T): boolean {
    const below = (other: T): boolean => this.#compare(other, item) < 0;
    const at = Math.min(this.#chunkOf(below), Math.max(this.#chunks.length - 1, 0));
    let chunk = this.#chunks[at];
    if (chunk === undefined) {
      chunk = [];
      this.#chunks.push(chunk);
    }
    let place = countBelow(chunk, below);
    const there = chunk[place];
    if (there !== undefined && this.#compare(there, item) === 0) return false;
    if (chunk.length >= CHUNK) {
      // What grows at its end (time does) leaves full chunks behind; elsewhere a full chunk is halved.
      const kept = place === CHUNK && at === this.#chunks.length - 1 ? CHUNK : CHUNK / 2;
      const upper = chunk.splice(kept);
      this.#chunks.splice(at + 1, 0, upper);
      if (place > kept || kept === CHUNK) {
        chunk = upper;
        place -= kept;
      }
    }
    if (place === chunk.length) chunk.push(item);
    else chunk.splice(place, 0, item);
    this.#size += 1;
    return true;
  }

  /** Removes the item that is equal to this one; `false` when none is there. */
  delete(item: T): boolean {
    const below = (other: T): boolean => this.#compare(other, item) < 0;
    const at = this.#chunkOf(below);
    const chunk = this.#chunks[at];
    if (chunk === undefined) return false;
    const place = countBelow(chunk, below);
    const there = chunk[place];
    if (there === undefined || this.#compare(there, item) !== 0) return false;
    chunk.splice(place, 1);
    if (chunk.length === 0) this.#chunks.splice(at, 1);
    this.#size -= 1;
    return true;
  }

  /** The least item that is not `below`; the very first without it. `below` must hold for the first items and no others. */
  seek(below: (item: T) => boolean = () => false): T | undefined {
    const chunk = this.#chunks[this.#chunkOf(below)];
    return chunk?.[countBelow(chunk, below)];
  }

  /** The items that are not `below`, upwards. The set must not change while this runs. */
  *ascending(below: (item: T) => boolean = () => false): Generator<T, void, undefined> {
    let at = this.#chunkOf(below);
    let chunk = this.#chunks[at];
    let place = chunk === undefined ? 0 : countBelow(chunk, below);
    while (chunk !== undefined) {
      for (let item = chunk[place]; item !== undefined; item = chunk[place]) {
        yield item;
        place += 1;
      }
      at += 1;
      place = 0;
      chunk = this.#chunks[at];
    }
  }

  /** The items that are `below`, downwards; all of them without it. The set must not change while this runs. */
  *descending(below: (item: T) => boolean = () => true): Generator<T, void, undefined> {
    let at = this.#chunkOf(below);
    let chunk = this.#chunks[at];
    let place = chunk === undefined ? 0 : countBelow(chunk, below);
    for (;;) {
      if (chunk !== undefined) {
        for (let item = chunk[place - 1]; item !== undefined; item = chunk[place - 1]) {
          yield item;
          place -= 1;
        }
      }
      at -= 1;
      chunk = this.#chunks[at];
      if (chunk === undefined) return;
      place = chunk.length;
    }
  }

  // The first chunk that holds an item that is not `below`.
  #chunkOf(below: (item: T) => boolean): number {
    return countBelow(this.#chunks, (chunk) => {
      const last = chunk[chunk.length - 1];
      return last !== undefined && below(last);
    });
  }
}

/** How many of the items are `below`, which must hold for the first ones and no others. O(log n). */
export function countBelow<T extends object>(items: readonly T[], below: (item: T) => boolean): number {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const item = items[middle];
    if (item !== undefined && below(item)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The first `limit` items. */
export function take<T>(items: Iterable<T>, limit: number): T[] {
  const taken: T[] = [];
  if (limit <= 0) return taken;
  for (const item of items) {
    taken.push(item);
    if (taken.length === limit) break;
  }
  return taken;
}
