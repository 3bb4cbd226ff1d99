// The suite as one call: every case of the protocol, bound to a runner, over a target.

import { conformanceCases } from "./cases.ts";
import type { ConformanceTarget } from "./context.ts";
import { bindCases, type TestRunner } from "./harness.ts";
import type { ConformanceReport } from "./report.ts";

/**
 * Registers every case of the protocol with a test runner. What applies is read from the store's capabilities; a case
 * that does not apply shows as skipped with its reason after its refusal twin has run in its place. Each case makes its
 * own random tenant: nothing is flushed, and cases may run side by side.
 *
 * @param runner `{ describe, test }` of Vitest, `node:test` or any runner with these two.
 * @param target How to open stores over shared servers, and what can be done to these.
 * @returns What became of the cases so far; complete when the runner is done.
 * @example
 * memoryStoreConformance({ describe, test }, { name: "mine", open: (options) => createMemoryStore(myDriver(), options) });
 */
export function memoryStoreConformance(runner: TestRunner, target: ConformanceTarget): ConformanceReport {
  return bindCases(runner, target, conformanceCases);
}
