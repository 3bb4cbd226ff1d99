// `tarballs` packs and judges; `project` packs, installs outside the workspace, type-checks and runs.
// Exit code 1 on any finding.

import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { packAll } from "./pack.ts";
import { useProject } from "./project.ts";
import { judgeTarball } from "./tarballs.ts";

const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..", "..");
const [command] = process.argv.slice(2);
const folder = mkdtempSync(join(realpathSync(tmpdir()), "memory-consumer-"));

try {
  const tarballs = packAll(root, join(folder, "tarballs"));
  if (command === "tarballs") {
    for (const packed of tarballs) report(packed.name, await judgeTarball(packed));
  } else if (command === "project") {
    const tsc = join(
      dirname(createRequire(join(root, "package.json")).resolve("typescript/package.json")),
      "bin",
      "tsc",
    );
    for (const step of useProject(join(folder, "project"), tarballs, tsc)) {
      report(step.name, step.failure === undefined ? [] : [step.failure]);
    }
  } else {
    report("usage: main.ts tarballs | project", ["no such command"]);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function report(name: string, problems: readonly string[]): void {
  console.log(`${problems.length === 0 ? "passed" : "failed"}  ${name}`);
  for (const problem of problems) console.error(`        ${problem}`);
  if (problems.length > 0) process.exitCode = 1;
}
