// What git knows of the last release: each API report as it was then. A clone without the tags, or a repository that
// has released nothing yet, counts as "nothing released".

import { execFileSync } from "node:child_process";
import { globSync } from "node:fs";
import { basename, join } from "node:path";
import type { ReportChange } from "./changes.ts";
import { isPublished, type Member, readText } from "./repository.ts";

/** Pairs every API report of the published members with its text at the last release. */
export function readReportChanges(root: string, members: readonly Member[]): readonly ReportChange[] {
  const tag = git(root, ["describe", "--tags", "--abbrev=0", "--match", "@memory/core@*"])?.trim();
  return members.filter(isPublished).flatMap(({ folder, manifest, paths }) => {
    const released = tag === undefined ? undefined : git(root, ["ls-tree", "--name-only", tag, `${folder}/etc/`]);
    const before = (released ?? "").split("\n").filter((path) => path.endsWith(".api.md"));
    const now = [...paths].filter((path) => path.startsWith("etc/")).map((path) => `${folder}/${path}`);
    return [...new Set([...before, ...now])].sort().map((path) => ({
      packageName: manifest.name,
      releasedVersion: tag?.split("@").at(-1) ?? "0.0.0",
      version: manifest.version ?? "0.0.0",
      path,
      before: tag === undefined ? "" : (git(root, ["show", `${tag}:${path}`]) ?? ""),
      after: readText(root, path) ?? "",
    }));
  });
}

/** The texts of the pending changesets. */
export function readPendingChangesets(root: string): readonly string[] {
  return globSync(".changeset/*.md", { cwd: root })
    .filter((path) => basename(path) !== "README.md")
    .map((path) => readText(root, join(path)) ?? "");
}

function git(root: string, args: readonly string[]): string | undefined {
  try {
    return execFileSync("git", args, { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  } catch {
    return undefined;
  }
}
