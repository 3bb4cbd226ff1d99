// A stranger's project: installs the tarballs with npm outside the workspace, type-checks one program under every
// module resolution that can read ESM packages, library declarations included, and runs it. A second copy of core is
// installed beside the first, as duplicate versions in a real tree would be.

import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Packed } from "./pack.ts";

const here = dirname(fileURLToPath(import.meta.url));

const resolutions: readonly (readonly [moduleResolution: string, module: string])[] = [
  ["node16", "node16"],
  ["nodenext", "nodenext"],
  ["bundler", "esnext"],
];

/** One step of the project: what it was, and what it printed where it failed. */
export interface ProjectStep {
  readonly name: string;
  readonly failure: string | undefined;
}

/** Builds the project in `folder` and runs it under every module resolution; `tsc` is the compiler's script. */
export function useProject(folder: string, tarballs: readonly Packed[], tsc: string): readonly ProjectStep[] {
  mkdirSync(folder, { recursive: true });
  cpSync(join(here, "..", "fixture"), folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), JSON.stringify(manifestOf(tarballs), undefined, 2));
  execFileSync("npm", ["install", "--prefer-offline", "--no-audit", "--no-fund", "--loglevel=error"], {
    cwd: folder,
    stdio: "inherit",
  });
  return resolutions.flatMap(([moduleResolution, module]) => {
    const output = `out-${moduleResolution}`;
    const options = { module, moduleResolution, outDir: output, rootDir: "." };
    const settings = { extends: "./tsconfig.base.json", compilerOptions: options, files: ["consumer.ts"] };
    writeFileSync(join(folder, `tsconfig.${moduleResolution}.json`), JSON.stringify(settings));
    return [
      runNode(`types under ${moduleResolution}`, folder, [tsc, "-p", `tsconfig.${moduleResolution}.json`]),
      runNode(`a run of what ${moduleResolution} built`, folder, [join(output, "consumer.js")]),
    ];
  });
}

function manifestOf(tarballs: readonly Packed[]): object {
  const core = tarballs.find(({ name }) => name === "@memory/core");
  return {
    name: "consumer",
    private: true,
    type: "module",
    dependencies: {
      ...Object.fromEntries(tarballs.map(({ name, tarball }) => [name, `file:${tarball}`])),
      ...(core === undefined ? {} : { "second-core": `file:${core.tarball}` }),
    },
  };
}

function runNode(name: string, cwd: string, args: readonly string[]): ProjectStep {
  const result = spawnSync(process.execPath, args, { cwd, encoding: "utf8" });
  return { name, failure: result.status === 0 ? undefined : `${result.stdout}${result.stderr}`.trim() };
}
