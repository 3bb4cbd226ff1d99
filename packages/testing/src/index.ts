// The door of the package: the suite for adapters, its cases as data, and what tests of a memory need: a clock that is
// moved by hand, a driver that fails on purpose, a run of random operations against the reference.

export { type CaseHook, type ConformanceCase, concernOf } from "./case.ts";
export { conformanceCases } from "./cases.ts";
export { type ConformanceOptions, memoryStoreConformance } from "./conformance.ts";
export type { CaseContext, ConformanceTarget, ScopeParts, StoreOptions } from "./context.ts";
export {
  type ConformanceDocument,
  conformanceDocument,
  type ReportedFailure,
  type ReportedPromise,
  type ReportedRandomRun,
  type ReportedRefusal,
  type ReportedSequence,
  type ReportedSkip,
} from "./document.ts";
export type { Finding } from "./failure.ts";
export { FakeClock } from "./fake-clock.ts";
export { type Fault, type FaultKind, type FaultyDriver, faultyDriver, InjectedFault } from "./faulty-driver.ts";
export type { TestRunner } from "./harness.ts";
export { formatDocument } from "./markdown.ts";
export { ModelRunFailure } from "./model/failure.ts";
export { type ModelRunOptions, type ModelRunReport, modelBasedRun } from "./model/run.ts";
export type { RandomRunOptions, RandomRunResult } from "./random-run.ts";
export { type CaseResult, type ConformanceReport, conformanceReport, formatReport } from "./report.ts";
