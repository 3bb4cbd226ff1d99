// The one walk over a caller's value. It trusts nothing about it: no accessor runs, nothing is dropped or coerced, and
// what comes out is a copy. Written for speed where values are small: no path and no set is built before it is needed.
//
// A value of few objects that hold each other many times over is endless once it is written out, so that the walk counts
// what it has copied, and looks for such sharing from where the value is too large anyway.

import { types } from "node:util";
import { MemoryLimitError, MemoryRecordError } from "../model/errors.ts";
import type { JsonValue } from "../model/json.ts";
import { joinPath, memberNames, setMember } from "./members.ts";

/** How deep a value may nest: a scalar is 0 deep, `[]` is 1. */
const MAX_DEPTH = 1_000;

/** What a value may take, in bytes of JSON, where nobody says. */
export const DEFAULT_MAX_VALUE_BYTES: number = 16 * 1024 * 1024;

/** How many times too large a value may be for its size still to be counted to its end. */
const MAX_EXCESS = 16;

const NOTHING: readonly string[] = Object.freeze([]);

/** The built-in classes that a refusal names; of others it says only that they are classes. */
const KNOWN: readonly string[] = ["Date", "Map", "Set", "WeakMap", "WeakSet", "WeakRef", "RegExp", "Promise", "Error"];

/** What stands for a text where a redactor broke its promise. */
const NO_TEXT = "what the redactor gave instead of a text";

/** What masks the texts of a value, or `null`. */
type Masking = { redact(text: string): string } | null;

/** One walk: masks and copies one value, and gathers the paths of what it masked. */
export class Admission {
  readonly #masking: Masking;
  readonly #root: string;
  readonly #maxBytes: number;
  readonly #steps: (string | number)[] = [];
  #redacted: string[] | undefined;
  #open: Set<object> | undefined;
  /** Bytes of JSON so far, at the least. */
  #bytes = 0;
  /** The containers met since there are more bytes than may be. */
  #met: Set<object> | undefined;

  /** @param maxBytes From here on a value is only followed where that leads to an end. */
  constructor(masking: Masking, root: string, maxBytes: number = DEFAULT_MAX_VALUE_BYTES) {
    this.#masking = masking;
    this.#root = root;
    this.#maxBytes = maxBytes;
  }

  /** The paths masked so far, in the order of the walk. */
  get redacted(): readonly string[] {
    return this.#redacted ?? NOTHING;
  }

  /**
   * @throws {MemoryRecordError} Something in the value is not JSON, or nests too deep.
   * @throws {MemoryLimitError} It is many times too large, or too large and holds the same objects again and again.
   */
  admit(input: unknown): JsonValue {
    return this.#value(input, undefined, false);
  }

  // `step` leads from the open container to the input; `isNoted` says that its path is among the masked ones already.
  #value(input: unknown, step: string | number | undefined, isNoted: boolean): JsonValue {
    this.#bytes += 1;
    switch (typeof input) {
      case "string": {
        const masked = this.#masking === null ? input : maskText(this.#masking, input);
        if (masked === undefined) return this.#refuse(NO_TEXT, step);
        this.#bytes += masked.length + 1;
        if (this.#bytes > this.#maxBytes * MAX_EXCESS) return this.#tooLarge();
        if (masked !== input && !isNoted) this.#note(step);
        return masked;
      }
      case "number":
        if (Number.isFinite(input)) return input === 0 ? 0 : input;
        return this.#refuse(Number.isNaN(input) ? "NaN" : "an infinite number", step);
      case "boolean":
        return input;
      case "object":
        return input === null ? null : this.#container(input, step);
      default:
        return this.#refuse(typeof input === "undefined" ? "undefined" : `a ${typeof input}`, step);
    }
  }

  #container(input: object, step: string | number | undefined): JsonValue {
    if (this.#open?.has(input)) return this.#refuse("a cycle", step);
    if (step !== undefined) this.#steps.push(step);
    if (this.#steps.length >= MAX_DEPTH) return this.#refuse(`a value nested deeper than ${MAX_DEPTH}`, undefined);
    if (this.#bytes > this.#maxBytes) this.#meet(input);
    const copy = Array.isArray(input) ? this.#array(input) : this.#object(input);
    this.#open?.delete(input);
    if (step !== undefined) this.#steps.pop();
    return copy;
  }

  #array(input: readonly unknown[]): JsonValue {
    if (!isPlain(input, "Array")) return this.#refuse("an instance of a class", undefined);
    const copy: JsonValue[] = [];
    for (let index = 0; index < input.length; index += 1) {
      const element = input[index];
      if (element === undefined && !Object.hasOwn(input, index)) return this.#refuse("a hole in an array", index);
      if (typeof element === "object" && element !== null) this.#enter(input);
      this.#bytes += 1;
      copy.push(this.#value(element, index, false));
      // The length of a proxy may be a lie.
      if (this.#bytes > this.#maxBytes && types.isProxy(input)) return this.#tooLarge();
    }
    if (Object.getOwnPropertyNames(input).length !== copy.length + 1 || hasSymbols(input)) {
      return this.#refuse("an array with named properties", undefined);
    }
    return copy;
  }

  #object(input: object): JsonValue {
    if (!isPlain(input, "Object")) return this.#refuse(describe(input), undefined);
    if (hasSymbols(input)) return this.#refuse("a member whose name is a symbol", undefined);
    const originals = Object.keys(input);
    if (Object.getOwnPropertyNames(input).length !== originals.length) {
      return this.#refuse("a member that is not enumerable", undefined);
    }
    const masking = this.#masking;
    const names =
      masking === null
        ? originals
        : memberNames(originals, (name) => maskText(masking, name) ?? this.#refuse(NO_TEXT, undefined));
    // What a proxy gives a second time may be something else.
    const isCopied = names !== originals || types.isProxy(input);
    const changed: [name: string, value: JsonValue][] = [];
    for (let index = 0; index < originals.length; index += 1) {
      const original = originals[index] ?? "";
      const name = names[index] ?? "";
      const member = Object.getOwnPropertyDescriptor(input, original);
      if (member === undefined || !("value" in member)) return this.#refuse("an accessor", name);
      const value: unknown = member.value;
      if (typeof value === "object" && value !== null) this.#enter(input);
      if (name !== original) this.#note(name);
      const admitted = this.#value(value, name, name !== original);
      this.#bytes += name.length + 4;
      if (isCopied || !Object.is(admitted, value)) changed.push([name, admitted]);
    }
    // Spreading copies many members at once, `__proto__` as a member too; now that no accessor is left to run.
    const copy: Record<string, JsonValue> = isCopied ? {} : { ...input };
    for (const [name, value] of changed) setMember(copy, name, value);
    return copy;
  }

  // Only what holds containers can be part of a cycle.
  #enter(container: object): void {
    this.#open ??= new Set();
    this.#open.add(container);
  }

  #meet(container: object): void {
    this.#met ??= new Set();
    if (this.#met.has(container) || this.#bytes > this.#maxBytes * MAX_EXCESS) this.#tooLarge();
    this.#met.add(container);
  }

  /** Raises that the value is too large, `size` being what it takes at the least. */
  tooLarge(): never {
    throw this.#excess();
  }

  #tooLarge(): never {
    throw fromCaller(this.#excess());
  }

  #excess(): MemoryLimitError {
    const [limit, size] = [this.#maxBytes, this.#bytes];
    return new MemoryLimitError(`a value takes more than ${size} bytes as JSON; ${limit} are taken`, {
      what: "value",
      limit,
      size,
    });
  }

  #note(step: string | number | undefined): void {
    this.#redacted ??= [];
    this.#redacted.push(this.#path(step));
  }

  #path(step: string | number | undefined): string {
    return joinPath(this.#root, step === undefined ? this.#steps : [...this.#steps, step]);
  }

  #refuse(what: string, step: string | number | undefined): never {
    throw fromCaller(
      new MemoryRecordError(`${what} is not JSON that a store can hold; \`error.path\` says where it stands`, {
        path: this.#path(step),
      }),
    );
  }
}

// The walk recurses, and a stack shows ten frames: without its own, those of the caller are among them.
function fromCaller<E extends Error>(error: E): E {
  Error.captureStackTrace(error, Admission.prototype.admit);
  return error;
}

/** The text as the redactor masks it; `undefined` when it gives anything but a text. */
export function maskText(masking: { redact(text: string): string }, text: string): string | undefined {
  const masked: unknown = masking.redact(text);
  return typeof masked === "string" ? masked : undefined;
}

// Plain is what literals and JSON.parse make, also in another realm, and objects without a prototype.
function isPlain(input: object, name: "Object" | "Array"): boolean {
  const prototype: unknown = Object.getPrototypeOf(input);
  if (prototype === (name === "Object" ? Object.prototype : Array.prototype)) return true;
  if (typeof prototype !== "object" || prototype === null) return name === "Object";
  if (constructorName(prototype) !== name) return false;
  const next: unknown = Object.getPrototypeOf(prototype);
  if (name === "Object") return next === null;
  return typeof next === "object" && next !== null && Object.getPrototypeOf(next) === null;
}

function hasSymbols(input: object): boolean {
  return Object.getOwnPropertySymbols(input).length > 0;
}

function describe(input: object): string {
  const prototype: unknown = Object.getPrototypeOf(input);
  const name = typeof prototype === "object" && prototype !== null ? constructorName(prototype) : undefined;
  return name !== undefined && KNOWN.includes(name) ? `a ${name}` : "an instance of a class";
}

function constructorName(prototype: object): string | undefined {
  const own = Object.getOwnPropertyDescriptor(prototype, "constructor")?.value;
  return typeof own === "function" ? own.name : undefined;
}
