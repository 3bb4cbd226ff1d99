// The table of sizes: what is written is what is read, and how far a number may be off.

import { expect, test } from "vitest";
import { compareTable, format, type SizeRow, writeTable } from "./table.ts";

const empty = "# a\n\n<!-- sizes: written by `npm run sizes` --><!-- /sizes -->\n\nrest\n";
const rows: readonly SizeRow[] = [
  { what: "installed", bytes: 2_000_000 },
  { what: "`a` bundled", bytes: 100_000, gzipped: 5_000 },
];

test("what is written is found to be right, and written again it is the same", () => {
  const written = writeTable(empty, rows);
  expect(compareTable(written, rows)).toEqual([]);
  expect(writeTable(written, rows)).toBe(written);
  expect(written).toContain("| installed   | 1,953 KiB |         |");
  expect(written.startsWith("# a\n")).toBe(true);
  expect(written.endsWith("\n\nrest\n")).toBe(true);
});

test.each<[string, readonly SizeRow[]]>([
  ["larger by more than a twentieth", [{ what: "installed", bytes: 2_120_000 }, ...rows.slice(1)]],
  ["smaller by more than a twentieth", [{ what: "installed", bytes: 1_880_000 }, ...rows.slice(1)]],
  ["larger after gzip", [...rows.slice(0, 1), { what: "`a` bundled", bytes: 100_000, gzipped: 6_300 }]],
  ["not there", rows.slice(1)],
  ["new", [...rows, { what: "more", bytes: 1 }]],
])("a row that is %s is named", (_, measured) => {
  expect(compareTable(writeTable(empty, rows), measured)).toHaveLength(1);
});

test("a small change is none: a twentieth, or one KiB where that is more", () => {
  const near: readonly SizeRow[] = [
    { what: "installed", bytes: 2_090_000 },
    { what: "`a` bundled", bytes: 96_000, gzipped: 5_900 },
  ];
  expect(compareTable(writeTable(empty, rows), near)).toEqual([]);
});

test("a README without its markers is refused", () => {
  expect(() => writeTable("# a\n", rows)).toThrow("sizes");
});

test("sizes are whole KiB, with a decimal below ten", () => {
  expect([0, 5_000, 20_000, 2_000_000].map(format)).toEqual(["0.0 KiB", "4.9 KiB", "20 KiB", "1,953 KiB"]);
});
