// Values that the types forbid, for tests of what happens to a caller without types.

/** The value, under whatever type the place needs. */
export function untyped<T>(value: unknown): T;
export function untyped(value: unknown): unknown {
  return value;
}
