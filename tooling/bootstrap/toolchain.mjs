// Finds a Node and a pnpm that are new enough, and fetches what is missing as npm packages. The npm package `node`
// carries the binary itself. It must not stand in a package.json of the workspace: there pnpm takes the name for a
// runtime and downloads it from elsewhere, which closed networks do not allow.

import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { cleanEnvironment, root, toolchainFolder } from "./environment.mjs";
import { runQuietly, say } from "./steps.mjs";

// 22.18 is the first Node 22 that runs TypeScript files without a flag.
const oldestNode = [22, 18];
const fetchedNode = "24";
// npm's own pauses between attempts add up to more than two minutes before it says that it reaches nothing.
const quickRetries = ["--fetch-retry-mintimeout=1000", "--fetch-retry-maxtimeout=5000"];
const pnpmPin = JSON.parse(readFileSync(join(root, "package.json"), "utf8"))
  .packageManager.split("@")[1]
  .split("+")[0];
const oldestPnpmMajor = Number(pnpmPin.split(".")[0]);

/** The toolchain to use: paths of `node` and `pnpm`, and the folders that hold them. */
export async function findToolchain() {
  const nodeAtHand = isNewEnough(process.versions.node) ? process.execPath : undefined;
  const pnpmAtHand = findOnPath("pnpm");
  const missing = [
    ...(nodeAtHand === undefined ? [`node@${fetchedNode}`] : []),
    ...(pnpmAtHand === undefined ? [`pnpm@${pnpmPin}`] : []),
  ];
  if (missing.length > 0) await fetchTools(missing);

  const node = nodeAtHand ?? fetchedPath("node", join("node", "bin"));
  const pnpm = pnpmAtHand ?? fetchedPath("pnpm", ".bin");
  const nodeVersion = spawnSync(node, ["--version"], { encoding: "utf8" }).stdout.trim();
  return { node, pnpm, nodeVersion, folders: [...new Set([dirname(node), dirname(pnpm)])] };
}

async function fetchTools(packages) {
  const stamp = join(toolchainFolder, "fetched.json");
  const wanted = JSON.stringify(packages);
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === wanted) return;
  const reason = isNewEnough(process.versions.node) ? "no pnpm at hand" : `Node here is ${process.versions.node}`;
  mkdirSync(toolchainFolder, { recursive: true });
  writeFileSync(join(toolchainFolder, "package.json"), '{ "private": true }\n');
  await runQuietly(
    `Fetching ${packages.join(" and ")} from the npm registry (${reason}; once, into tooling/bootstrap/.toolchain)`,
    "npm",
    [
      "install",
      ...quickRetries,
      "--no-audit",
      "--no-fund",
      "--no-package-lock",
      "--no-save",
      "--loglevel=error",
      ...packages,
    ],
    { cwd: toolchainFolder, env: cleanEnvironment() },
    "check that `npm ping` answers, then run the same command again. Or install Node 24 and pnpm 12 yourself.",
  );
  writeFileSync(stamp, wanted);
  say(`Fetched ${packages.join(" and ")}`);
}

function fetchedPath(name, folder) {
  const suffix = process.platform === "win32" ? (name === "node" ? ".exe" : ".cmd") : "";
  return join(toolchainFolder, "node_modules", folder, name + suffix);
}

function findOnPath(name) {
  const suffixes = process.platform === "win32" ? [".exe", ".cmd"] : [""];
  for (const folder of (process.env.PATH ?? "").split(delimiter)) {
    for (const suffix of suffixes) {
      const path = join(folder, name + suffix);
      if (!existsSync(path)) continue;
      // Asked from a neutral folder: inside the workspace pnpm would answer for the version that is pinned there.
      const answer = spawnSync(path, ["--version"], { cwd: tmpdir(), encoding: "utf8", shell: suffix === ".cmd" });
      if (answer.status === 0 && Number(answer.stdout.trim().split(".")[0]) >= oldestPnpmMajor) return path;
    }
  }
  return undefined;
}

function isNewEnough(version) {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major > oldestNode[0] || (major === oldestNode[0] && minor >= oldestNode[1]);
}
