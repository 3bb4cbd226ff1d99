// The conformance report as a document: plain JSON that stays readable by every later version of its schema, with what
// was tested, with what, and what came of each promise. What a CI job keeps, and what an adapter shows its users.

import type { MemoryCapabilities } from "@memory/core";
import { concernOf } from "./case.ts";
import { type Finding, findingOf } from "./failure.ts";
import { ModelRunFailure } from "./model/failure.ts";
import type { RandomRunResult } from "./random-run.ts";
import type { CaseResult, ConformanceReport } from "./report.ts";
import { sectionAddress, sectionTitle } from "./sections.ts";
import { sinceOf } from "./suite-version.ts";
import { coreVersion, runtimeName, suiteVersion } from "./versions.ts";

/** A promise, and where it stands. */
export interface ReportedPromise {
  /** The case's id. */
  readonly id: string;
  readonly promise: string;
  /** The heading in the protocol's page. */
  readonly section: string;
  /** The page's address, with the heading's anchor. */
  readonly address: string;
  /** The version of the suite that brought the case. */
  readonly since: string;
}

/** A promise that does not hold: what was observed, and what was expected. */
export interface ReportedFailure extends ReportedPromise, Finding {
  /** Whether what fails is that the operation is refused: the store lacks what the promise needs. */
  readonly refusal: boolean;
}

/** A promise that was not tried, and why. */
export interface ReportedSkip extends ReportedPromise {
  readonly reason: string;
  /** Whether it was checked that the operation is refused instead. */
  readonly refusal: boolean;
}

/** What a store that lacks a capability was seen to refuse. */
export interface ReportedRefusal {
  /** The capability: a kind, or a finer one. */
  readonly capability: string;
  /** The operations that were refused with `CapabilityError`. */
  readonly operations: readonly string[];
  /** The cases in whose place this was checked. */
  readonly cases: readonly string[];
}

/** What became of random sequences of operations, compared with a reference. */
export interface ReportedRandomRun {
  readonly reference: string;
  /** Makes the same sequences again. */
  readonly seed: number;
  readonly sequences: number;
  /** Answers compared; `null` where the run failed. */
  readonly comparisons: number | null;
  /** How the stores differ; `null` where they do not. */
  readonly failure: ReportedSequence | null;
}

/** The shortest sequence that shows a difference. */
export interface ReportedSequence extends Finding {
  /** With the seed: goes straight to this sequence; `null` where the run did not come to compare. */
  readonly path: string | null;
  /** How it was set up, then its steps, as JSON each. */
  readonly sequence: readonly string[];
}

/** A conformance report, as it is written to a file. Within a schema, members are only added. */
export interface ConformanceDocument {
  readonly schema: "memory-conformance/1";
  /** What was tested; `version` is `null` where its target names none. */
  readonly adapter: { readonly name: string; readonly version: string | null };
  /** What it was tested with; `null` is not known. */
  readonly versions: {
    readonly core: string | null;
    /** Of this suite. */
    readonly testing: string | null;
    readonly runtime: string;
    readonly runner: string | null;
    readonly server: string | null;
  };
  /** When the report was written, as an ISO 8601 instant. */
  readonly writtenAt: string;
  /** The version of the suite that the adapter is held to; `null`: to every case. */
  readonly heldTo: string | null;
  /** What the store said it can do; `null` where none could be opened. */
  readonly capabilities: MemoryCapabilities | null;
  /** Why no store could be opened; `null` where one was. */
  readonly obstacle: string | null;
  /** Whether every case has settled, and the random sequences where they were asked for. */
  readonly complete: boolean;
  /** Whether it is complete, some promise was kept, and none was broken. */
  readonly conforms: boolean;
  readonly kept: readonly ReportedPromise[];
  readonly failed: readonly ReportedFailure[];
  /** Without those that are announced. */
  readonly skipped: readonly ReportedSkip[];
  readonly refusals: readonly ReportedRefusal[];
  /** Newer than what the adapter is held to, and not kept: they fail once it is held to the present suite. */
  readonly announced: readonly ReportedFailure[];
  /** The random sequences; `null` where none were asked for, or they have not ended. */
  readonly random: ReportedRandomRun | null;
  /** The cases that have not settled: not run, or cut off by the runner. */
  readonly unsettled: readonly ReportedPromise[];
}

/** The document of a report as it stands; promises in the order of the protocol. */
export function conformanceDocument(report: ConformanceReport): ConformanceDocument {
  const results = new Map(report.results.map((one) => [one.id, one]));
  const settled = report.cases.flatMap((one) => {
    const result = results.get(one.id);
    return result === undefined ? [] : [{ result, stands: standing(one) }];
  });
  const having = (outcome: CaseResult["outcome"]) => settled.filter(({ result }) => result.outcome === outcome);
  const skipped = having("skipped");
  const kept = having("passed").map(({ stands }) => stands);
  const failed = having("failed").map(failureOf);
  const unsettled = report.cases.filter(({ id }) => !results.has(id)).map(standing);
  const random = report.random === "unsettled" ? null : report.random;
  const complete = unsettled.length === 0 && report.random !== "unsettled";
  return {
    schema: "memory-conformance/1",
    adapter: { name: report.target, version: report.version },
    versions: {
      core: coreVersion(),
      testing: suiteVersion(),
      runtime: runtimeName(),
      runner: report.runner,
      server: report.server,
    },
    writtenAt: new Date().toISOString(),
    heldTo: report.heldTo,
    capabilities: report.capabilities,
    obstacle: report.obstacle,
    complete,
    conforms: complete && failed.length === 0 && kept.length > 0 && random?.error === undefined,
    kept,
    failed,
    skipped: skipped
      .filter(({ result }) => !result.announced)
      .map(({ result, stands }) => ({ ...stands, reason: result.reason ?? "", refusal: result.refusal })),
    refusals: refusalsOf(skipped.map(({ result }) => result).filter(({ refusal }) => refusal)),
    announced: skipped.filter(({ result }) => result.announced).map(failureOf),
    random: random === null ? null : randomOf(random),
    unsettled,
  };
}

function randomOf({ error, ...rest }: RandomRunResult): ReportedRandomRun {
  if (error === undefined) return { ...rest, failure: null };
  if (!(error instanceof ModelRunFailure)) {
    return { ...rest, failure: { ...findingOf(error), path: null, sequence: [] } };
  }
  const { observed, wanted, where, path, sequence } = error;
  return { ...rest, failure: { observed, expected: wanted, says: where, path, sequence } };
}

function standing(one: ConformanceReport["cases"][number]): ReportedPromise {
  const concern = concernOf(one);
  return {
    id: one.id,
    promise: one.promise,
    section: sectionTitle(concern),
    address: sectionAddress(concern),
    since: sinceOf(one),
  };
}

function failureOf({ result, stands }: { result: CaseResult; stands: ReportedPromise }): ReportedFailure {
  return { ...stands, ...findingOf(result.error), refusal: result.refusal };
}

function refusalsOf(results: readonly CaseResult[]): readonly ReportedRefusal[] {
  const capabilities = [...new Set(results.flatMap(({ missing }) => missing))];
  return capabilities.map((capability) => {
    const ones = results.filter(({ missing }) => missing.includes(capability));
    return {
      capability,
      // Where a case lacks several capabilities, what its twin saw refused is not told apart by them.
      operations: [...new Set(ones.filter(({ missing }) => missing.length === 1).flatMap(({ refused }) => refused))],
      cases: ones.map(({ id }) => id),
    };
  });
}
