// What a run of the suite found: which cases passed, failed, or did not apply and why, and where a refusal was checked in
// a case's place. Plain data, so that a gate in CI can insist on more than "nothing failed".

import type { MemoryCapabilities } from "@memory/core";
import type { ConformanceCase } from "./case.ts";
import { type ConformanceTarget, caseContext, missingHooks } from "./context.ts";
import { refuseMissing } from "./missing.ts";
import { missingNeeds } from "./needs.ts";
import type { RandomRunResult } from "./random-run.ts";
import { isHeldTo, sinceOf } from "./suite-version.ts";

/** What became of one case. */
export interface CaseResult {
  readonly id: string;
  readonly promise: string;
  readonly outcome: "passed" | "failed" | "skipped";
  /** Why it was skipped: what is missing, or that the case is newer than what the target is held to. `null` where it ran. */
  readonly reason: string | null;
  /** Whether the case's refusal twin ran in its place (and, unless the outcome is `failed`, passed). */
  readonly refusal: boolean;
  /** The capabilities that the case needs and the store lacks. */
  readonly missing: readonly string[];
  /** The operations that the refusal twin saw refused; empty where it does not name them. */
  readonly refused: readonly string[];
  /** Whether it would have failed, but came after the version that the target is held to: `error` says with what. */
  readonly announced: boolean;
  /** What it failed, or would have failed, with; otherwise `undefined`. */
  readonly error: unknown;
}

/** What became of every case so far. */
export interface ConformanceReport {
  /** The target's name. */
  readonly target: string;
  /** The adapter's version; `null` where the target names none. */
  readonly version: string | null;
  /** The server and its version; `null` where the target names none, or was not asked yet. */
  readonly server: string | null;
  /** The test runner; `null` where it is not known, or there is none. */
  readonly runner: string | null;
  /** The version of the suite that the target is held to; `null` where it is held to every case. */
  readonly heldTo: string | null;
  /** What the store can do; `null` before it was opened. */
  readonly capabilities: MemoryCapabilities | null;
  /** Why no store could be opened; `null` where one was. */
  readonly obstacle: string | null;
  /** How many cases there are. */
  readonly total: number;
  /** Every case that there is, settled or not, in the order of the protocol. */
  readonly cases: readonly Pick<ConformanceCase, "id" | "promise" | "since">[];
  /** One result for each case that has settled, in the order in which they did. */
  readonly results: readonly CaseResult[];
  /** What became of the random sequences; `null` where none were asked for, `"unsettled"` where they have not ended. */
  readonly random: RandomRunResult | "unsettled" | null;
}

/** Reads what the target's stores can do, from a store that is closed again. */
export async function capabilitiesOf(target: ConformanceTarget): Promise<MemoryCapabilities> {
  const store = await target.open({});
  const { capabilities } = store;
  await store.close();
  return capabilities;
}

/**
 * Runs one case, or where it does not apply its refusal twin. Never rejects: a failure is in the result. A case that is
 * newer than `heldTo` is given three seconds, and is skipped where it fails.
 */
export async function runCase(
  target: ConformanceTarget,
  one: ConformanceCase,
  capabilities: MemoryCapabilities,
  heldTo?: string,
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
  const held = isHeldTo(one, heldTo);
  const common = { id, promise, refusal, missing, refused: [], announced: false, reason, error: undefined };
  const run = async (): Promise<readonly string[]> => {
    await using context = caseContext(target, capabilities);
    if (reason === null) await one.run(context);
    else if (refusal && one.refusal === undefined) return await refuseMissing(context, missing);
    else if (refusal) await one.refusal?.(context);
    return [];
  };
  try {
    const refused = await (held ? run() : withinGrace(run()));
    return { ...common, outcome: reason === null ? "passed" : "skipped", refused };
  } catch (error) {
    if (held) return { ...common, outcome: "failed", error };
    const late = `new in ${sinceOf(one)}, and the target is held to ${heldTo}: it would fail`;
    return { ...common, outcome: "skipped", reason: late, announced: true, refusal: false, error };
  }
}

const GRACE_MS = 3_000;

/** The work, unless it takes longer than a test may take in any runner: then a rejection. */
async function withinGrace<T>(work: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`it did not settle within ${GRACE_MS} ms`)), GRACE_MS);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Runs cases against a target without any test runner.
 *
 * @param options `cases` to run; `untilFailure` stops at the first that fails; `heldTo` is the version of the suite that
 * the target is held to.
 * @throws {RangeError} `heldTo` is not `x.y.z`.
 */
export async function conformanceReport(
  target: ConformanceTarget,
  options: { readonly cases: readonly ConformanceCase[]; readonly untilFailure?: boolean; readonly heldTo?: string },
): Promise<ConformanceReport> {
  const { cases, heldTo } = options;
  const capabilities = await capabilitiesOf(target);
  const server = (await target.server?.()) ?? null;
  const results: CaseResult[] = [];
  for (const one of cases) {
    const result = await runCase(target, one, capabilities, heldTo);
    results.push(result);
    if (options.untilFailure === true && result.outcome === "failed") break;
  }
  return { ...emptyReport(target, cases, heldTo), server, capabilities, results };
}

/** The report before anything has run. */
export function emptyReport(
  target: ConformanceTarget,
  cases: readonly ConformanceCase[],
  heldTo: string | undefined,
): ConformanceReport {
  return {
    target: target.name,
    version: target.version ?? null,
    server: null,
    runner: null,
    heldTo: heldTo ?? null,
    capabilities: null,
    obstacle: null,
    total: cases.length,
    cases,
    results: [],
    random: null,
  };
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
