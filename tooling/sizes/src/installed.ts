// How much a package takes on disk: its own files as the registry would get them, and those with everything that it brings
// (its dependencies, its peers, and theirs), each package once, as an installation without duplicates has it.

import { spawnSync } from "node:child_process";
import { existsSync, globSync, readFileSync, realpathSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";

/** Bytes on disk. */
export interface InstalledSize {
  readonly own: number;
  readonly withAll: number;
}

interface Manifest {
  readonly name: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
}

/**
 * Measures the package in `folder`, which has to be built and installed. `root` is the workspace's.
 *
 * @throws {Error} `pnpm pack` fails, or a dependency is not installed.
 */
export function measureInstalled(root: string, folder: string): InstalledSize {
  const closure = new Set<string>();
  collect(folder, closure);
  const sizes = [...closure].map(
    (path) => [path, path.startsWith(join(root, "packages")) ? packedBytes(root, path) : folderBytes(path)] as const,
  );
  const own = new Map(sizes).get(realpathSync(folder)) ?? 0;
  return { own, withAll: sizes.reduce((sum, [, bytes]) => sum + bytes, 0) };
}

function collect(folder: string, closure: Set<string>): void {
  const path = realpathSync(folder);
  if (closure.has(path)) return;
  closure.add(path);
  const manifest: Manifest = JSON.parse(readFileSync(join(path, "package.json"), "utf8"));
  for (const name of Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies })) {
    if (manifest.peerDependenciesMeta?.[name]?.optional === true) continue;
    const found = findInstalled(path, name);
    if (found === undefined) throw new Error(`${manifest.name}: ${name} is not installed`);
    collect(found, closure);
  }
}

// As Node looks for a package: in the node_modules of each folder upwards.
function findInstalled(from: string, name: string): string | undefined {
  for (let folder = from; ; folder = dirname(folder)) {
    const path = join(folder, "node_modules", name);
    if (existsSync(join(path, "package.json"))) return path;
    if (folder === dirname(folder)) return undefined;
  }
}

function packedBytes(root: string, folder: string): number {
  const tarball = join(folder, "reports", "size.tgz");
  const shell = process.platform === "win32"; // where pnpm is a .cmd file
  const { status, stdout, stderr } = spawnSync("pnpm", ["pack", "--json", "--out", tarball], {
    cwd: folder,
    encoding: "utf8",
    shell,
  });
  rmSync(tarball, { force: true });
  if (status !== 0) throw new Error(`pnpm pack in ${folder}: ${stderr}`);
  const { files }: { files: readonly { readonly path: string }[] } = JSON.parse(stdout);
  // The licence is the repository's, and packed with each package.
  const paths = files.map(({ path }) => join(existsSync(join(folder, path)) ? folder : root, path));
  return paths.reduce((sum, path) => sum + statSync(path).size, 0);
}

function folderBytes(folder: string): number {
  return globSync("**/*", { cwd: folder, exclude: (name) => name === "node_modules" })
    .map((path) => statSync(join(folder, path)))
    .reduce((sum, stat) => sum + (stat.isFile() ? stat.size : 0), 0);
}
