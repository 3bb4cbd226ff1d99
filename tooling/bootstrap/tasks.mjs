// What each script of the root means, as steps: a command of the workspace (or `node`), its arguments, and what to
// tell the person. A tooling package that can be run names its file in `main`.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./environment.mjs";
import { Failure } from "./steps.mjs";

const source = "--conditions=@memory/source";

export const tasks = {
  test: (args) => [
    turbo(
      "Running the tests of every package",
      "test",
      ["--continue=always", ...args],
      "read the failing test above; `pnpm test <file>` in its package runs it alone.",
    ),
  ],
  // Never from the cache: a named server has a state of its own. Only here images may be fetched.
  "test:live": (args) => [
    {
      ...turbo("Running the tests of every package, also on servers named by ADK_TEST_*", "test", [
        "--continue=always",
        "--force",
        ...args,
      ]),
      env: { MEMORY_LIVE: "1" },
    },
  ],
  coverage: (args) => [
    step("Measuring the coverage of every package", "node", ["tooling/vitest/run.mjs", "--coverage", ...args]),
  ],
  demo: (args) => [{ ...tool("Starting the demo", "quickstart", args), fromCaller: true }],
  chaos: (args) => [tool("Doing harm to real servers", "chaos", args)],
  transfer: (args) => [{ ...tool("Taking memory along", "transfer", args), fromCaller: true }],
  bench: (args) => [tool("Running the benchmark", "bench", args)],
  build: (args) => [turbo("Building every package", "build", args)],
  types: (args) => [turbo("Checking the types of every package", "types", args)],
  lint: (args) => [
    step(
      "Checking format and lint rules",
      "biome",
      ["check", "--error-on-warnings", ...args],
      "`npm run format` repairs what can be repaired.",
    ),
  ],
  format: (args) => [step("Formatting", "biome", ["check", "--write", ...args])],
  unused: (args) => [
    step(
      "Looking for unused files, exports and dependencies",
      "knip",
      ["--config", "tooling/checks/knip.json", "--no-config-hints", ...args],
      "remove what is unused, or use it.",
    ),
  ],
  check: (args) => [
    tool("Checking arrows, package fields, source files and deprecations", "checks", args),
    turbo("Building every package", "build", []),
    apiCheck(),
  ],
  // Two steps: arguments behind `--` belong to every task of a run, and would build everything anew.
  api: (args) => [
    turbo("Building every package", "build", []),
    turbo(
      args.includes("--check") ? "Comparing the public API with its reports" : "Writing the public API reports",
      "api",
      ["--only", ...(args.length > 0 ? ["--", ...args] : [])],
      "`npm run api` writes the reports anew; commit them together with a changeset.",
    ),
  ],
  pack: (args) => [
    turbo("Building every package", "build", []),
    tool("Judging the packed tarballs", "consumer", ["tarballs", ...args]),
  ],
  consumer: (args) => [
    turbo("Building every package", "build", []),
    tool("Using the packed tarballs from a project outside", "consumer", ["project", ...args]),
  ],
  "third-party": (args) => [
    turbo("Building every package", "build", []),
    tool("Trying a third party's adapter over the packed tarballs", "consumer", ["third-party", ...args]),
  ],
  runners: (args) => [
    turbo("Building every package", "build", []),
    tool("Running the conformance suite under each test runner", "runners", args),
  ],
  sizes: (args) => [
    turbo("Building every package", "build", []),
    tool(
      args.includes("--check") ? "Comparing the sizes with the READMEs" : "Writing the sizes into the READMEs",
      "sizes",
      args,
    ),
  ],
  upgrade: (args) => [tool("Releasing to a registry of its own, and upgrading strangers' projects", "upgrade", args)],
  changes: (args) => [step("Listing the changesets", "changeset", ["status", ...args])],
  bump: (args) => [
    turbo("Building every package", "build", []),
    apiCheck(),
    step("Turning the changesets into versions and changelogs", "changeset", ["version", ...args]),
    tool("Saying which core each adapter takes", "releases", []),
    step("Bringing the lock file up to date", "pnpm", ["install", "--lockfile-only"]),
    turbo("Building every package", "build", []),
    tool("Keeping the public API of this release", "api", ["release"]),
  ],
  // pnpm reads neither `publishConfig.provenance` nor npm's variable. Where nobody can sign, publishing is refused.
  release: (args) => [
    turbo("Building every package", "build", []),
    {
      ...step("Publishing what is not yet published", "changeset", ["publish", ...args]),
      env: { pnpm_config_provenance: process.env.pnpm_config_provenance ?? "true" },
    },
  ],
};

export function taskNames() {
  return Object.keys(tasks).join(", ");
}

function step(says, command, args, advice) {
  return { says, command, args, advice };
}

function turbo(says, task, args, advice) {
  const colour = process.stdout.isTTY ? [] : ["--no-color"];
  return step(
    says,
    "turbo",
    ["run", task, ...colour, "--output-logs=new-only", "--log-order=grouped", "--concurrency=100%", ...args],
    advice,
  );
}

// What the last release promised is in etc/released of each package, so this needs no network and no tags.
function apiCheck() {
  return tool(
    "Comparing the public API with the last release's, by its types",
    "api",
    ["check"],
    "`pnpm changeset` writes a changeset; tooling/api/README.md says what needs which size, and what a deprecation.",
  );
}

function tool(says, name, args, advice) {
  const manifest = join(root, "tooling", name, "package.json");
  if (!existsSync(manifest)) throw new Failure(`tooling/${name} is not there.`, "check out the whole repository.");
  const { main = "src/main.ts" } = JSON.parse(readFileSync(manifest, "utf8"));
  return step(says, "node", [source, join(root, "tooling", name, main), ...args], advice);
}
