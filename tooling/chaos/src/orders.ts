// What the conductor of a run and its client processes say to each other.

import type { Addresses } from "./stores.ts";

/** How a client process begins. */
export interface ClientPlan {
  readonly seed: number;
  readonly canary: string;
  /** Its name and life: `a0`, and `a1` when it was killed and started again. */
  readonly client: string;
  /** Where its history goes. */
  readonly history: string;
  readonly stores: readonly string[];
  readonly addresses: Addresses;
  /** Whether statements are prepared by name: not behind a pooler. */
  readonly prepare: boolean;
  /** Callers of each store; 0 for one that only looks, and patiently. */
  readonly callers: number;
  readonly thinkMs: number;
}

/** What a client process is told. */
export type Order =
  | { readonly order: "begin"; readonly plan: ClientPlan }
  | { readonly order: "clock"; readonly offsetMs: number }
  | { readonly order: "index"; readonly isDown: boolean }
  | { readonly order: "stop" }
  | { readonly order: "audit"; readonly isLast: boolean }
  | { readonly order: "close" };

/** What is left of a client process when it has closed its stores. */
export interface Remains {
  /** What keeps the process busy and did not at its start: sockets, timers. */
  readonly handles: readonly string[];
  readonly heapBytesBefore: number;
  readonly heapBytesAfter: number;
}

/** What a client process says: that it came to the end of an order. */
export type News =
  | { readonly news: "begun" }
  | { readonly news: "quiet"; readonly unsettled: readonly string[] }
  | { readonly news: "audited" }
  | { readonly news: "closed"; readonly remains: Remains };
