// What the demo asks of the stores that it binds, and of the database that two of them are over: one in this process, or
// one on a server.

import type { Clock, DecayPolicy, DerivedIndex } from "@memory/core";
import type { RoutedMembers } from "@memory/routed";
import type { Embedder } from "./embed.ts";

/** What the demo asks of a store. */
export interface StoreWishes {
  readonly clock: Clock;
  readonly decay: DecayPolicy;
  readonly derivedIndices: readonly DerivedIndex[];
}

/** Where profiles, episodes and vectors are. */
export interface Database {
  /** What a person is told about it; no part of a connection string. */
  readonly where: string;
  /** What to do to begin anew; `undefined` where nothing is kept. */
  readonly startOver?: string;
  open(wishes: StoreWishes): Pick<RoutedMembers, "durable" | "semantic">;
  /** Stops what was started for it, after its stores were closed. */
  close(): Promise<void>;
}

/** Whose vectors are to come. */
export type Model = Pick<Embedder, "name" | "dimensions">;

/** A place that was named cannot be used; the message says why, and what to do. */
export class EngineError extends Error {
  override readonly name = "EngineError";
}

/** Whose vectors a collection holds stands in its table and on every row: `verify()` refuses those of another model. */
export function collectionOf({ name, dimensions }: Model): { readonly dimensions: number; readonly embedder: string } {
  return { dimensions, embedder: name };
}
