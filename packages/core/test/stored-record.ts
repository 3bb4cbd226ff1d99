// A row as drivers keep it, for core's own unit tests.

import type { StoredRecord } from "../src/model/driver.ts";

/** A row with nothing in it that is not asked for. */
export function storedRecord(fields: Partial<StoredRecord> = {}): StoredRecord {
  return {
    id: "id",
    scope: { tenantId: "acme", userId: "ann" },
    key: "key",
    value: "1",
    source: "test",
    confidence: 1,
    validFrom: undefined,
    validTo: undefined,
    subject: undefined,
    predicate: undefined,
    metadata: undefined,
    redacted: undefined,
    recordedAt: 0,
    version: undefined,
    embedding: undefined,
    ...fields,
  };
}
