// The suite as one call: every case of the protocol, bound to a runner, over a target.

import { conformanceCases } from "./cases.ts";
import type { ConformanceTarget } from "./context.ts";
import { bindCases, type TestRunner } from "./harness.ts";
import type { RandomRunOptions } from "./random-run.ts";
import type { ConformanceReport } from "./report.ts";
import { reportFiles, reportPaths, writeReport } from "./report-files.ts";

/** How the suite is run; everything may be left out. */
export interface ConformanceOptions {
  /**
   * Where the report is written: a file that ends in `.json` or `.md`, or a folder, which gets one of each under the
   * target's name; several may be given. The environment's `MEMORY_CONFORMANCE_REPORT` (paths, separated by commas) adds
   * to it; `false` writes none, whatever the environment says. Default: what the environment says.
   */
  readonly report?: string | readonly string[] | false;
  /**
   * The version of the suite that the adapter is held to, `x.y.z`: what came later and would fail is skipped and stands
   * in the report as announced. Default: every case.
   */
  readonly heldTo?: string;
  /**
   * Adds one test that drives random sequences of operations through the store and through the in-memory reference. Where
   * they differ, it fails with the shrunk sequence, and with `MEMORY_CONFORMANCE_SEED` and `MEMORY_CONFORMANCE_PATH` set as
   * it says, it runs that sequence again. Takes as long as its sequences: raise the runner's timeout. Default: none.
   */
  readonly random?: RandomRunOptions;
}

/**
 * Registers every case of the protocol with a test runner. What applies is read from the store's capabilities; a case
 * that does not apply shows as skipped with its reason after its refusal twin has run in its place. Each case makes its
 * own random tenant: nothing is flushed, and cases may run side by side.
 *
 * @param runner `{ describe, test }` of Vitest, `node:test` or any runner with these two.
 * @param target How to open stores over shared servers, and what can be done to these.
 * @param options Where the report is written, what the target is held to, and whether random sequences are run.
 * @returns What became of the cases so far; complete when the runner is done.
 * @throws {RangeError} `heldTo` is not `x.y.z`.
 * @example
 * memoryStoreConformance({ describe, test }, { name: "mine", open: (options) => createMemoryStore(myDriver(), options) });
 */
export function memoryStoreConformance(
  runner: TestRunner,
  target: ConformanceTarget,
  options: ConformanceOptions = {},
): ConformanceReport {
  const files = reportFiles(target.name, reportPaths(options.report));
  const onChange = (report: ConformanceReport) => writeReport(report, files);
  return bindCases(runner, target, conformanceCases, { heldTo: options.heldTo, random: options.random, onChange });
}
