// Which records a query means: the conditions that pages of episodes and searches share.

import type { MetadataFilter, StoredRecord } from "../model/driver.ts";
import type { EpochMs } from "../model/record.ts";

/** Whether every named metadata entry is there and equal, type included, to one of its values. */
export function matchesFilter(record: StoredRecord, filter: MetadataFilter | undefined): boolean {
  if (filter === undefined) return true;
  const { metadata } = record;
  return Object.entries(filter).every(([name, values]) => {
    if (metadata === undefined || !Object.hasOwn(metadata, name)) return false;
    return values.some((value) => value === metadata[name]);
  });
}

/** Whether the record's window `[validFrom, validTo)` holds the instant; an absent bound is open. */
export function isValidAt(record: StoredRecord, at: EpochMs): boolean {
  return (record.validFrom ?? at) <= at && (record.validTo === undefined || at < record.validTo);
}
