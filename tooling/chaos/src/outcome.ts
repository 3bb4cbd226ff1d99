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
  /** The code of an error of ours; `aborted`; `untyped:<class>` for what is none. */
  readonly code: string;
}

/** Reads an error as a caller would: by its class, its code and its `outcome`. */
export function endingOf(error: unknown): Ending {
  if (error instanceof GivenUp) return { outcome: "unknown", code: "aborted" };
  if (!isMemoryError(error)) {
    return { outcome: "unknown", code: `untyped:${error instanceof Error ? error.name : typeof error}` };
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
