// Which store the demo runs on, and nothing else: everything beside this file is written against `MemoryStore`. Another
// engine is another function that gives an `Engine`.

import type { Clock, DecayPolicy, DerivedIndex, MemoryStore } from "@memory/core";
import { InMemoryMemoryStore } from "@memory/core/in-memory";

/** What the demo asks of a store. */
export interface StoreWishes {
  readonly clock: Clock;
  readonly decay: DecayPolicy;
  readonly derivedIndices: readonly DerivedIndex[];
  /** The width of the vectors to come. */
  readonly embeddingDimensions: number;
}

/** Something that stores can be opened on. */
export interface Engine {
  /** What a person is told about it. */
  readonly label: string;
  open(wishes: StoreWishes): MemoryStore;
  /** Stops what the engine started, after its stores were closed. */
  close(): Promise<void>;
}

/** The executable reference, in this process; nothing of it outlives the run. */
export async function startEngine(): Promise<Engine> {
  return {
    label: "in-memory, in this process",
    open: (wishes) => new InMemoryMemoryStore(wishes),
    close: async () => {},
  };
}
