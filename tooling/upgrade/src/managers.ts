// The package managers that people have, as one: install what a project's package.json says, the packages of the registry's
// scopes from there and all others where npm takes them on this machine, and take a conflict among peers for a failure.

import { existsSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { CommandError, must } from "./command.ts";
import type { Registry } from "./registry.ts";

/** The names of the managers. */
export const managers = ["npm", "pnpm", "yarn"] as const;

/** One of the managers. */
export type Manager = (typeof managers)[number];

/** Installs, by one manager. */
export interface Installer {
  readonly manager: Manager;
  /** Installs in `folder`. @throws {CommandError} It fails, or peers do not fit together. */
  install(folder: string): Promise<void>;
}

/** An installer for projects that take our packages from `registry`. */
export function installerOf(manager: Manager, registry: Registry): Installer {
  return { manager, install: (folder) => installers[manager](folder, registry) };
}

const installers: Readonly<Record<Manager, (folder: string, registry: Registry) => Promise<void>>> = {
  // npm refuses by itself what does not fit its peers.
  npm: async (cwd, registry) => {
    writeOnce(join(cwd, ".npmrc"), registry.npmrc);
    await must("npm", ["install", "--no-audit", "--no-fund", "--loglevel=error"], { cwd });
  },
  pnpm: async (cwd, registry) => {
    writeOnce(join(cwd, ".npmrc"), registry.npmrc);
    // What was published a moment ago is what this test is about.
    writeOnce(join(cwd, "pnpm-workspace.yaml"), "minimumReleaseAge: 0\nstrictPeerDependencies: true\n");
    await must("pnpm", ["install", "--no-frozen-lockfile", "--ignore-scripts", "--reporter=append-only"], { cwd });
  },
  yarn: async (cwd, registry) => {
    writeOnce(join(cwd, ".yarnrc.yml"), await yarnSettings(cwd, registry));
    // Without a lock file yarn would look for a project above this folder.
    writeOnce(join(cwd, "yarn.lock"), "");
    const yarn = createRequire(import.meta.url).resolve("@yarnpkg/cli-dist/package.json");
    const { output } = await must(process.execPath, [join(dirname(yarn), "bin", "yarn.js"), "install"], { cwd });
    // YN0002 missing peer, YN0060 a peer of another version, YN0086 some of them, by number.
    const conflicts = output.split("\n").filter((line) => /YN0002|YN0060|YN0086/.test(line));
    if (conflicts.length > 0) throw new CommandError(`yarn install: peers do not fit:\n${conflicts.join("\n")}`);
  },
};

// JSON is YAML. yarn does not read npm's settings.
async function yarnSettings(cwd: string, registry: Registry): Promise<string> {
  const { stdout } = await must("npm", ["config", "get", "registry"], { cwd });
  return JSON.stringify({
    npmRegistryServer: stdout.trim(),
    npmScopes: Object.fromEntries(
      registry.scopes.map((scope) => [scope.slice(1), { npmRegistryServer: registry.url }]),
    ),
    unsafeHttpWhitelist: ["127.0.0.1"],
    npmPreapprovedPackages: registry.scopes.map((scope) => `${scope}/*`),
    nodeLinker: "node-modules",
    // It remembers where an archive was, by the package's name and version: those of an earlier run are gone.
    globalFolder: join(registry.folder, "yarn"),
    enableImmutableInstalls: false,
    enableScripts: false,
    enableTelemetry: false,
  });
}

function writeOnce(path: string, text: string): void {
  if (!existsSync(path)) writeFileSync(path, text);
}
