// What an error says about the effect of its call, and whether it is one that a caller may meet there.

import { isMemoryError } from "@memory/core";
import type { Outcome } from "./history.ts";

/** The derived index that the artefacts of a run are in. */
export const INDEX = "index";

/** The reason with which a worker gives up a call. */
export class GivenUp extends Error {
  override readonly name = "GivenUp";
}

/** How a call ended that rejected. */
export interface Ending {
  readonly outcome: Outcome;
  /** The code of an error of ours; `aborted`; `untyped:` with class and places (see {@link placesOf}) for what is none. */
  readonly code: string;
}

/** Reads an error as a caller would: by its class, its code and its `outcome`. */
export function endingOf(error: unknown): Ending {
  if (error instanceof GivenUp) return { outcome: "unknown", code: "aborted" };
  if (!isMemoryError(error)) {
    return { outcome: "unknown", code: `untyped:${placesOf(error)}` };
  }
  const { code } = error;
  if (isMemoryError(error, "MEMORY_UNAVAILABLE")) {
    return { outcome: error.outcome === "unknown" ? "unknown" : "refused", code };
  }
  if (isMemoryError(error, "PARTIAL_ERASURE")) {
    // Only a purge is outstanding: everything is unreadable. A member that is outstanding may hold all of its own yet.
    const isHidden = error.receipt.outstanding.every((name) => name === INDEX);
    return { outcome: isHidden ? "ok" : "unknown", code };
  }
  return { outcome: "refused", code };
}

/** An error's class, its code and where it was thrown; of its message nothing, which could hold anything. */
export function placesOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  const code: unknown = Reflect.get(error, "code");
  const frames = (error.stack ?? "").split("\n").filter((line) => FRAME.test(line));
  const places = frames.slice(0, PLACES).map((line) => line.trim().replace(/\(?\S*\/(?=[^/]+:\d)/, "("));
  return [error.name, ...(typeof code === "string" ? [code] : []), ...places].join(" ");
}

const FRAME = /^ +at .*:\d+:\d+\)?$/;
const PLACES = 5;

const ANYWHERE: readonly string[] = ["MEMORY_UNAVAILABLE", "POOL_EXHAUSTED", "aborted"];

const WHERE: Readonly<Record<string, readonly string[]>> = {
  // A caller that insisted, or took an id that is taken.
  MEMORY_CONFLICT: ["append", "supersede", "clash", "relog"],
  // Facts about two subjects under one key.
  MEMORY_CONTRADICTION: ["profile"],
  PARTIAL_ERASURE: ["erase"],
};

/** Whether an operation may be refused so. `insists`: the caller said what it expects to find. */
export function mayBe(code: string, op: string, insists: boolean): boolean {
  if (ANYWHERE.includes(code)) return true;
  if (code === "MEMORY_CONFLICT" && op !== "clash" && !insists) return false;
  return WHERE[code]?.includes(op) === true;
}
