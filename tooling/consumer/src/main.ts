// `tarballs` packs into dist/ of the repository, which Git ignores, and judges; `project` packs, installs outside the
// workspace, each package alone and then all of them, type-checks and runs. Exit code 1 on any finding.

import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { useAlone } from "./alone.ts";
import { PackError, packAll } from "./pack.ts";
import { useProject } from "./project.ts";
import { judgeTarball } from "./tarballs.ts";
import { useThirdParty } from "./third-party.ts";

const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..", "..");
const [command] = process.argv.slice(2);
const folder = mkdtempSync(join(realpathSync(tmpdir()), "memory-consumer-"));

try {
  if (command === "tarballs") {
    for (const packed of packAll(root, join(root, "dist"))) {
      report(packed.name, await judgeTarball(packed));
      console.log(`        ${relative(root, packed.tarball)}`);
    }
  } else if (command === "project") {
    const tarballs = packAll(root, join(folder, "tarballs"));
    const tsc = join(
      dirname(createRequire(join(root, "package.json")).resolve("typescript/package.json")),
      "bin",
      "tsc",
    );
    const alone = tarballs.flatMap((packed, index) => useAlone(join(folder, `alone-${index}`), packed, tarballs, tsc));
    for (const step of [...alone, ...useProject(join(folder, "project"), tarballs, tsc)]) {
      report(step.name, step.failure === undefined ? [] : [step.failure]);
    }
  } else if (command === "third-party") {
    const tarballs = packAll(root, join(folder, "tarballs"));
    for (const step of useThirdParty(join(folder, "adapter"), join(root, "tooling", "third-party"), tarballs)) {
      report(step.name, step.failure === undefined ? [] : [step.failure]);
    }
  } else {
    report("usage: main.ts tarballs | project | third-party", ["no such command"]);
  }
} catch (error) {
  if (!(error instanceof PackError)) throw error;
  report(error.packageName, error.findings);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function report(name: string, problems: readonly string[]): void {
  console.log(`${problems.length === 0 ? "passed" : "failed"}  ${name}`);
  for (const problem of problems) console.error(`        ${problem}`);
  if (problems.length > 0) process.exitCode = 1;
}
