// The derived artefacts of a store in a ledger.

import type { Item, Ledger } from "./ledger.ts";

/** Artefacts that one scope registered. */
export function artefactsOf(ledger: Ledger, store: string): readonly Item[] {
  return [...ledger.items.values()].filter(({ place }) => place.kind === "artefact" && place.store === store);
}
