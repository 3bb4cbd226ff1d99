// What a suite leaves behind: a table a person can read, and the same figures as JSON.

import { mkdirSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Table, Verdict } from "./rounds.ts";

/** Where results are kept. */
export const RESULTS: string = join(dirname(fileURLToPath(import.meta.url)), "..", "results");

/** A free-form line of a report: a figure that is no column (bytes a key, a worst read). */
export interface Note {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** It is to stay at or under this. */
  readonly most?: number;
}

/** Prints a table. */
export function printTable({ title, figures, verdicts }: Table): void {
  console.log(`\n${title}`);
  const rows = figures.map(({ name, p50, p99, perSecond, ratio }) => [
    name,
    duration(p50),
    duration(p99),
    perSecond < 100 ? perSecond.toFixed(1) : Math.round(perSecond).toLocaleString("en"),
    `${ratio.toFixed(2)} x`,
  ]);
  printRows([["", "p50", "p99", "ops/s", "to the first"], ...rows]);
  printVerdicts(verdicts);
}

/** Prints figures that are no columns. */
export function printNotes(title: string, notes: readonly Note[]): void {
  console.log(`\n${title}`);
  printRows(
    notes.map(({ name, value, unit, most }) => [
      name,
      `${value.toLocaleString("en", { maximumFractionDigits: 2 })} ${unit}`,
      most === undefined ? "" : `${value <= most ? "met" : "NOT MET"}: at most ${most}`,
    ]),
  );
}

/** What is kept of a suite beside its tables. */
export interface Kept {
  readonly notes?: readonly Note[];
  /** How and on what it ran: a server's version, sizes. */
  readonly setting?: Readonly<Record<string, unknown>>;
  /** Default: the results of this package. */
  readonly folder?: string;
}

/** Keeps the figures of a suite; gives the file's path. */
export function keep(suite: string, tables: readonly Table[], { notes = [], setting = {}, folder }: Kept = {}): string {
  const target = folder ?? RESULTS;
  mkdirSync(target, { recursive: true });
  const file = join(target, `${suite}.json`);
  const machine = { node: process.version, cpu: cpus()[0]?.model ?? "unknown", cores: cpus().length };
  const kept = { suite, at: new Date().toISOString(), machine, setting, tables, notes };
  writeFileSync(file, `${JSON.stringify(kept, null, 2)}\n`);
  return file;
}

function printVerdicts(verdicts: readonly Verdict[]): void {
  printRows(
    verdicts.map(({ what, value, isMet }) => [isMet ? "met" : "NOT MET", `${value.toFixed(2)} x`, what]),
    [2],
  );
}

function duration(micros: number): string {
  return micros < 10_000 ? `${micros.toFixed(2)} µs` : `${(micros / 1_000).toFixed(2)} ms`;
}

/** Prints rows in columns: texts to the left, figures to the right. */
export function printRows(rows: readonly (readonly string[])[], texts: readonly number[] = []): void {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => (row[column] ?? "").length)));
  for (const row of rows) {
    const cells = row.map((cell, column) =>
      column === 0 || texts.includes(column) ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
    );
    console.log(`  ${cells.join("  ").trimEnd()}`);
  }
}
