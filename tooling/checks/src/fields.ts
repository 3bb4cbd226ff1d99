// The skin every published package shares: the same fields, scripts, shape of exports and files. One version for the
// whole family. Tooling is private, and its scripts are single words too.

import { isPublished, type Manifest, type Member } from "./repository.ts";

const repository = "https://github.com/memory-protocol/memory";
const skinFiles = ["README.md", "CHANGELOG.md", "tsconfig.json", "tsconfig.build.json", "src/index.ts"];
const conditions = ["@memory/source", "types", "default"];

const scripts: Readonly<Record<string, string>> = {
  api: "node ../../tooling/api/src/main.ts",
  build: "node ../../tooling/tsconfig/build.mjs",
  lint: "biome check .",
  test: "node ../../tooling/vitest/run.mjs",
  types: "tsc -p tsconfig.json",
};

/** Names every field and file in which a member differs from the common skin. */
export function checkFields(members: readonly Member[]): readonly string[] {
  const published = members.filter(isPublished);
  const version = published[0]?.manifest.version;
  return members.flatMap((member) =>
    (isPublished(member) ? checkPublished(member, version) : checkTooling(member)).map(
      (problem) => `${member.folder}: ${problem}`,
    ),
  );
}

function checkPublished(member: Member, version: string | undefined): readonly string[] {
  const { folder, manifest, paths } = member;
  const expected: Readonly<Record<string, unknown>> = {
    name: `@memory/${folder.split("/")[1]}`,
    version,
    private: undefined,
    license: "MIT",
    author: "the @memory authors",
    homepage: `${repository}/tree/main/${folder}#readme`,
    repository: { type: "git", url: `git+${repository}.git`, directory: folder },
    bugs: `${repository}/issues`,
    type: "module",
    sideEffects: false,
    engines: { node: ">=22" },
    files: ["dist", "src", "!**/*.test.ts", "CHANGELOG.md"],
    publishConfig: { access: "public", provenance: true },
    scripts,
  };
  return [
    ...Object.entries(expected)
      .filter(([field, value]) => !isSame(manifest[field], value))
      .map(([field, value]) => `"${field}" is not ${JSON.stringify(value)}`),
    ...(typeof manifest["description"] === "string" ? [] : [`"description" is missing`]),
    ...skinFiles.filter((file) => !paths.has(file)).map((file) => `${file} is missing`),
    ...checkExports(manifest, paths),
    ...checkFamily(manifest),
  ];
}

function checkExports(manifest: Manifest, paths: ReadonlySet<string>): readonly string[] {
  const doors = Object.entries(manifest.exports ?? {});
  if (doors[0]?.[0] !== ".") return [`"exports" does not begin with "."`];
  return doors.flatMap(([door, target]) => {
    if (door === "./package.json") return target === door ? [] : [`exports "${door}" is not itself`];
    const name = door === "." ? "index" : door.slice(2);
    const expected = [`./src/${name}.ts`, `./dist/${name}.d.ts`, `./dist/${name}.js`];
    const isRight =
      isRecord(target) && isSame(Object.keys(target), conditions) && isSame(Object.values(target), expected);
    return [
      ...(isRight ? [] : [`exports "${door}" is not ${conditions.join(", ")} of ${name}, in this order`]),
      ...[`src/${name}.ts`, `etc/${name}.api.md`]
        .filter((file) => !paths.has(file))
        .map((file) => `${file} is missing`),
    ];
  });
}

function checkFamily(manifest: Manifest): readonly string[] {
  const own = (field: "dependencies" | "devDependencies" | "peerDependencies") =>
    Object.entries(manifest[field] ?? {}).filter(([name]) => name.startsWith("@memory/"));
  if (manifest.name === "@memory/core") {
    const named = [...own("dependencies"), ...own("devDependencies"), ...own("peerDependencies")];
    return named.map(([name]) => `core names ${name}`);
  }
  return [
    ...own("dependencies").map(([name]) => `${name} is a dependency and not a peer`),
    ...own("devDependencies")
      .filter(([, range]) => range !== "workspace:^")
      .map(([name]) => `${name} is not "workspace:^"`),
    ...own("peerDependencies")
      .filter(([, range]) => !isPeerRange(range, manifest.version))
      .map(([name, range]) => `the peer range ${JSON.stringify(range)} of ${name} is not ">=a.b.0" to the next major`),
    ...(own("peerDependencies").some(([name]) => name === "@memory/core") ? [] : ["@memory/core is not a peer"]),
  ];
}

/** Any core from a minor on, of this major: core and adapters are upgraded in any order (`npm run bump` moves the floor). */
function isPeerRange(range: string, version = "0.0.0"): boolean {
  const [, major, next] = /^>=(\d+)\.\d+\.0 <(\d+)$/.exec(range) ?? [];
  return major === version.split(".")[0] && Number(next) === Number(major) + 1;
}

function checkTooling(member: Member): readonly string[] {
  const names = Object.keys(member.manifest.scripts ?? {});
  return [
    ...(member.manifest.private === true ? [] : ["tooling is private"]),
    ...names.filter((name) => !/^[a-z]+$/.test(name)).map((name) => `script "${name}" is not one word`),
  ];
}

function isSame(left: unknown, right: unknown): boolean {
  return JSON.stringify(left) === JSON.stringify(right);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}
