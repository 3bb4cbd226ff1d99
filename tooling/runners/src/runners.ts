// The test runners that docs/conformance.md names: what of each is installed, which file of the page it runs, and how.

/** A test runner. */
export interface Runner {
  /** As a report begins to name it. */
  readonly name: string;
  /** What npm installs of it, pinned; empty where the runtime brings it. */
  readonly installs: Readonly<Record<string, string>>;
  /** The page's file that binds the suite to it. */
  readonly file: string;
  /** The command, in the project's folder; the page shows it as it is. */
  readonly command: string;
}

/** Every runner, in the page's order. */
export const runners: readonly Runner[] = [
  { name: "vitest", installs: { vitest: "5.1.2" }, file: "vitest.test.js", command: "npx vitest run vitest.test.js" },
  { name: "node:test", installs: {}, file: "node.test.js", command: "node --test node.test.js" },
  {
    name: "jest",
    installs: { jest: "30.5.2" },
    file: "jest.test.js",
    command: "NODE_OPTIONS=--experimental-vm-modules npx jest jest.test.js",
  },
  { name: "bun test", installs: { bun: "1.4.5" }, file: "bun.test.js", command: "npx bun test bun.test.js" },
];

/** The page's file that all of them import. */
export const TARGET_FILE = "memory.target.js";
