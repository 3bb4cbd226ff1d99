// Something built from memory and kept outside the store: one summary a conversation. The demo registers each with
// `derived`, so that erasing the conversation reaches here too.

import type { DerivedIndex, MemoryScope } from "@memory/core";

/** An in-process cache of summaries, by scope and artefact. */
export class SummaryCache implements DerivedIndex {
  readonly name = "summaries";
  readonly #texts = new Map<string, string>();

  get size(): number {
    return this.#texts.size;
  }

  put(scope: MemoryScope, artefactId: string, text: string): void {
    this.#texts.set(placeOf(scope, artefactId), text);
  }

  get(scope: MemoryScope, artefactId: string): string | null {
    return this.#texts.get(placeOf(scope, artefactId)) ?? null;
  }

  async purge(scope: MemoryScope, artefactIds: readonly string[]): Promise<void> {
    for (const artefactId of artefactIds) this.#texts.delete(placeOf(scope, artefactId));
  }
}

function placeOf({ tenantId, userId, sessionId, agent }: MemoryScope, artefactId: string): string {
  return JSON.stringify([tenantId, userId, sessionId, agent, artefactId]);
}
