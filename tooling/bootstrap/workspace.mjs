// Installs the workspace once, and again only when a package.json, the lock file or the settings changed.

import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./environment.mjs";
import { runQuietly } from "./steps.mjs";

const stamp = join(root, "node_modules", ".memory-installed");

export async function installWorkspace(env) {
  const wanted = fingerprint(env.MEMORY_NODE);
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === wanted) return;
  await runQuietly(
    "Installing the workspace's packages (pnpm install, as the lock file says)",
    "pnpm",
    ["install", "--frozen-lockfile", "--reporter=append-only"],
    { cwd: root, env },
    "the lines above say what pnpm missed. If a package.json was changed, run `pnpm install` once to write the lock " +
      "file; if a download failed, check that `npm ping` answers and run the same command again.",
  );
  writeFileSync(stamp, wanted);
}

function fingerprint(nodeVersion) {
  const hash = createHash("sha256").update(nodeVersion.split(".")[0]);
  const manifests = ["packages", "tooling"].flatMap((folder) =>
    readdirSync(join(root, folder))
      .sort()
      .map((name) => join(folder, name, "package.json")),
  );
  for (const path of ["pnpm-lock.yaml", "pnpm-workspace.yaml", "package.json", ...manifests]) {
    if (existsSync(join(root, path))) hash.update(`\0${path}\0`).update(readFileSync(join(root, path)));
  }
  return hash.digest("hex");
}
