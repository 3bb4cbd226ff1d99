// Every page holds what it says: its code blocks compile against the sources and run, the scripts that it names exist,
// its links lead somewhere.

import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, posix } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, test } from "vitest";
import { readAnchors, readLinks } from "../src/markdown.ts";
import { readPages, root } from "../src/pages.ts";
import { npmScriptsOf, programsOf } from "../src/programs.ts";

const pages = readPages();
// What stands in tooling is for who works on it there; its code is that package's own.
const programs = pages
  .filter(({ path }) => !path.startsWith("tooling/"))
  .flatMap(({ path, markdown }) => programsOf(path, markdown));
// Inside this package, so that the programs import what it depends on.
const folder = fileURLToPath(new URL("../.cache/programs/", import.meta.url));
const fileOf = (name: string) => join(folder, `${name.replaceAll(/[^\w.-]/g, "_")}.ts`);

beforeAll(() => {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const { name, source } of programs) writeFileSync(fileOf(name), source);
  const settings = {
    extends: "../../../tsconfig/base.json",
    compilerOptions: { noUnusedLocals: false, noUnusedParameters: false },
    files: programs.map(({ name }) => fileOf(name)),
  };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(settings));
});

describe("code blocks", () => {
  test("compile, strictly, against the sources", { timeout: 120_000 }, () => {
    const tsc = join(dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin", "tsc");
    const result = spawnSync(process.execPath, [tsc, "-p", join(folder, "tsconfig.json")], { encoding: "utf8" });
    expect(result.stdout).toBe("");
    expect(result.status).toBe(0);
  });

  test.each(programs.filter(({ runs }) => runs))("$name runs, and all that it asserts holds", ({ name }) => {
    const flags = ["--conditions=@memory/source", "--disable-warning=ExperimentalWarning"];
    // Vitest marks its workers for `node:test`; a child must not take itself for one.
    const { NODE_TEST_CONTEXT: _, NODE_OPTIONS: __, ...env } = process.env;
    const result = spawnSync(process.execPath, [...flags, fileOf(name)], { encoding: "utf8", env, timeout: 60_000 });
    // `console.assert` tells of itself here, and does not end the process.
    expect(result.stderr).toBe("");
    expect(result.status).toBe(0);
  });
});

describe("shell blocks", () => {
  const manifest: { readonly scripts: Readonly<Record<string, string>> } = JSON.parse(
    readFileSync(join(root, "package.json"), "utf8"),
  );

  test("name scripts that exist", () => {
    const named = pages.flatMap(({ path, markdown }) => npmScriptsOf(markdown).map((name) => ({ path, name })));
    expect(named.filter(({ name }) => !(name in manifest.scripts))).toEqual([]);
    expect(named).not.toEqual([]);
  });
});

describe("links", () => {
  const markdownOf = new Map(pages.map(({ path, markdown }) => [path, markdown]));

  test.each(pages)("of $path lead to files and headings that exist", ({ path, markdown }) => {
    const broken = readLinks(markdown).filter(({ target }) => {
      if (/^(?:https?|mailto):/.test(target)) return false;
      const [file = "", anchor] = target.split("#");
      const to = file === "" ? path : posix.join(posix.dirname(path), decodeURIComponent(file));
      if (!existsSync(join(root, to))) return true;
      return anchor !== undefined && !readAnchors(markdownOf.get(to) ?? "").has(anchor);
    });
    expect(broken).toEqual([]);
  });
});
