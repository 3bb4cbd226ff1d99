// What differs between what two stores answer. Ids that a store makes up itself cannot be equal, but the same one on one
// side must be the same one on the other; scores are compared as closely as float32 servers compute them.

/** Finds the first difference, or nothing; remembers which made-up id on one side is which on the other. */
export class Comparison {
  readonly #pairs: Map<string, string> = new Map();
  readonly #taken: Map<string, string> = new Map();
  readonly #exactExpiry: boolean;

  /** @param options Without `exactExpiry`, only whether a key expires is compared, not in how many milliseconds. */
  constructor(options: { readonly exactExpiry: boolean }) {
    this.#exactExpiry = options.exactExpiry;
  }

  /** Where and how `actual` differs from `expected`, in words; `undefined` where both are the same. */
  difference(actual: unknown, expected: unknown, path = "answer"): string | undefined {
    if (Object.is(actual, expected)) return undefined;
    if (typeof actual === "number" && typeof expected === "number" && this.#near(actual, expected, path))
      return undefined;
    if (typeof actual === "string" && typeof expected === "string" && this.#paired(actual, expected)) return undefined;
    if (typeof actual !== "object" || typeof expected !== "object" || actual === null || expected === null) {
      return `${path} is ${print(actual)}, expected ${print(expected)}`;
    }
    if (Array.isArray(actual) !== Array.isArray(expected))
      return `${path} is ${print(actual)}, expected ${print(expected)}`;
    if (Array.isArray(actual) && Array.isArray(expected) && actual.length !== expected.length) {
      return `${path} has ${actual.length} elements, expected ${expected.length}: ${print(actual)}, expected ${print(expected)}`;
    }
    for (const name of new Set([...Object.keys(expected), ...Object.keys(actual)])) {
      const inner = `${path}.${name}`;
      if (!Object.hasOwn(actual, name)) return `${inner} is absent, expected ${print(Reflect.get(expected, name))}`;
      if (!Object.hasOwn(expected, name))
        return `${inner} is ${print(Reflect.get(actual, name))}, expected to be absent`;
      const found = this.difference(Reflect.get(actual, name), Reflect.get(expected, name), inner);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  #near(actual: number, expected: number, path: string): boolean {
    if (path.endsWith(".score")) return Math.abs(actual - expected) <= 1e-5 * Math.max(1, Math.abs(expected));
    return path.endsWith(".expiresInMs") && !this.#exactExpiry;
  }

  #paired(actual: string, expected: string): boolean {
    if (!UUID.test(actual) || !UUID.test(expected)) return false;
    const pair = this.#pairs.get(expected);
    if (pair !== undefined) return pair === actual;
    if (this.#taken.has(actual)) return false;
    this.#pairs.set(expected, actual);
    this.#taken.set(actual, expected);
    return true;
  }
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

function print(value: unknown): string {
  return value === undefined ? "undefined" : JSON.stringify(value);
}
