// A manifest that has the whole skin, and the same one with one thing wrong at a time.

import { expect, test } from "vitest";
import { checkFields } from "./fields.ts";
import type { Manifest, Member } from "./repository.ts";

const url = "https://github.com/memory-protocol/memory";
const manifest: Manifest = {
  name: "@memory/redis",
  version: "1.0.0",
  description: "Working memory in Redis",
  license: "MIT",
  author: "the @memory authors",
  homepage: `${url}/tree/main/packages/redis#readme`,
  repository: { type: "git", url: `git+${url}.git`, directory: "packages/redis" },
  bugs: `${url}/issues`,
  type: "module",
  sideEffects: false,
  engines: { node: ">=22" },
  exports: {
    ".": { "@memory/source": "./src/index.ts", types: "./dist/index.d.ts", default: "./dist/index.js" },
    "./package.json": "./package.json",
  },
  files: ["dist", "src", "!**/*.test.ts", "CHANGELOG.md"],
  publishConfig: { access: "public", provenance: true },
  scripts: {
    api: "node ../../tooling/api/src/main.ts",
    build: "node ../../tooling/tsconfig/build.mjs",
    lint: "biome check .",
    test: "node ../../tooling/vitest/run.mjs",
    types: "tsc -p tsconfig.json",
  },
  peerDependencies: { "@memory/core": ">=1.0.0 <2" },
};
const files = ["README.md", "CHANGELOG.md", "tsconfig.json", "tsconfig.build.json", "src/index.ts", "etc/index.api.md"];

const problems = (changed: Partial<Manifest>, paths: readonly string[] = files) => {
  const member: Member = {
    folder: "packages/redis",
    manifest: { ...manifest, ...changed },
    sources: [],
    paths: new Set(paths),
  };
  return checkFields([member]);
};

test("a package with the whole skin passes", () => {
  expect(problems({})).toEqual([]);
});

test.each<[string, Partial<Manifest>]>([
  ["another licence", { license: "ISC" }],
  ["an older engine", { engines: { node: ">=18" } }],
  ["side effects", { sideEffects: true }],
  ["another script", { scripts: { ...manifest.scripts, "test:unit": "vitest" } }],
  ["other files", { files: ["dist"] }],
  ["no provenance", { publishConfig: { access: "public" } }],
  ["core as a plain dependency", { dependencies: { "@memory/core": "workspace:^" } }],
  ["a pinned peer", { peerDependencies: { "@memory/core": "1.0.0" } }],
  ["a peer of the workspace's own version", { peerDependencies: { "@memory/core": "workspace:^" } }],
  ["a peer of another major", { peerDependencies: { "@memory/core": ">=0.1.0 <1" } }],
  ["a peer beyond the next major", { peerDependencies: { "@memory/core": ">=1.0.0 <3" } }],
  ["no peer on core", { peerDependencies: {} }],
  [
    "types after default",
    {
      exports: { ".": { "@memory/source": "./src/index.ts", default: "./dist/index.js", types: "./dist/index.d.ts" } },
    },
  ],
])("%s is found", (_, changed) => {
  expect(problems(changed)).toHaveLength(1);
});

test("every file of the skin is asked for", () => {
  for (const missing of files)
    expect(
      problems(
        {},
        files.filter((file) => file !== missing),
      ),
    ).not.toEqual([]);
});

test("packages of one family have one version", () => {
  const sibling: Member = {
    folder: "packages/redis",
    manifest: { ...manifest, version: "1.1.0" },
    sources: [],
    paths: new Set(files),
  };
  expect(checkFields([{ ...sibling, manifest }, sibling])).toHaveLength(1);
});
