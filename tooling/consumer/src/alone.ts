// Each package by itself: installed with npm from its tarball, with core's beside it and nothing else of ours, in a folder of
// its own. Nothing of what npm brings has a script that runs at installation; every door type-checks and is imported,
// and an import changes nothing in the process; every declaration leads to its source.

import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, globSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Packed } from "./pack.ts";
import type { ProjectStep } from "./project.ts";

const CORE = "@memory/core";
const EXIT_MS = 30_000;

/** Installs `packed` alone (with core) into `folder` and says how each step went; `tsc` is the compiler's script. */
export function useAlone(
  folder: string,
  packed: Packed,
  tarballs: readonly Packed[],
  tsc: string,
): readonly ProjectStep[] {
  mkdirSync(folder, { recursive: true });
  const wanted = tarballs.filter(({ name }) => name === CORE || name === packed.name);
  const dependencies = Object.fromEntries(wanted.map(({ name, tarball }) => [name, `file:${tarball}`]));
  writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, type: "module", dependencies }));
  execFileSync("npm", ["install", "--prefer-offline", "--no-audit", "--no-fund", "--loglevel=error"], {
    cwd: folder,
    stdio: ["ignore", "inherit", "inherit"],
    shell: process.platform === "win32", // where npm is a .cmd file
  });
  const installed = join(folder, "node_modules", ...packed.name.split("/"));
  return [
    step("what is installed of ours", findOthers(folder, packed.name)),
    step("scripts at installation", findInstallScripts(folder)),
    step("declarations and their sources", findLostSources(installed)),
    checkTypes(folder, doorsOf(installed), tsc),
    importDoors(folder, doorsOf(installed)),
  ].map(({ name, failure }) => ({ name: `${packed.name}: ${name}`, failure }));
}

function findOthers(folder: string, name: string): readonly string[] {
  const ours = readdirSync(join(folder, "node_modules", "@memory")).map((entry) => `@memory/${entry}`);
  return ours.filter((found) => found !== CORE && found !== name).map((found) => `${found} was installed too`);
}

function findInstallScripts(folder: string): readonly string[] {
  const { packages }: { packages: Record<string, { hasInstallScript?: boolean }> } = JSON.parse(
    readFileSync(join(folder, "package-lock.json"), "utf8"),
  );
  return Object.entries(packages)
    .filter(([, { hasInstallScript }]) => hasInstallScript === true)
    .map(([path]) => `${path} runs a script when it is installed`);
}

/** Every declaration file has a map, and every map leads to a source that is in the package. */
function findLostSources(installed: string): readonly string[] {
  const declarations = globSync("dist/**/*.d.ts", { cwd: installed });
  if (declarations.length === 0) return ["there is no declaration"];
  return declarations.flatMap((path) => {
    const map = join(installed, `${path}.map`);
    if (!existsSync(map)) return [`${path} has no map`];
    const { sources }: { sources: readonly string[] } = JSON.parse(readFileSync(map, "utf8"));
    const lost = sources.filter((source) => !existsSync(join(dirname(map), source)));
    return lost.map((source) => `${path} leads to ${source}, which is not in the package`);
  });
}

function checkTypes(folder: string, doors: readonly string[], tsc: string): ProjectStep {
  const compilerOptions = {
    module: "nodenext",
    target: "es2023",
    types: [],
    strict: true,
    noEmit: true,
    skipLibCheck: true,
  };
  writeFileSync(
    join(folder, "doors.ts"),
    doors.map((door, index) => `export * as d${index} from "${door}";\n`).join(""),
  );
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["doors.ts"] }));
  return runNode("types of every door", folder, [tsc, "-p", "tsconfig.json"]);
}

/** Imports every door in a process that then has to end by itself. */
function importDoors(folder: string, doors: readonly string[]): ProjectStep {
  const program = `
const look = () => JSON.stringify([
  Reflect.ownKeys(globalThis).map(String),
  process.eventNames().map((name) => [String(name), process.listenerCount(name)]),
  Object.keys(process.env),
]);
const before = look();
for (const door of ${JSON.stringify(doors)}) {
  const names = Object.keys(await import(door));
  if (names.length === 0) throw new Error(door + " exports nothing");
}
if (look() !== before) throw new Error("an import changed the process:\\n" + before + "\\n" + look());
`;
  writeFileSync(join(folder, "doors.mjs"), program);
  return runNode("an import of every door", folder, ["doors.mjs"]);
}

function doorsOf(installed: string): readonly string[] {
  const manifest: { name: string; exports: Record<string, unknown> } = JSON.parse(
    readFileSync(join(installed, "package.json"), "utf8"),
  );
  return Object.keys(manifest.exports)
    .filter((door) => door !== "./package.json")
    .map((door) => `${manifest.name}${door.slice(1)}`);
}

function step(name: string, problems: readonly string[]): ProjectStep {
  return { name, failure: problems.length === 0 ? undefined : problems.join("\n") };
}

function runNode(name: string, cwd: string, args: readonly string[]): ProjectStep {
  const result = spawnSync(process.execPath, args, { cwd, encoding: "utf8", timeout: EXIT_MS });
  if (result.signal !== null) return { name, failure: `it had not ended after ${EXIT_MS} ms` };
  return { name, failure: result.status === 0 ? undefined : `${result.stdout}${result.stderr}`.trim() };
}
