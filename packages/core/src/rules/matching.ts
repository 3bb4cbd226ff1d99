// Which records a query means: the conditions that pages of episodes and searches share, for a driver whose server cannot
// be asked them.

import type { MetadataFilter, StoredRecord } from "../model/driver.ts";
import type { EpochMs } from "../model/record.ts";

/** Whether every named metadata entry is there and equal, type included, to one of its values; so it is without a filter. */
export function matchesFilter(
  { metadata }: Pick<StoredRecord, "metadata">,
  filter: MetadataFilter | undefined,
): boolean {
  if (filter === undefined) return true;
  return Object.entries(filter).every(([name, values]) => {
    if (metadata === undefined || !Object.hasOwn(metadata, name)) return false;
    return values.some((value) => value === metadata[name]);
  });
}

/** Whether the record's window `[validFrom, validTo)` holds the instant; an absent bound is open. */
export function isValidAt({ validFrom, validTo }: Pick<StoredRecord, "validFrom" | "validTo">, at: EpochMs): boolean {
  return (validFrom ?? at) <= at && (validTo === undefined || at < validTo);
}
