// The one Vitest configuration. From a package's folder it runs that package; from the repository's root it runs
// everything, which is how coverage is measured. Packages are read from their sources, never from a stale build:
// the source condition has to stand under `ssr` too, or Vitest resolves workspace packages to dist/.

import { existsSync } from "node:fs";
import { defaultClientConditions, defaultServerConditions } from "vite";
import { defineConfig, type ViteUserConfig } from "vitest/config";
import { FileReporter } from "./reporter.ts";

const sourceCondition = "@memory/source";
const isRoot = existsSync("pnpm-workspace.yaml");
const under = isRoot ? "{packages,tooling}/*/" : "";

const config: ViteUserConfig = defineConfig({
  root: process.cwd(),
  resolve: { conditions: [sourceCondition, ...defaultClientConditions] },
  ssr: { resolve: { conditions: [sourceCondition, ...defaultServerConditions] } },
  cacheDir: "node_modules/.vite",
  test: {
    include: [`${under}{src,test}/**/*.test.ts`],
    exclude: ["**/node_modules/**", "**/dist/**"],
    passWithNoTests: true,
    testTimeout: 30_000,
    // A cluster or a container of its own takes its time on a busy machine.
    hookTimeout: 120_000,
    reporters: [new FileReporter(), "json"],
    // What a test that passes prints is of no interest; of one that fails it may hold the seed.
    silent: "passed-only",
    outputFile: { json: "reports/vitest.json" },
    coverage: {
      provider: "v8",
      include: [`${isRoot ? "packages/*/" : ""}src/**/*.ts`],
      exclude: ["**/*.test.ts"],
      reporter: ["text", "json-summary"],
      reportsDirectory: "reports/coverage",
    },
  },
});

// biome-ignore lint/style/noDefaultExport: Vitest reads its configuration from the default export.
export default config;
