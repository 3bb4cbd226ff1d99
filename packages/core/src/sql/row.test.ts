// Rows and records: columns and parameters in one order, and damage told.

import { expect, test } from "vitest";
import { isMemoryError } from "../model/errors.ts";
import { CONTENT_COLUMNS, contentLists, contentListsSql, contentParams, listedSql, readRecord } from "./row.ts";

const record = {
  scope: { tenantId: "t", userId: "u" },
  id: "i",
  key: "k",
  value: '{"a":"\\u0000"}',
  source: "s",
  confidence: 0.1,
  validFrom: 1,
  validTo: 2,
  subject: "",
  predicate: ["p"],
  metadata: { n: 1 },
  redacted: ["/a"],
  recordedAt: 3,
  version: undefined,
  embedding: undefined,
};
const sparse = {
  ...record,
  validFrom: undefined,
  validTo: undefined,
  subject: undefined,
  predicate: undefined,
  metadata: undefined,
  redacted: undefined,
};

test.each([record, sparse])("a record comes back from its own parameters, wherever they stand in a row", (one) => {
  const row = ["else", "u", "", "", ...contentParams(one).map((value) => (value === null ? null : String(value)))];
  expect(readRecord("t", row, 1)).toEqual(one);
});

test("a column of JSON that holds none is damage, with what was there", () => {
  const row = ["u", "", "", ...contentParams(record).map(String)];
  row[3 + CONTENT_COLUMNS.indexOf("metadata")] = "{";
  try {
    readRecord("t", row);
    expect.unreachable();
  } catch (error) {
    expect(isMemoryError(error, "MEMORY_CORRUPTION") && error.payload).toEqual(row);
  }
});

test("lists hold no null, tell an empty subject from none, and are null where nothing is there", () => {
  const [subject, validTo] = ["subject", "valid_to"].map((name) => CONTENT_COLUMNS.indexOf(name));
  const both = contentLists([record, sparse].map(contentParams));
  expect(both[subject ?? -1]).toBe('{"+",""}');
  expect(both[validTo ?? -1]).toBe('{2,""}');
  expect(contentLists([contentParams(sparse)])[subject ?? -1]).toBeNull();
  expect(contentLists([contentParams(record)], [true])[0]).toBeNull();
  expect(both).toHaveLength(contentListsSql(5).split(",").length);
  expect(listedSql("i", "valid_from")).toBe("nullif(i.valid_from,'')::bigint");
  expect(listedSql("i", "subject")).toBe("substr(nullif(i.subject,''),2)");
});
