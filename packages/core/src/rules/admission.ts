// The one walk over a caller's value. It trusts nothing about it: no accessor runs, nothing is dropped or coerced, and
// what comes out is a copy. Written for speed where values are small: no path and no set is built before it is needed.

import { MemoryRecordError } from "../model/errors.ts";
import type { JsonValue } from "../model/json.ts";
import { joinPath, memberNames, setMember } from "./members.ts";

/** How deep a value may nest: a scalar is 0 deep, `[]` is 1. */
export const MAX_DEPTH = 1_000;

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
  readonly #steps: (string | number)[] = [];
  #redacted: string[] | undefined;
  #open: Set<object> | undefined;

  constructor(masking: Masking, root: string) {
    this.#masking = masking;
    this.#root = root;
  }

  /** The paths masked so far, in the order of the walk. */
  get redacted(): readonly string[] {
    return this.#redacted ?? NOTHING;
  }

  /** @throws {MemoryRecordError} Something in the value is not JSON, or nests too deep. */
  admit(input: unknown): JsonValue {
    return this.#value(input, undefined, false);
  }

  // `step` leads from the open container to the input; `isNoted` says that its path is among the masked ones already.
  #value(input: unknown, step: string | number | undefined, isNoted: boolean): JsonValue {
    switch (typeof input) {
      case "string": {
        if (this.#masking === null) return input;
        const masked = maskText(this.#masking, input);
        if (masked === undefined) return this.#refuse(NO_TEXT, step);
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
      copy.push(this.#value(element, index, false));
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
    const isRenamed = names !== originals;
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
      if (isRenamed || !Object.is(admitted, value)) changed.push([name, admitted]);
    }
    // Spreading copies many members at once, `__proto__` as a member too; now that no accessor is left to run.
    const copy: Record<string, JsonValue> = isRenamed ? {} : { ...input };
    for (const [name, value] of changed) setMember(copy, name, value);
    return copy;
  }

  // Only what holds containers can be part of a cycle.
  #enter(container: object): void {
    this.#open ??= new Set();
    this.#open.add(container);
  }

  #note(step: string | number | undefined): void {
    this.#redacted ??= [];
    this.#redacted.push(this.#path(step));
  }

  #path(step: string | number | undefined): string {
    return joinPath(this.#root, step === undefined ? this.#steps : [...this.#steps, step]);
  }

  #refuse(what: string, step: string | number | undefined): never {
    throw new MemoryRecordError(`${what} is not JSON that a store can hold; \`error.path\` says where it stands`, {
      path: this.#path(step),
    });
  }
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
