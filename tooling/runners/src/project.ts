// A project with the page's files in it, and what comes of the suite in it under a runner: over the page's own store,
// which has to conform, and over a broken one, whose failures have to be told so that a person can act on them.

import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { ConformanceDocument } from "@memory/testing";
import { type Runner, TARGET_FILE } from "./runners.ts";

/** What came of one runner: each finding is a sentence; none where all is well. */
export interface Outcome {
  readonly findings: readonly string[];
  /** What was kept, broken and skipped over the page's own store. */
  readonly summary: string;
}

/** Writes the page's files, and a manifest with these dependencies, into an empty folder. */
export function writeProject(
  folder: string,
  files: ReadonlyMap<string, string>,
  dependencies: Readonly<Record<string, string>>,
): void {
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of files) writeFileSync(join(folder, name), text);
  const manifest = { name: "mine", private: true, type: "module", dependencies };
  writeFileSync(join(folder, "package.json"), JSON.stringify(manifest, undefined, 2));
}

/** Runs the suite under the runner: over the page's store, then over the broken one. */
export function runUnder(runner: Runner, folder: string, flags = ""): Outcome {
  const target = join(folder, TARGET_FILE);
  const own = readFileSync(target, "utf8");
  const sound = run(runner, folder, flags);
  cpSync(fileURLToPath(new URL("../fixture/broken.target.js", import.meta.url)), target);
  const broken = run(runner, folder, flags);
  writeFileSync(target, own);
  const { report } = sound;
  const counts = [report?.kept, report?.failed, report?.skipped].map((list) => list?.length ?? "no");
  return {
    findings: [...soundFindings(runner, sound), ...brokenFindings(broken)],
    summary: `${report?.versions.runner ?? runner.name}: ${counts[0]} kept, ${counts[1]} broken, ${counts[2]} skipped`,
  };
}

interface Run {
  readonly status: number | null;
  readonly output: string;
  readonly report: ConformanceDocument | undefined;
}

function run({ command }: Runner, folder: string, flags: string): Run {
  const path = join(folder, "reports", "conformance.json");
  rmSync(path, { force: true });
  // Nothing of the process that runs this: each runner marks its children for itself.
  const own = /^(npm_|NODE_OPTIONS$|NODE_TEST_CONTEXT$|VITEST|JEST_|FORCE_COLOR$)/i;
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !own.test(name)));
  const { status, stdout, stderr } = spawnSync(command.replace(/^node /, `node ${flags}`), {
    cwd: folder,
    encoding: "utf8",
    shell: true,
    env: { ...env, NO_COLOR: "1", MEMORY_CONFORMANCE_REPORT: path },
    maxBuffer: 64 * 1024 * 1024,
  });
  const report = existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : undefined;
  return { status, output: `${stdout}${stderr}`, report };
}

function soundFindings(runner: Runner, { status, output, report }: Run): readonly string[] {
  if (report === undefined) return [`wrote no report and ended with ${status}:\n${tail(output)}`];
  const { versions, adapter, kept, skipped, refusals } = report;
  return [
    ...(status === 0 ? [] : [`ended with ${status}:\n${tail(output)}`]),
    ...(report.conforms ? [] : ["the report says that the store does not conform"]),
    ...(versions.runner?.startsWith(runner.name) === true ? [] : [`the report names the runner ${versions.runner}`]),
    ...(versions.core !== null && versions.testing !== null ? [] : ["the report does not name core and the suite"]),
    ...(adapter.version === "1.2.3" ? [] : [`the report names the adapter's version ${adapter.version}`]),
    ...(kept.length > 100 && skipped.length > 10 ? [] : [`${kept.length} kept and ${skipped.length} skipped`]),
    ...(refusals.some(({ operations }) => operations.includes("search")) ? [] : ["no refusal of search was checked"]),
  ];
}

function brokenFindings({ status, output, report }: Run): readonly string[] {
  const failed = report?.failed ?? [];
  const silent = failed.filter(({ id, promise }) => !output.includes(id) || !output.includes(promise));
  const words = ["breaks a promise: ", "observed: ", "expected: ", "replay: "];
  return [
    ...(status !== 0 ? [] : ["a broken store passed"]),
    ...(report?.conforms === false && failed.length > 10 ? [] : [`${failed.length} promises were seen broken`]),
    ...silent.map(({ id }) => `the output does not tell of ${id}`),
    ...words.filter((word) => !output.includes(word)).map((word) => `the output nowhere says "${word.trim()}"`),
  ];
}

function tail(output: string): string {
  return output.trim().split("\n").slice(-30).join("\n");
}
