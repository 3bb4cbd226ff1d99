// A test runner that only notes what is registered, so that a test can run it by name and look at what comes of it.

import type { TestRunner } from "../src/harness.ts";

type Body = (...context: readonly unknown[]) => Promise<void>;

/** The runner, what was registered with it, and how to run a test by the beginning of its name. */
export interface NotingRunner {
  readonly runner: TestRunner;
  readonly tests: readonly (readonly [name: string, body: Body])[];
  /** Rejects with what the test fails with. */
  run(name: string): Promise<void>;
}

/** A runner with nothing registered. */
export function noting(): NotingRunner {
  const tests: (readonly [name: string, body: Body])[] = [];
  return {
    runner: { describe: (_, body) => body(), test: (name, body) => tests.push([name, body]) },
    tests,
    run: async (name) => await tests.find(([candidate]) => candidate.startsWith(name))?.[1]({ skip: () => undefined }),
  };
}

/** The message of whatever was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
