// A deployment of one server as a run sees it: how clients reach it, which faults can be done to it, and what may be asked
// of it when it is healed.

import type { ServerName } from "../stores.ts";

/** What a fault's documentation admits to be lost; instants of the monotonic clock. */
export interface Loss {
  /** Whatever was done from here to `to` need not be there. */
  readonly since: number;
  readonly to: number;
  /** Erasures and expiries may be undone. */
  readonly undoes: boolean;
  /** Bookkeeping may be gone where what it speaks of is not. */
  readonly loosens: boolean;
}

/** Does a fault for so long and mends it; `number` chooses among what it can be done to. Gives what may be lost by it. */
export type FaultAction = (ms: number, number: number) => Promise<Loss | undefined>;

/** A fault by which nothing may be lost. */
export function harmless(act: (ms: number, number: number) => Promise<unknown>): FaultAction {
  return async (ms, number) => {
    await act(ms, number);
    return undefined;
  };
}

/** Those of a table, none of which may lose anything. */
export function allHarmless(
  acts: Readonly<Record<string, (ms: number, number: number) => Promise<unknown>>>,
): Readonly<Record<string, FaultAction>> {
  return Object.fromEntries(Object.entries(acts).map(([kind, act]) => [kind, harmless(act)]));
}

/** A running deployment. */
export interface Rig {
  readonly server: ServerName;
  readonly form: string;
  /** What clients connect to. */
  readonly dsn: string;
  /** Whether statements may be prepared by name. */
  readonly prepare: boolean;
  /** By kind. */
  readonly faults: Readonly<Record<string, FaultAction>>;
  /** Ends every fault; resolves when the deployment serves as at the start. */
  heal(): Promise<void>;
  /** What clients have open, and should not, now that none of them does anything: at most `most` connections each is well. */
  stuck(clients: number, most: number): Promise<readonly string[]>;
  /** What is left in the servers of any tenant. */
  leftovers(): Promise<readonly string[]>;
  stop(): Promise<void>;
}

/** The password of a run's servers; it holds the canary, so that whoever prints a connection string is heard. */
export function passwordOf(canary: string): string {
  return `${canary}-pw`;
}
