// What a person sees of runs, and what is kept of them.

import { mkdirSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { RunReport } from "./run.ts";

/** Where results are kept. */
export const RESULTS: string = join(dirname(fileURLToPath(import.meta.url)), "..", "results");

/** Many runs together. */
export interface Summary {
  readonly runs: number;
  readonly calls: number;
  readonly acknowledged: number;
  readonly refused: Readonly<Record<string, number>>;
  readonly unanswered: number;
  readonly faults: Readonly<Record<string, number>>;
  /** By rule. */
  readonly violations: Readonly<Record<string, number>>;
  /** The seeds of runs with violations. */
  readonly seeds: readonly number[];
}

/** One line a run, and below it what was found wrong. */
export function describeRun(report: RunReport): string {
  const { seed, deployment, calls, acknowledged, unanswered, tookMs, history } = report;
  const servers = Object.entries(deployment).map(([server, form]) => `${server} ${form}`);
  const wrong = total(report.counts);
  const head = [
    `seed ${seed}`,
    servers.join(", "),
    `${total(report.faults)} faults`,
    `${calls} calls`,
    `${acknowledged} acknowledged`,
    `refused ${list(report.refused)}`,
    `${unanswered} unanswered`,
    `${wrong} violations`,
    `${(tookMs / 1_000).toFixed(0)} s`,
  ].join(" · ");
  const lines = report.violations.map(({ rule, call, detail }) => `    ${rule}: ${call ?? "-"}: ${detail}`);
  const kept = wrong > 0 && history !== undefined ? [`    history: ${history}`] : [];
  return [head, `    ${list(report.faults)}`, ...lines, ...kept].join("\n");
}

/** The runs together. */
export function summarise(reports: readonly RunReport[]): Summary {
  const sum = (of: (report: RunReport) => number): number => reports.reduce((all, report) => all + of(report), 0);
  return {
    runs: reports.length,
    calls: sum(({ calls }) => calls),
    acknowledged: sum(({ acknowledged }) => acknowledged),
    refused: sumOf(reports.map(({ refused }) => refused)),
    unanswered: sum(({ unanswered }) => unanswered),
    faults: sumOf(reports.map(({ faults }) => faults)),
    violations: sumOf(reports.map(({ counts }) => counts)),
    seeds: reports.filter(({ counts }) => total(counts) > 0).map(({ seed }) => seed),
  };
}

/** The sums, for a person. */
export function describeSummary(summary: Summary): string {
  return [
    `${summary.runs} runs · ${total(summary.faults)} faults · ${summary.calls} calls · ${summary.acknowledged} acknowledged · ${summary.unanswered} unanswered`,
    `refused: ${list(summary.refused)}`,
    `faults: ${list(summary.faults)}`,
    `violations: ${list(summary.violations)}${summary.seeds.length === 0 ? "" : `, seeds ${summary.seeds.join(", ")}`}`,
  ].join("\n");
}

/** Writes figures as JSON; gives the file's path. */
export function keepFigures(name: string, figures: object): string {
  mkdirSync(RESULTS, { recursive: true });
  const path = join(RESULTS, `${name}.json`);
  const machine = { node: process.version, cpu: cpus()[0]?.model ?? "unknown", cores: cpus().length };
  writeFileSync(path, `${JSON.stringify({ at: new Date().toISOString(), machine, ...figures }, null, 2)}\n`);
  return path;
}

function total(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}

function sumOf(all: readonly Readonly<Record<string, number>>[]): Readonly<Record<string, number>> {
  const sum: Record<string, number> = {};
  for (const counts of all) for (const [name, count] of Object.entries(counts)) sum[name] = (sum[name] ?? 0) + count;
  return sum;
}

function list(counts: Readonly<Record<string, number>>): string {
  const named = Object.entries(counts).sort(([, a], [, b]) => b - a);
  return named.length === 0 ? "none" : named.map(([name, count]) => `${name} ${count}`).join(", ");
}
