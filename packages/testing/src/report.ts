// What a run of the suite found: which cases passed, failed, or did not apply and why, and where a refusal was checked in
// a case's place. Plain data, so that a gate in CI can insist on more than "nothing failed".

import type { MemoryCapabilities } from "@memory/core";
import type { ConformanceCase } from "./case.ts";
import { type ConformanceTarget, caseContext, missingHooks } from "./context.ts";
import { refuseMissing } from "./missing.ts";
import { missingNeeds } from "./needs.ts";

/** What became of one case. */
export interface CaseResult {
  readonly id: string;
  readonly promise: string;
  readonly outcome: "passed" | "failed" | "skipped";
  /** Why it was skipped: the capabilities or hooks that are missing. `null` where it ran. */
  readonly reason: string | null;
  /** Whether the case's refusal twin ran in its place (and, unless the outcome is `failed`, passed). */
  readonly refusal: boolean;
  /** What it failed with; `undefined` where it did not fail. */
  readonly error: unknown;
}

/** What became of every case so far. */
export interface ConformanceReport {
  /** The target's name. */
  readonly target: string;
  /** How many cases there are. */
  readonly total: number;
  /** One result for each case that has settled, in the order in which they did. */
  readonly results: readonly CaseResult[];
}

/** Reads what the target's stores can do, from a store that is closed again. */
export async function capabilitiesOf(target: ConformanceTarget): Promise<MemoryCapabilities> {
  const store = await target.open({});
  const { capabilities } = store;
  await store.close();
  return capabilities;
}

/** Runs one case, or where it does not apply its refusal twin. Never rejects: a failure is in the result. */
export async function runCase(
  target: ConformanceTarget,
  one: ConformanceCase,
  capabilities: MemoryCapabilities,
): Promise<CaseResult> {
  const { id, promise } = one;
  const missing = missingNeeds(target.name, capabilities, one.needs);
  const hooks = missingHooks(target, one.hooks);
  const reason =
    missing.length > 0
      ? `the store lacks ${missing.join(", ")}`
      : hooks.length > 0
        ? `the target offers no ${hooks.join(", ")}`
        : null;
  const refusal = missing.length > 0;
  try {
    await using context = caseContext(target, capabilities);
    if (reason === null) await one.run(context);
    else if (refusal) await (one.refusal?.(context) ?? refuseMissing(context, missing));
  } catch (error) {
    return { id, promise, outcome: "failed", reason, refusal, error };
  }
  return { id, promise, outcome: reason === null ? "passed" : "skipped", reason, refusal, error: undefined };
}

/**
 * Runs cases against a target without any test runner.
 *
 * @param options `cases` to run; `untilFailure` stops at the first that fails.
 */
export async function conformanceReport(
  target: ConformanceTarget,
  options: { readonly cases: readonly ConformanceCase[]; readonly untilFailure?: boolean },
): Promise<ConformanceReport> {
  const capabilities = await capabilitiesOf(target);
  const results: CaseResult[] = [];
  for (const one of options.cases) {
    const result = await runCase(target, one, capabilities);
    results.push(result);
    if (options.untilFailure === true && result.outcome === "failed") break;
  }
  return { target: target.name, total: options.cases.length, results };
}

/** Why a case was skipped, and whether its refusal was checked in its place. */
export function skipNote({ reason, refusal }: CaseResult): string {
  return `${reason}${refusal ? "; that it is refused was checked" : ""}`;
}

/** The report as text: a line of counts, a line for each case that failed, then one for each reason to skip, with its cases. */
export function formatReport(report: ConformanceReport): string {
  const having = (outcome: CaseResult["outcome"]) => report.results.filter((one) => one.outcome === outcome);
  const [passed, failed, skipped] = [having("passed"), having("failed"), having("skipped")];
  const refusals = skipped.filter((one) => one.refusal).length;
  const head =
    `${report.target}: ${report.total} cases, ${passed.length} passed, ${failed.length} failed, ` +
    `${skipped.length} skipped (${refusals} refusals checked in their place)`;
  const byReason = Map.groupBy(skipped, skipNote);
  return [
    head,
    ...failed.map((one) => `  failed   ${one.id}: ${String(one.error)}`),
    ...[...byReason].map(([reason, ones]) => `  skipped  ${reason}: ${ones.map(({ id }) => id).join(", ")}`),
  ].join("\n");
}
