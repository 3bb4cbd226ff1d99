// Which file may import which: between packages, and between the layers inside core. A layer imports its own and
// lower ones. Tests may look at everything in their package, but not past it.

import { dirname, posix } from "node:path";
import { isPublished, type Member, type SourceFile } from "./repository.ts";

/** Layers of core from the ground up. A file's layer is the first entry that its path in src/ starts with. */
const coreLayers: readonly (readonly [layer: number, prefixes: readonly string[]])[] = [
  [0, ["model/"]],
  [1, ["rules/", "clock.ts", "secret.ts"]],
  [2, ["settings.ts"]],
  [3, ["store.ts", "store/", "export.ts", "import.ts"]],
  [4, ["index.ts", "driver.ts", "in-memory.ts", "in-memory/"]],
  [5, ["sql.ts", "sql/"]],
  [6, ["postgres-js.ts", "postgres-js/"]],
];

/** What a published package may import of ours; in tests also `@memory/testing`. */
const arrows: Readonly<Record<string, readonly string[]>> = { "@memory/core": [], "@memory/testing": ["@memory/core"] };
const adapterArrows: readonly string[] = ["@memory/core"];

/** What tests may import beside: what binds adapters is proven over them, and knows none of them itself. */
const testArrows: Readonly<Record<string, readonly string[]>> = {
  "@memory/routed": ["@memory/redis", "@memory/postgres", "@memory/pgvector"],
};

const importPattern = /^[ \t]*(?:import|export)\b(?:\s+type\b)?\s*(?:[\w*{}$,\s]+?\s+from\s*)?"(?<name>[^"\n]+)"/gm;
const dynamicPattern = /\bimport\(\s*"(?<name>[^"\n]+)"\s*\)/g;

/** Names every import that goes against an arrow. */
export function checkArrows(members: readonly Member[]): readonly string[] {
  return members
    .filter(isPublished)
    .flatMap((member) => member.sources.flatMap((source) => checkSource(member, source)));
}

/** The module names that a source imports or re-exports: static imports first, then dynamic ones. */
export function importsOf(text: string): readonly string[] {
  const code = text.replaceAll(/\/\*[\s\S]*?\*\/|^[ \t]*\/\/.*$/gm, "");
  return [importPattern, dynamicPattern].flatMap((pattern) =>
    [...code.matchAll(pattern)].map(({ groups }) => groups?.["name"] ?? ""),
  );
}

function checkSource(member: Member, source: SourceFile): readonly string[] {
  const isTest = isTestFile(member, source.path);
  return importsOf(source.text).flatMap((name) => {
    const problem = name.startsWith(".")
      ? checkRelative(member, source.path, name, isTest)
      : checkPackage(member, name, isTest);
    return problem === undefined ? [] : [`${source.path}: ${problem}`];
  });
}

function checkRelative(member: Member, path: string, name: string, isTest: boolean): string | undefined {
  const target = posix.join(dirname(path), name);
  if (!target.startsWith(`${member.folder}/`)) return `"${name}" leaves the package`;
  if (isTest) return undefined;
  if (!target.startsWith(`${member.folder}/src/`)) return `"${name}" leaves src/`;
  if (target.endsWith(".test.ts")) return `"${name}" is a test`;
  if (member.manifest.name !== "@memory/core") return undefined;
  const from = layerOf(path.slice(`${member.folder}/src/`.length));
  const toPath = target.slice(`${member.folder}/src/`.length);
  const to = layerOf(toPath);
  if (from === undefined || to === undefined) return `no layer is named for "${name}" or for the file itself`;
  return to > from ? `"${name}" points up, from layer ${from} to layer ${to}` : undefined;
}

function checkPackage(member: Member, name: string, isTest: boolean): string | undefined {
  if (name.startsWith("node:")) return undefined;
  const { manifest } = member;
  const packageName = name
    .split("/")
    .slice(0, name.startsWith("@") ? 2 : 1)
    .join("/");
  if (packageName.startsWith("@memory/")) {
    const allowed = arrows[manifest.name] ?? adapterArrows;
    const isAllowed =
      allowed.includes(packageName) ||
      (isTest && (packageName === manifest.name || testArrows[manifest.name]?.includes(packageName) === true)) ||
      (isTest && packageName === "@memory/testing" && manifest.name !== "@memory/core");
    if (!isAllowed) return `"${name}" is no arrow of ${manifest.name}`;
    if (packageName === manifest.name) return undefined;
  }
  const declared = {
    ...manifest.dependencies,
    ...manifest.peerDependencies,
    ...(isTest ? manifest.devDependencies : {}),
  };
  return packageName in declared
    ? undefined
    : `"${packageName}" is not among the ${isTest ? "" : "published "}dependencies`;
}

function isTestFile(member: Member, path: string): boolean {
  return path.startsWith(`${member.folder}/test/`) || path.endsWith(".test.ts");
}

function layerOf(path: string): number | undefined {
  return coreLayers.find(([, prefixes]) => prefixes.some((prefix) => path.startsWith(prefix)))?.[0];
}
