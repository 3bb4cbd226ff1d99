// What happened in a run, as lines: every call before it is made and its answer when it came, faults, losses that the
// servers' documentation admits, purges, pauses of a client. Written ahead and in line, so that a client that is killed
// leaves the calls that nobody answered. Instants are milliseconds of the machine's monotonic clock, the same for all
// processes.

import { closeSync, openSync, readFileSync, writeSync } from "node:fs";

/** How a call ended. `refused`: surely without effect. `unknown`: with its whole effect or none. */
export type Outcome = "ok" | "refused" | "unknown";

/** A call is made. What each operation adds is in `args`. */
export interface CallLine {
  readonly line: "call";
  readonly id: string;
  readonly at: number;
  readonly store: string;
  readonly op: string;
  readonly args: CallArgs;
}

/** The plain arguments of a call, those that its operation has. */
export interface CallArgs {
  readonly scope: number;
  readonly key?: string;
  /** The items that it writes (each a record of its own): one by default, the call's id. */
  readonly items?: readonly { readonly item: string; readonly key: string }[];
  readonly last?: number;
  readonly after?: number;
  readonly ttlMs?: number;
  readonly expectedVersion?: number;
  readonly subject?: string;
  readonly reach?: "exact" | "under";
  readonly kinds?: readonly string[];
  readonly keys?: readonly string[];
  readonly dryRun?: boolean;
  readonly pad?: number;
  readonly artefact?: string;
  /** The item whose id it takes. */
  readonly as?: string;
  readonly shared?: boolean;
  readonly group?: number;
  /** Gives up after so many milliseconds. */
  readonly abortMs?: number;
}

/** A call is answered. */
export interface EndLine {
  readonly line: "end";
  readonly id: string;
  readonly at: number;
  readonly outcome: Outcome;
  /** The error's code, `aborted`, or what was no error of ours. */
  readonly code?: string;
  /** Calls into the driver. */
  readonly attempts: number;
  readonly answer?: Answer;
}

/** An item as a read saw it: where, and at which position (from 1) or version. */
export interface Sight {
  readonly item: string;
  readonly scope: number;
  readonly key: string;
  readonly at?: number;
}

/** What a call answered, as far as it can be judged. */
export interface Answer {
  /** What a read saw, in order. */
  readonly seen?: readonly Sight[];
  /** Keys that a listing named. */
  readonly keys?: readonly { readonly scope: number; readonly key: string }[];
  /** Artefacts that a listing named. */
  readonly artefacts?: readonly string[];
  /** The position of an append, the version of a fact. */
  readonly at?: number;
  /** Whether `expire` found something. */
  readonly was?: boolean;
  /** A receipt's counts. */
  readonly counts?: Readonly<Record<string, number>>;
  readonly complete?: boolean;
  /** How many round trips a walk took. */
  readonly pages?: number;
  /** What is wrong with the answer in itself. */
  readonly flaws?: readonly string[];
}

/** A fault was at work from `at` to `to`. */
export interface FaultLine {
  readonly line: "fault";
  readonly at: number;
  readonly to: number;
  readonly kind: string;
  readonly target: string;
  /** What it could not do. */
  readonly failed?: string;
}

/** What a server's documentation admits: of what was done from `since` to `to`, nothing need be there after `at`. */
export interface LossLine {
  readonly line: "loss";
  readonly at: number;
  readonly since: number;
  readonly to: number;
  /** Stores over the server that lost it. */
  readonly stores: readonly string[];
  /** Whether erasures and expiries are lost too: what they took away may be back. */
  readonly undoes: boolean;
  /** Whether bookkeeping may be gone while what it speaks of is there (eviction), and take that along later. */
  readonly loosens: boolean;
}

/** A derived index was told to purge these. */
export interface PurgeLine {
  readonly line: "purge";
  readonly at: number;
  readonly store: string;
  readonly artefacts: readonly string[];
}

/** A client process was late, paused or not there, from `at` to `to`: budgets stand still. */
export interface LagLine {
  readonly line: "lag";
  readonly at: number;
  readonly to: number;
  readonly client: string;
}

/** Something that must not be, seen where it happened. */
export interface FlawLine {
  readonly line: "flaw";
  readonly at: number;
  readonly what: string;
  readonly detail: string;
}

/** A client process was killed: its calls have no answer. */
export interface KilledLine {
  readonly line: "killed";
  readonly at: number;
  readonly client: string;
}

/** One line of a history. */
export type Line = CallLine | EndLine | FaultLine | LossLine | PurgeLine | LagLine | FlawLine | KilledLine;

/** Takes lines; a line is kept when the call returns, whatever becomes of the process. */
export type Recorder = (line: Line) => void;

/** The monotonic clock, in milliseconds. */
export function monotonicMs(): number {
  return Math.round(Number(process.hrtime.bigint()) / 1_000) / 1_000;
}

/** A recorder that appends to a file. */
export function recordTo(path: string): { readonly record: Recorder; close(): void } {
  const file = openSync(path, "a");
  return { record: (line) => void writeSync(file, `${JSON.stringify(line)}\n`), close: () => closeSync(file) };
}

/** Reads what was recorded; a last line that a kill cut off is left out. */
export function readHistory(path: string): readonly Line[] {
  const lines = readFileSync(path, "utf8").split("\n");
  return lines.flatMap((text, at): readonly Line[] => {
    if (text === "") return [];
    try {
      // Our own lines: what was written is what is read.
      const line: Line = JSON.parse(text);
      return [line];
    } catch (error) {
      if (at >= lines.length - 2) return [];
      throw error;
    }
  });
}
