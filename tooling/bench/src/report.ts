// What a suite leaves behind: a table a person can read, and the same figures as JSON.

import { mkdirSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Table } from "./rounds.ts";

const RESULTS = join(dirname(fileURLToPath(import.meta.url)), "..", "results");

/** A free-form line of a report: a figure that is no column (bytes a key, a worst read). */
export interface Note {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
}

/** Prints a table. */
export function printTable({ title, figures }: Table): void {
  console.log(`\n${title}`);
  const rows = figures.map(({ name, p50, p99, perSecond, ratio }) => [
    name,
    `${p50.toFixed(2)} µs`,
    `${p99.toFixed(2)} µs`,
    Math.round(perSecond).toLocaleString("en"),
    `${ratio.toFixed(2)} x`,
  ]);
  printRows([["", "p50", "p99", "ops/s", "to the first"], ...rows]);
}

/** Prints figures that are no columns. */
export function printNotes(title: string, notes: readonly Note[]): void {
  console.log(`\n${title}`);
  printRows(
    notes.map(({ name, value, unit }) => [name, `${value.toLocaleString("en", { maximumFractionDigits: 2 })} ${unit}`]),
  );
}

/** Keeps the figures of a suite; gives the file's path. */
export function keep(suite: string, tables: readonly Table[], notes: readonly Note[] = []): string {
  mkdirSync(RESULTS, { recursive: true });
  const file = join(RESULTS, `${suite}.json`);
  const machine = { node: process.version, cpu: cpus()[0]?.model ?? "unknown", cores: cpus().length };
  writeFileSync(file, `${JSON.stringify({ suite, at: new Date().toISOString(), machine, tables, notes }, null, 2)}\n`);
  return file;
}

function printRows(rows: readonly (readonly string[])[]): void {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => (row[column] ?? "").length)));
  for (const row of rows) {
    const cells = row.map((cell, column) =>
      column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0),
    );
    console.log(`  ${cells.join("  ")}`);
  }
}
