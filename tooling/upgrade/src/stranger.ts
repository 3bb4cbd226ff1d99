// The third party's adapter, as its author has it: a project of its own (tooling/third-party, copied), installed from the
// registry, held to the suite, published, and held to the next suite without a change of its own.

import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { must } from "./command.ts";
import type { Installer } from "./managers.ts";

const LEFT = ["node_modules", "dist", "reports", "package-lock.json"];

/** What the suite reports of the adapter. */
export interface Verdict {
  readonly conforms: boolean;
  /** The versions of the suite and of core that were at work. */
  readonly suite: string;
  readonly core: string;
  /** The ids of the promises that were kept. */
  readonly kept: readonly string[];
}

/** The adapter's project. */
export interface Stranger {
  readonly name: string;
  readonly version: string;
  /** Installs core and the suite at a version, and compiles it under `strict`. @throws {CommandError} */
  install(version: string): Promise<void>;
  /** Runs the suite that is installed. @throws {CommandError} */
  judge(): Promise<Verdict>;
  /** Publishes it to the registry. */
  publish(): Promise<void>;
}

/** Copies the adapter from `source` into `folder`. */
export function copyStranger(source: string, folder: string, installer: Installer): Stranger {
  mkdirSync(folder, { recursive: true });
  cpSync(source, folder, { recursive: true, filter: (path) => !LEFT.includes(basename(path)) });
  const path = join(folder, "package.json");
  const manifest: { name: string; version: string; devDependencies: object } = JSON.parse(readFileSync(path, "utf8"));
  return {
    name: manifest.name,
    version: manifest.version,
    install: async (version) => {
      const devDependencies = { ...manifest.devDependencies, "@memory/core": version, "@memory/testing": version };
      writeFileSync(path, JSON.stringify({ ...manifest, devDependencies }, undefined, 2));
      await installer.install(folder);
      await must("npm", ["run", "--silent", "types"], { cwd: folder });
    },
    judge: async () => {
      const report = join(folder, "reports", "report.json");
      const env = { MEMORY_CONFORMANCE_REPORT: report };
      await must(process.execPath, ["--test", "test/conformance.test.ts"], { cwd: folder, env });
      return readVerdict(report);
    },
    publish: async () => {
      writeFileSync(path, JSON.stringify(manifest, undefined, 2));
      await must("npm", ["publish", "--loglevel=error"], { cwd: folder });
    },
  };
}

function readVerdict(path: string): Verdict {
  const { conforms, kept, versions }: ConformanceReport = JSON.parse(readFileSync(path, "utf8"));
  return { conforms, suite: versions.testing, core: versions.core, kept: kept.map(({ id }) => id) };
}

/** The suite's report as a file, as far as it is read here. */
interface ConformanceReport {
  readonly conforms: boolean;
  readonly kept: readonly { readonly id: string }[];
  readonly versions: { readonly core: string; readonly testing: string };
}
