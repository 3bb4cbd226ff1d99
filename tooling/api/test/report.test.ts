// A small package, compiled by the workspace's own compiler, and its reports: written, compared, changed.

import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { doorsOf } from "../src/doors.ts";
import { reportDoor } from "../src/report.ts";

const tsc = join(dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin", "tsc");
const door = { name: "index", types: "./dist/index.d.ts" };
let folder = "";

beforeEach(() => {
  folder = mkdtempSync(join(realpathSync(tmpdir()), "memory-api-"));
  mkdirSync(join(folder, "src"));
  const exports = {
    ".": { types: "./dist/index.d.ts", default: "./dist/index.js" },
    "./package.json": "./package.json",
  };
  writeFileSync(
    join(folder, "package.json"),
    JSON.stringify({ name: "sample", version: "1.0.0", type: "module", exports }),
  );
});

afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

function build(size: string, index = `export type { Part } from "./part.ts";\n`): void {
  writeFileSync(join(folder, "src", "part.ts"), `/** A part. */\nexport interface Part { readonly size: ${size} }\n`);
  writeFileSync(join(folder, "src", "index.ts"), index);
  const flags = ["--ignoreConfig", "--declaration", "--rewriteRelativeImportExtensions", "--isolatedDeclarations"];
  const places = ["--module", "nodenext", "--rootDir", "src", "--outDir", "dist", "src/index.ts"];
  execFileSync(process.execPath, [tsc, ...flags, ...places, "--types", ""], { cwd: folder });
}

test("each entry of exports but the manifest is a door", () => {
  expect(doorsOf(folder)).toEqual([door]);
});

test("a report shows what a door exports, and comparing it again finds no change", () => {
  build("number");
  expect(reportDoor(folder, door, false).problems).toEqual([]);
  expect(readFileSync(join(folder, "etc", "index.api.md"), "utf8")).toContain("readonly size: number;");
  expect(reportDoor(folder, door, true)).toEqual({ isChanged: false, unexported: [], problems: [] });
});

test("a member whose type changed is a difference, and comparing leaves the report as it was", () => {
  build("number");
  reportDoor(folder, door, false);
  build("string");
  expect(reportDoor(folder, door, true).isChanged).toBe(true);
  expect(readFileSync(join(folder, "etc", "index.api.md"), "utf8")).toContain("readonly size: number;");
});

test("a type that a door shows and does not export is named", () => {
  build("number", `import type { Part } from "./part.ts";\nexport interface Whole { readonly part: Part }\n`);
  expect(reportDoor(folder, door, false).unexported).toEqual(["Part"]);
});

test("a door that is not built is a problem and not an empty report", () => {
  expect(reportDoor(folder, door, true).problems).toHaveLength(1);
});
