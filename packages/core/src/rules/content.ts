// When two records say the same. Repeats of facts, of episodes and of imported lines are all recognised by this.

import type { StoredRecord } from "../model/driver.ts";
import { sameJson } from "../model/json.ts";
import { parseValue } from "./row.ts";

/** Whether two records are the same write: as JSON, without what the store sets. */
export function sameContent(a: StoredRecord, b: StoredRecord, anyFrom: boolean): boolean {
  return (
    a.key === b.key &&
    a.source === b.source &&
    a.confidence === b.confidence &&
    (anyFrom || a.validFrom === b.validFrom) &&
    a.validTo === b.validTo &&
    a.subject === b.subject &&
    sameJson(a.predicate ?? null, b.predicate ?? null) &&
    sameJson(a.metadata ?? null, b.metadata ?? null) &&
    (a.value === b.value || sameJson(parseValue(a), parseValue(b)))
  );
}
