// The step of `npm run bump` after changesets: gives every package that takes core as its peer the range that it is
// released with. What was released is read from git's tags and the API reports at them.

import { execFileSync } from "node:child_process";
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { exportedNames, importedNames, peerRange, type ReleasedCore } from "./peers.ts";

const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..", "..");
const released = readReleasedCores();

for (const path of globSync("packages/*/package.json", { cwd: root }).sort()) {
  const text = readFileSync(join(root, path), "utf8");
  const manifest: { name: string; version: string; peerDependencies?: Record<string, string> } = JSON.parse(text);
  const range = manifest.peerDependencies?.["@memory/core"];
  if (range === undefined) continue;
  checkTags(range);
  const next = peerRange(range, manifest.version, readImports(dirname(path)), released);
  console.log(`${manifest.name}: @memory/core ${next}`);
  if (next !== range)
    writeFileSync(join(root, path), text.replace(`"@memory/core": "${range}"`, `"@memory/core": "${next}"`));
}

// Without its tags a clone would look like one that has released nothing, and every floor would rise.
function checkTags(range: string): void {
  const floor = /^>=(\S+)/.exec(range)?.[1] ?? "";
  if (floor === "0.0.0" || floor.endsWith(".0.0") || released.some(({ version }) => version === floor)) return;
  throw new Error(`git has no tag @memory/core@${floor}, which "${range}" names: fetch the tags (git fetch --tags)`);
}

function readImports(folder: string): ReadonlyMap<string, ReadonlySet<string>> {
  const sources = globSync("src/**/*.ts", { cwd: join(root, folder) }).filter((path) => !path.endsWith(".test.ts"));
  const all = new Map<string, Set<string>>();
  for (const path of sources) {
    for (const [door, names] of importedNames(readFileSync(join(root, folder, path), "utf8"))) {
      all.set(door, new Set([...(all.get(door) ?? []), ...names]));
    }
  }
  return all;
}

function readReleasedCores(): readonly ReleasedCore[] {
  return git("tag", "--list", "@memory/core@*")
    .split("\n")
    .filter((tag) => /@\d+\.\d+\.\d+$/.test(tag))
    .map((tag) => {
      const reports = git("ls-tree", "--name-only", tag, "packages/core/etc/")
        .split("\n")
        .filter((path) => path.endsWith(".api.md"));
      const names = reports.map((path) => {
        const door = path.slice("packages/core/etc/".length, -".api.md".length);
        const name = door === "index" ? "@memory/core" : `@memory/core/${door}`;
        return [name, exportedNames(git("show", `${tag}:${path}`))] as const;
      });
      return { version: tag.slice(tag.lastIndexOf("@") + 1), names: new Map(names) };
    });
}

function git(...args: readonly string[]): string {
  return execFileSync("git", args, { cwd: root, encoding: "utf8" });
}
