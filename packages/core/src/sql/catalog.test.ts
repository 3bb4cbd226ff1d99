// What the catalogs say, compared with a plan: extensions in any schema, quotes that a setting adds, and further looks.

import { describe, expect, test } from "vitest";
import type { DriverCall } from "../model/driver.ts";
import { isMemoryError } from "../model/errors.ts";
import { Catalog, catalogStatement } from "./catalog.ts";
import type { Executor, Row } from "./executor.ts";
import { column, plainIndex, type TablePlan } from "./plan.ts";
import { inspectSchema, verifySchema } from "./verify.ts";

const call: DriverCall = { now: 0, attempt: 1, budgetMs: 0, signal: new AbortController().signal };
const table: TablePlan = {
  name: "v",
  version: 1,
  comment: "Vectors",
  columns: [{ ...column("e", "vector(3)", "The vector"), storage: "external" }],
  checks: [],
  indexes: [plainIndex("v_near", "hnsw (e vector_l2_ops) WITH (m='16')", "The nearest")],
};
const fit: readonly Row[] = [
  ["server", "", "server_version_num", "150020", "", ""],
  ["server", "", "server_encoding", "UTF8", "", ""],
  ["role", "", "app", "false", "", ""],
  ["schema", "", "s", "true", "", ""],
  ["extension", "", "vector", "0.8.0", "Other ext", ""],
  ["table", "v", "", "false", "Vectors (schema version 1)", "true"],
  ["column", "v", "e", "Other ext.vector(3)", "true", ""],
  ["storage", "v", "e", "external", "", ""],
  ["index", "v", "v_near", "hnsw (e Other ext.vector_l2_ops) WITH (m='16')", "plain", "true"],
];
const request = { adapter: "x", bin: "x-schema", schema: "s", tables: [table], rowSecurity: false };

// The rows of a look that somebody else took.
function over(rows: readonly Row[]): Executor {
  const refuse = () => Promise.reject(new Error("one look is all"));
  const run = async () => rows;
  return { client: rows, concurrency: 1, run, batch: refuse, transaction: refuse, isStray: () => false, close: refuse };
}

const withRow = (...row: Row): readonly Row[] => [
  ...fit.filter((one) => one.slice(0, 3).join() !== row.slice(0, 3).join()),
  row,
];

describe("inspectSchema", () => {
  test("finds nothing wrong where the extension is in a schema that the catalogs name, or do not", async () => {
    const visible = fit.map((row) => row.map((text) => text?.replace("Other ext.", "") ?? null));
    for (const rows of [fit, visible]) {
      expect(await inspectSchema(over(rows), request, call)).toMatchObject({ findings: [], warnings: [] });
    }
  });

  test.each<[string, Row, string]>([
    ["another width", ["column", "v", "e", "Other ext.vector(4)", "true", ""], "TYPE vector(3)"],
    ["another storage", ["storage", "v", "e", "main", "", ""], "SET STORAGE EXTERNAL"],
    [
      "an index of another metric",
      ["index", "v", "v_near", "hnsw (e Other ext.vector_ip_ops) WITH (m='16')", "plain", "true"],
      "CREATE INDEX v_near",
    ],
    ["an index that was never finished", [...(fit[8] ?? []).slice(0, 5), "false"], "REINDEX INDEX"],
    ["an older server", ["server", "", "server_version_num", "140000", "", ""], "PostgreSQL 15"],
  ])("finds %s", async (_, row, mend) => {
    const { findings } = await inspectSchema(over(withRow(...row)), request, call);
    expect(findings).toHaveLength(1);
    expect(findings[0]).toContain(mend);
  });

  test("adds what the adapter finds and warns of, by what it looked at itself", async () => {
    const own = {
      ...request,
      looks: ["SELECT 'own', '', 'n', '1', '', ''"],
      findings: (seen: Catalog) => seen.of("own").map((row) => `own ${row[3]}`),
      warnings: () => [{ code: "x-own", message: "own" }],
    };
    expect(catalogStatement(own).text).toMatch(/\nUNION ALL SELECT 'own', '', 'n', '1', '', ''$/);
    const report = await inspectSchema(over([...fit, ["own", "", "n", "1", "", ""]]), own, call);
    expect(report).toMatchObject({ findings: ["own 1"], warnings: [{ code: "x-own" }] });
  });
});

test("verifySchema names every finding in one error, and gives warnings where there is none", async () => {
  const rows = withRow("server", "", "fsync", "off", "", "");
  expect(await verifySchema(over(rows), request, call)).toMatchObject([{ code: "x-fsync" }]);
  const error: unknown = await verifySchema(over(rows.slice(0, 4)), request, call).catch((reason: unknown) => reason);
  expect(isMemoryError(error, "MEMORY_SCHEMA") && error.findings).toHaveLength(1);
});

test("a definition is compared without the quotes that quote_all_identifiers adds", () => {
  expect(new Catalog([]).bare('btree ("a", "b")')).toBe("btree (a, b)");
});
