// Binds cases to a test runner: any that has `describe` and `test`. What a store can do is asked when the first case
// runs, not when the file is loaded, so that a target may need servers that a hook of the runner starts.

import assert from "node:assert/strict";
import type { MemoryCapabilities } from "@memory/core";
import { type ConformanceCase, concernOf } from "./case.ts";
import type { ConformanceTarget } from "./context.ts";
import { promiseBroken } from "./failure.ts";
import { RANDOM_PROMISE, RANDOM_TEST, type RandomRunOptions, randomRun, sequenceBroken } from "./random-run.ts";
import { type CaseResult, type ConformanceReport, capabilitiesOf, emptyReport, runCase, skipNote } from "./report.ts";
import { compareVersions } from "./suite-version.ts";
import { runnerName } from "./versions.ts";

/** A test runner's two functions: those of Vitest, `node:test`, Jest, Bun and others. */
export interface TestRunner {
  /** Groups what `body` registers. */
  readonly describe: (name: string, body: () => void) => unknown;
  /**
   * Registers a test; where the runner passes a context with `skip(reason)`, a case that does not apply uses it. Vitest, Jest
   * and Bun take the third argument for how long it may last, in milliseconds; node:test, which sets no bound, ignores it.
   */
  readonly test: (name: string, body: (...context: readonly unknown[]) => Promise<void>, timeoutMs: number) => unknown;
}

/**
 * How long one case may last, in milliseconds: the largest value crosses a slow network several times. A runner's own bound of
 * 5 s would fail a test whose case is then told as kept.
 */
const CASE_MS = 60_000;
/** How long a random sequence may take beside that, shrinking included. */
const SEQUENCE_MS = 5_000;

/** What a binding adds to cases: the version that the target is held to, and who is told when the report has changed. */
export interface Binding {
  readonly heldTo?: string | undefined;
  /** Adds a test of random sequences. */
  readonly random?: RandomRunOptions | undefined;
  /** Called whenever a case has settled, or it is known why none can. What it throws fails the test. */
  readonly onChange?: ((report: ConformanceReport) => void) | undefined;
}

/**
 * Registers one test for each case, by concern, and one that fails where no case applies. Gives the report as it grows.
 *
 * @throws {RangeError} `heldTo` is not `x.y.z`.
 */
export function bindCases(
  runner: TestRunner,
  target: ConformanceTarget,
  cases: readonly ConformanceCase[],
  { heldTo, random, onChange }: Binding = {},
): ConformanceReport {
  assertCases(cases);
  if (heldTo !== undefined) compareVersions(heldTo, heldTo);
  const results: CaseResult[] = [];
  const known = runnerName(runner);
  const report: Growing<ConformanceReport> = {
    ...emptyReport(target, cases, heldTo),
    runner: known?.name ?? null,
    results,
    random: random === undefined ? null : "unsettled",
  };
  let asked: Promise<MemoryCapabilities> | undefined;
  const ask = async (): Promise<MemoryCapabilities> => {
    try {
      report.capabilities = await capabilitiesOf(target);
      report.server = (await target.server?.()) ?? null;
      return report.capabilities;
    } catch (error) {
      report.obstacle = String(error);
      onChange?.(report);
      throw error;
    }
  };
  const capabilities = () => {
    asked ??= ask();
    return asked;
  };
  runner.describe(`memory protocol: ${target.name}`, () => {
    for (const concern of new Set(cases.map(concernOf))) {
      runner.describe(concern, () => {
        for (const one of cases.filter((candidate) => concernOf(candidate) === concern)) {
          // Rest parameters keep the function's length at 0: some runners take a declared parameter for a callback.
          runner.test(
            `${one.id}: ${one.promise}`,
            async (...context) => {
              const result = await runCase(target, one, await capabilities(), heldTo);
              results.push(result);
              onChange?.(report);
              if (result.outcome === "failed") {
                throw promiseBroken(target.name, result, known?.replay(one.id) ?? null);
              }
              if (result.outcome === "skipped") skip(context[0], result);
            },
            CASE_MS,
          );
        }
      });
    }
    if (random !== undefined) {
      runner.test(
        `${RANDOM_TEST}: ${RANDOM_PROMISE}`,
        async () => {
          const result = await randomRun(target, await capabilities(), random);
          report.random = result;
          onChange?.(report);
          if (result.error === undefined) return;
          throw sequenceBroken(target.name, result.error, known?.replay(RANDOM_TEST) ?? null);
        },
        CASE_MS + random.sequences * SEQUENCE_MS,
      );
    }
    runner.test(
      "the store holds at least one kind of memory, so that some case applies",
      async () => {
        const { working, profile, episodic, semantic } = await capabilities();
        assert.ok(working || profile || episodic || semantic, "no case applies: the driver has no section");
      },
      CASE_MS,
    );
  });
  return report;
}

type Growing<T> = { -readonly [Name in keyof T]: T[Name] };

/** Fails when there is no case, when two have one id, or when an id is not `<concern>/<slug>`. */
export function assertCases(cases: readonly ConformanceCase[]): void {
  assert.ok(cases.length > 0, "there are no cases");
  const ids = cases.map(({ id }) => id);
  const repeated = ids.filter((id, index) => ids.indexOf(id) !== index);
  assert.deepEqual(repeated, [], "ids are not unique");
  const malformed = ids.filter((id) => !/^[a-z]+(?:-[a-z]+)*\/[a-z0-9]+(?:-[a-z0-9]+)*$/.test(id));
  assert.deepEqual(malformed, [], "ids are not <concern>/<slug>");
}

function skip(context: unknown, result: CaseResult): void {
  const note = skipNote(result);
  const method: unknown = typeof context === "object" && context !== null ? Reflect.get(context, "skip") : undefined;
  if (typeof method === "function") method.call(context, note);
  else console.info(`skipped: ${note}`);
}
