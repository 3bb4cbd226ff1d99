// What a report says it was made with: the versions of core, of the suite, of the runtime and of the test runner, as far
// as they can be found. Whatever cannot be is `null`, and never guessed.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { TestRunner } from "./harness.ts";

/** The version of the suite. */
export function suiteVersion(): string | null {
  return versionIn(() => new URL("../package.json", import.meta.url));
}

/** The version of the core that the suite has as its peer. */
export function coreVersion(): string | null {
  return versionIn(() => createRequire(import.meta.url).resolve("@memory/core/package.json"));
}

/** The runtime, by name and version: `node 24.1.0`, `bun 1.3.0`. */
export function runtimeName(): string {
  const bun = process.versions["bun"];
  return bun === undefined ? `node ${process.versions.node}` : `bun ${bun}`;
}

/** A test runner, and how one test is run by its name. */
export interface RunnerName {
  /** With its version where it has one of its own: `vitest 5.1.2`, `node:test`. */
  readonly name: string;
  /** The command that runs one test, by a part of its name. */
  readonly replay: (name: string) => string;
}

/** The test runner behind these functions; `null` where it is none of node:test, Vitest, Jest and Bun. */
export function runnerName(runner: TestRunner): RunnerName | null {
  // Exact, where a process that one runner started runs another.
  if (isNodeTest(runner)) {
    return { name: "node:test", replay: (name) => `node --test --test-name-pattern='${name}'` };
  }
  if (process.versions["bun"] !== undefined) return { name: "bun test", replay: (name) => `bun test -t '${name}'` };
  if (process.env["VITEST"] !== undefined) {
    return { name: named("vitest"), replay: (name) => `npx vitest run -t '${name}'` };
  }
  if (process.env["JEST_WORKER_ID"] !== undefined) {
    return { name: named("jest"), replay: (name) => `npx jest -t '${name}'` };
  }
  return null;
}

function isNodeTest(runner: TestRunner): boolean {
  const builtin: unknown = process.getBuiltinModule?.("node:test");
  if (typeof builtin !== "object" && typeof builtin !== "function") return false;
  return builtin !== null && [Reflect.get(builtin, "test"), Reflect.get(builtin, "it")].includes(runner.test);
}

function named(runner: string): string {
  const path = () => createRequire(join(process.cwd(), "package.json")).resolve(`${runner}/package.json`);
  const version = versionIn(path);
  return version === null ? runner : `${runner} ${version}`;
}

function versionIn(find: () => string | URL): string | null {
  try {
    const manifest: unknown = JSON.parse(readFileSync(find(), "utf8"));
    const version: unknown = typeof manifest === "object" && manifest !== null && Reflect.get(manifest, "version");
    return typeof version === "string" ? version : null;
  } catch {
    return null;
  }
}
