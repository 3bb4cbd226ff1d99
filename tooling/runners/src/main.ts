// Runs the conformance suite under every test runner that docs/conformance.md names, with the page's own files: the
// packed packages and the runner installed by npm into a project outside the workspace. A runner that cannot be
// installed is said to be, with the reason; with CI=true that is a failure, unless the registry does not answer at all.

import { spawnSync } from "node:child_process";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { packAll } from "@tooling/consumer/pack";
import { filesOf, readPage } from "./page.ts";
import { runUnder, writeProject } from "./project.ts";
import { type Runner, runners } from "./runners.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const chosen = process.argv.slice(2);
const files = filesOf(readPage());
const folder = mkdtempSync(join(realpathSync(tmpdir()), "memory-runners-"));

try {
  const packed = packAll(root, join(folder, "tarballs"));
  const own = packed.filter(({ name }) => name === "@memory/core" || name === "@memory/testing");
  const tarballs = Object.fromEntries(own.map(({ name, tarball }) => [name, `file:${tarball}`]));
  const wanted = runners.filter(({ name }) => chosen.length === 0 || chosen.includes(name));
  if (wanted.length === 0)
    fail(chosen.join(", "), [`no such runner; there are: ${runners.map(({ name }) => name).join(", ")}`]);
  for (const [index, runner] of wanted.entries()) tryRunner(runner, join(folder, `project-${index}`), tarballs);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function tryRunner(runner: Runner, project: string, tarballs: Readonly<Record<string, string>>): void {
  writeProject(project, files, { ...tarballs, ...runner.installs });
  const obstacle = install(project);
  if (obstacle !== undefined) {
    const answers = registryAnswers(project);
    const why = `could not be installed (${answers ? "the registry answers" : "the registry does not answer"}): ${obstacle}`;
    if (answers && process.env["CI"] === "true") fail(runner.name, [why]);
    else console.log(`skipped ${runner.name}\n        ${why}`);
    return;
  }
  const { findings, summary } = runUnder(runner, project);
  if (findings.length > 0) fail(runner.name, findings);
  else console.log(`passed  ${summary}`);
}

/** Why npm could not install the project; `undefined` where it did. */
function install(cwd: string): string | undefined {
  const result = npm(cwd, ["install", "--prefer-offline", "--no-audit", "--no-fund", "--loglevel=error"]);
  if (result.status === 0) return undefined;
  return result.error?.message ?? `${result.stdout}${result.stderr}`.trim().split("\n").slice(-10).join("\n        ");
}

/** Whether the registry gives what it surely has. */
function registryAnswers(cwd: string): boolean {
  return npm(cwd, ["view", "typescript", "version", "--prefer-online"]).status === 0;
}

function npm(cwd: string, args: readonly string[]) {
  const shell = process.platform === "win32"; // where npm is a .cmd file
  return spawnSync("npm", args, { cwd, encoding: "utf8", shell });
}

function fail(name: string, findings: readonly string[]): void {
  console.log(`failed  ${name}`);
  for (const finding of findings) console.error(`        ${finding}`);
  process.exitCode = 1;
}
