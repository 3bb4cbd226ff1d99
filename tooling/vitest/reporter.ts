// What a run of tests prints: one line for each file, what failed in full, and why tests were skipped, counted. Vitest's
// own reporter lists every test of a file in which one failed, and every slow one: with a conformance suite in the file
// that is hundreds of lines around the one that matters.

import { DefaultReporter, type TestCase, type TestModule, type TestModuleState } from "vitest/node";

const SHOWN_REASONS = 3;

/** Vitest's default reporter, with one line a file. `--reporter=verbose` shows every test. */
export class FileReporter extends DefaultReporter {
  override onTestRunStart(...args: Parameters<DefaultReporter["onTestRunStart"]>): void {
    super.onTestRunStart(...args);
    // On a terminal a single file would be listed whole.
    this.renderSucceed = false;
  }

  protected override printTestModule(module: TestModule): void {
    super.printTestModule(module);
    const reasons = skipReasons(module);
    for (const [reason, count] of reasons.slice(0, SHOWN_REASONS)) this.log(`     ${count} skipped: ${reason}`);
    const others = reasons.slice(SHOWN_REASONS).reduce((sum, [, count]) => sum + count, 0);
    if (others > 0) this.log(`     ${others} skipped for ${reasons.length - SHOWN_REASONS} more reasons`);
  }

  protected override printTestCase(state: TestModuleState, test: TestCase): void {
    if (test.result().state === "failed") super.printTestCase(state, test);
  }
}

/** The reasons that tests gave for being skipped, the most frequent first. */
function skipReasons(module: TestModule): readonly (readonly [reason: string, count: number])[] {
  const counts = new Map<string, number>();
  for (const test of module.children.allTests("skipped")) {
    const result = test.result();
    if (result.state !== "skipped" || result.note === undefined) continue;
    counts.set(result.note, (counts.get(result.note) ?? 0) + 1);
  }
  return [...counts].sort(([, left], [, right]) => right - left);
}
