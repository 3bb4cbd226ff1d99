// What an incoming fact is to one that is held: the policy that decides it, and the one that is the default.

import type { MemoryRecord } from "../model/record.ts";

/** What to do with a fact that comes to a lineage: continue it, start another beside it, or refuse the write. */
export type ContradictionVerdict = "supersede" | "branch" | "reject";

/** Decides, for each open lineage of a key, what an incoming fact is to it. Must be pure: it may be asked again. */
export interface ContradictionPolicy {
  /** @param newest The lineage's newest version, whether live, lapsed, future-dated or decayed. */
  judge(incoming: MemoryRecord, newest: MemoryRecord): ContradictionVerdict;
}

/** The default policy: the same `subject` and the same set of `predicate` supersede; anything else branches. */
export class SupersedeMatching implements ContradictionPolicy {
  judge(incoming: MemoryRecord, newest: MemoryRecord): ContradictionVerdict {
    return incoming.subject === newest.subject && sameSet(incoming.predicate, newest.predicate)
      ? "supersede"
      : "branch";
  }
}

function sameSet(a: readonly string[] = [], b: readonly string[] = []): boolean {
  const left = new Set(a);
  const right = new Set(b);
  return left.size === right.size && [...left].every((one) => right.has(one));
}
