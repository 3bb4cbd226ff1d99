// What errors are made with: the brand by which ours are known, properties that no log prints, and a copy of a client's
// error that holds nothing of what it was about.

import { isError } from "./is-error.ts";

const BRAND = Symbol.for("@memory/core/error");

/** Marks an error as ours, for every copy of this package in the process. */
export function brand(error: Error): void {
  Object.defineProperty(error, BRAND, { value: true });
}

/** Whether the error is marked as ours. */
export function isBranded(error: unknown): boolean {
  try {
    return typeof error === "object" && error !== null && Object.hasOwn(error, BRAND);
  } catch {
    return false; // a proxy that refuses to be asked
  }
}

/** Sets properties that neither JSON nor `util.inspect` shows. */
export function hide(target: Error, details: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(details)) {
    Object.defineProperty(target, name, { value, enumerable: false, configurable: true, writable: false });
  }
}

/**
 * A copy of a client's error that is safe to log: its class, code and a message built from these alone. Client errors
 * carry row data, arguments and connection strings in their message and properties; none of it is copied. Never throws,
 * whatever the error is made of.
 */
export function safeCause(error: unknown): unknown {
  try {
    return copyError(error, 0);
  } catch {
    // A proxy, or an accessor of the error's own.
    return new Error("message withheld");
  }
}

/** The code at the bottom of a failure, as far down as {@link safeCause} looks: what wraps it says less. Never throws. */
export function innermostCode(error: unknown): string | undefined {
  let code: string | undefined;
  let at = safeCause(error);
  for (let depth = 0; depth <= DEEPEST && isError(at); depth += 1) {
    code = matching(CODE, property(at, "code")) ?? code;
    at = property(at, "cause");
  }
  return code;
}

const DEEPEST = 4;

function copyError(error: unknown, depth: number): unknown {
  if (isBranded(error)) return error;
  if (!isError(error)) return new Error(`a ${error === null ? "null" : typeof error} was thrown`);
  const name = matching(CLASS, property(error, "name")) ?? "Error";
  const code = matching(CODE, property(error, "code")) ?? replyCode(error, name);
  const parts = [
    code,
    whole(property(error, "errcode")), // of node:sqlite, whose errors all have one code
    matching(IDENTIFIER, property(error, "syscall")),
    matching(IDENTIFIER, property(error, "constraint_name")),
  ];
  const message = parts.filter((part) => part !== undefined).join(" ") || "message withheld";
  const cause = property(error, "cause");
  const inner = depth < DEEPEST && cause !== undefined ? copyError(cause, depth + 1) : undefined;
  const copy = new Error(message, inner === undefined ? undefined : { cause: inner });
  hide(copy, { name, stack: safeStack(error, name, message) });
  if (code !== undefined) Object.assign(copy, { code });
  return copy;
}

// Name and code are texts that anybody may have set: only what looks like a class and like a code is one.
const CLASS = /^[A-Z][A-Za-z0-9]{0,63}(?:Error|Exception|Reply)$|^(?:Error|ErrorReply)$/;
const CODE = /^[A-Z0-9][A-Z0-9_]{2,63}$/;
const IDENTIFIER = /^[A-Za-z0-9_.:]{1,64}$/;
const FRAME = /^ {4}at .*:\d+:\d+\)?$/;

// The first word of a Redis reply (`READONLY`, `WRONGTYPE`) is its code; the rest may quote arguments.
function replyCode(error: Error, name: string): string | undefined {
  const message = property(error, "message");
  return /Reply/.test(name) && typeof message === "string" ? /^[A-Z]{3,32}(?= |$)/.exec(message)?.[0] : undefined;
}

// V8 begins a stack with `Name: message`. Only frames of code that follow that message are kept: clients append queries.
function safeStack(error: Error, name: string, message: string): string {
  const head = `${name}: ${message}`;
  const stack = property(error, "stack");
  const own = property(error, "message");
  if (typeof stack !== "string" || typeof own !== "string" || own === "" || !stack.includes(own)) return head;
  const after = stack.slice(stack.indexOf(own) + own.length).split("\n");
  const last = after.findIndex((line, at) => at > 0 && !FRAME.test(line));
  return [head, ...after.slice(1, last === -1 ? undefined : last)].join("\n");
}

function property(error: Error, name: string): unknown {
  try {
    return Reflect.get(error, name);
  } catch {
    return undefined;
  }
}

function whole(number: unknown): string | undefined {
  return Number.isSafeInteger(number) ? String(number) : undefined;
}

function matching(pattern: RegExp, text: unknown): string | undefined {
  return typeof text === "string" && pattern.test(text) ? text : undefined;
}
