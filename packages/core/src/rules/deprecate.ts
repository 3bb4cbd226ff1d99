// Deprecations: a shim calls the function that `deprecate` made for it, and the process hears of it once. What has been
// told is kept on `globalThis` under a registered symbol, so that two copies of this package tell it once between them.

import { MemorySettingsError } from "../model/errors.ts";

const TOLD: unique symbol = Symbol.for("@memory/core/deprecations");

/** What is deprecated and what to do about it. The versions are of this package (`0.4.0`). */
export interface DeprecationNotice {
  /** `MEMORY_DEP` and four digits; never given twice. `node --disable-warning` silences by it. */
  readonly code: string;
  /** What is deprecated, as a caller writes it: `MemoryQuery.prefix`. */
  readonly subject: string;
  /** What to write in its place. */
  readonly replacement: string;
  /** The version that deprecated it. */
  readonly since: string;
  /** The version that removes it. */
  readonly removal: string;
}

/**
 * Makes the function that a deprecated member calls each time it is used: the first call of the process emits one
 * `DeprecationWarning` with the notice's code, every later one returns at once. Make it once,
 * in the module of the shim; bundlers drop it with the shim.
 *
 * @throws {MemorySettingsError} The code is not `MEMORY_DEP` and four digits.
 * @see Node.js API, process.emitWarning
 */
/* @__NO_SIDE_EFFECTS__ */
export function deprecate(notice: DeprecationNotice): () => void {
  const { code, subject, replacement, since, removal } = notice;
  if (!/^MEMORY_DEP\d{4}$/.test(code)) {
    throw new MemorySettingsError("a deprecation code is MEMORY_DEP and four digits", { setting: "code" });
  }
  let isTold = false;
  return () => {
    if (isTold) return;
    isTold = true;
    const told = toldCodes();
    if (told.has(code)) return;
    told.add(code);
    const message = `${subject} is deprecated since ${since} and will be removed in ${removal}; use ${replacement}`;
    process.emitWarning(message, { type: "DeprecationWarning", code });
  };
}

function toldCodes(): Set<unknown> {
  const held: unknown = Reflect.get(globalThis, TOLD);
  if (held instanceof Set) return held;
  const made = new Set<unknown>();
  Object.defineProperty(globalThis, TOLD, { value: made });
  return made;
}
