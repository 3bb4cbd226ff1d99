// A text that prints as asterisks. It stands alone because everything that holds a connection string passes it around
// in this wrapper and unwraps it at one place, where the client is made.

const BRAND: unique symbol = Symbol.for("@memory/core/secret");
const INSPECT: unique symbol = Symbol.for("nodejs.util.inspect.custom");
const MASK = "**********";

/**
 * Holds a secret text that no conversion shows: `String()`, template strings, `+ ""`, `JSON.stringify`, `util.inspect` and
 * `console.log` (nested and with `showHidden` too) print `**********`. Only {@link SecretString.reveal} gives it out.
 *
 * @example `const dsn = new SecretString(process.env["MEMORY_DSN"] ?? "");`
 */
export class SecretString {
  static {
    // Not written as members: declarations that are made file by file cannot name a registered symbol.
    Object.defineProperty(SecretString.prototype, BRAND, { value: true });
    Object.defineProperty(SecretString.prototype, INSPECT, { value: () => MASK });
  }

  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
    Object.freeze(this);
  }

  /**
   * Whether `value` is a secret, also one made by another copy of this package. Call `value.reveal()` to read it: that is
   * the other copy's own method, which reaches the field that this copy cannot.
   */
  static isSecretString(value: unknown): value is SecretString {
    return (
      typeof value === "object" &&
      value !== null &&
      Reflect.get(value, BRAND) === true &&
      typeof Reflect.get(value, "reveal") === "function"
    );
  }

  /** The text itself. Hand it straight to the client; do not keep it. */
  reveal(): string {
    return this.#text;
  }

  toString(): string {
    return MASK;
  }

  toJSON(): string {
    return MASK;
  }

  [Symbol.toPrimitive](): string {
    return MASK;
  }
}
