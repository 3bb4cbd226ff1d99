// Reads the repository once into plain data, so that every check is a pure function over it and can be tested on
// hand-written input.

import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** A file of the repository: its path from the root, with forward slashes, and its text. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

/** A package's manifest, as far as the checks read it. */
export interface Manifest {
  readonly [field: string]: unknown;
  readonly name: string;
  readonly version?: string;
  readonly private?: boolean;
  readonly exports?: Readonly<Record<string, unknown>>;
  readonly scripts?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

/** One workspace member: its folder from the root, its manifest, its source files, and the paths of all its files. */
export interface Member {
  readonly folder: string;
  readonly manifest: Manifest;
  readonly sources: readonly SourceFile[];
  readonly paths: ReadonlySet<string>;
}

// In the repository and not in the workspace: a third party's project, with rules of its own.
const strangers: readonly string[] = ["tooling/third-party/package.json"];

/** Reads the members of the workspace under `root`, published packages first. */
export function readMembers(root: string): readonly Member[] {
  return globSync("{packages,tooling}/*/package.json", { cwd: root })
    .map((path) => path.replaceAll("\\", "/"))
    .filter((path) => !strangers.includes(path))
    .sort()
    .map((path) => {
      const folder = dirname(path);
      const isCode = (file: string) => /\.(ts|mjs)$/.test(file);
      const files = ["*", "{src,test,etc,fixture}/**/*"]
        .flatMap((pattern) => globSync(pattern, { cwd: join(root, folder) }))
        .map((file) => file.replaceAll("\\", "/"))
        // What was released is kept as it was built, and is no source.
        .filter((file) => !file.startsWith("etc/released/"))
        .sort();
      return {
        folder,
        manifest: JSON.parse(readFileSync(join(root, path), "utf8")),
        sources: files.filter(isCode).map((file) => readSource(root, `${folder}/${file}`)),
        paths: new Set(files),
      };
    });
}

/** Whether a member is published, and so has the common skin. */
export function isPublished(member: Member): boolean {
  return member.folder.startsWith("packages/");
}

/** Reads one file, or gives `undefined` where there is none. */
export function readText(root: string, path: string): string | undefined {
  const full = join(root, path);
  return existsSync(full) ? readFileSync(full, "utf8") : undefined;
}

function readSource(root: string, path: string): SourceFile {
  return { path, text: readFileSync(join(root, path), "utf8") };
}
