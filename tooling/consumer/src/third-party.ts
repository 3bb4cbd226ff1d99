// A third party's adapter as its author has it: tooling/third-party copied outside the workspace, the packed packages
// installed into it by npm, its types checked, itself built, and its own tests run, the whole suite among them.

import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import type { Packed } from "./pack.ts";
import type { ProjectStep } from "./project.ts";

/** What an adapter's author has installed. */
const INSTALLED = ["@memory/core", "@memory/testing"];

const NPM_INSTALL = ["install", "--prefer-offline", "--no-audit", "--no-fund", "--loglevel=error"];

/**
 * Builds the adapter in `folder` from its sources and tries it; what its tests say is shown as they say it. The report of the
 * suite is left in the adapter's `reports/`, which Git ignores, unless the environment names another place.
 */
export function useThirdParty(folder: string, adapter: string, tarballs: readonly Packed[]): readonly ProjectStep[] {
  mkdirSync(folder, { recursive: true });
  const left = ["node_modules", "dist", "reports", "package-lock.json"];
  cpSync(adapter, folder, { recursive: true, filter: (path) => !left.includes(basename(path)) });
  const path = join(folder, "package.json");
  const manifest: { devDependencies: object } = JSON.parse(readFileSync(path, "utf8"));
  const packed = tarballs.filter(({ name }) => INSTALLED.includes(name));
  const devDependencies = {
    ...manifest.devDependencies,
    ...Object.fromEntries(packed.map(({ name, tarball }) => [name, `file:${tarball}`])),
  };
  writeFileSync(path, JSON.stringify({ ...manifest, devDependencies }, undefined, 2));
  const reports = { MEMORY_CONFORMANCE_REPORT: join(adapter, "reports"), ...process.env };
  const steps: ProjectStep[] = [];
  for (const [name, args] of [
    ["an install by npm", NPM_INSTALL],
    ["its types, under strict", ["run", "--silent", "types"]],
    ["its build", ["run", "--silent", "build"]],
    ["its tests", ["test", "--silent"]],
  ] as const) {
    steps.push(runNpm(name, folder, args, reports));
    if (steps.at(-1)?.failure !== undefined) break;
  }
  return steps;
}

function runNpm(name: string, cwd: string, args: readonly string[], variables: NodeJS.ProcessEnv): ProjectStep {
  // Without what npm and Node were told of the workspace: this project is none of it.
  const env = Object.fromEntries(Object.entries(variables).filter(([key]) => !/^(npm_|NODE_OPTIONS$)/i.test(key)));
  const shell = process.platform === "win32"; // where npm is a .cmd file
  const { status, error } = spawnSync("npm", args, { cwd, env, stdio: "inherit", shell });
  return { name, failure: status === 0 ? undefined : `npm ${args[0]} ended with ${error?.message ?? status}` };
}
