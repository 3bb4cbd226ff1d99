// The canary: a text that stands in every scope, key, id, value, source, query and password of a run, and that nothing
// which a store tells about itself may hold.

import { inspect } from "node:util";
import { Dice } from "./dice.ts";

/** A text of 16 letters for this seed: nothing that a redactor masks, nothing that stands anywhere else. */
export function canaryOf(seed: number): string {
  const dice = Dice.of(seed, "canary");
  const letters = Array.from({ length: 8 }, () => String.fromCodePoint(97 + dice.below(26))).join("");
  return `canary-x${letters}`;
}

/** Where the canary stands in what a handler would print of this, or `undefined`. */
export function findCanary(canary: string, what: unknown): string | undefined {
  return Object.entries(printed(what)).find(([, text]) => holdsCanary(canary, text))?.[0];
}

/** Whether a text holds the canary, which percent-encoding and JSON leave as it is. */
export function holdsCanary(canary: string, text: string): boolean {
  return text.includes(canary);
}

function printed(what: unknown): Readonly<Record<string, string>> {
  const texts: Record<string, string> = {
    inspect: inspect(what, { depth: 10 }),
    json: json(what),
    string: String(what),
  };
  if (what instanceof Error) {
    texts["message"] = what.message;
    texts["stack"] = what.stack ?? "";
    for (let cause = what.cause, depth = 1; cause !== undefined && depth < 6; depth += 1) {
      texts[`cause ${depth}`] = `${inspect(cause, { depth: 10 })} ${json(cause)}`;
      cause = cause instanceof Error ? cause.cause : undefined;
    }
  }
  return texts;
}

function json(what: unknown): string {
  try {
    return JSON.stringify(what) ?? "";
  } catch {
    return "";
  }
}
