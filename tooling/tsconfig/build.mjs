// The `build` script of every package: an empty dist/, then plain tsc. Without the first step, what a renamed source
// once compiled to would stay in dist/ and be published.

import { spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

const typescript = dirname(createRequire(import.meta.url).resolve("typescript/package.json"));
rmSync("dist", { recursive: true, force: true });
const args = [join(typescript, "bin", "tsc"), "-p", "tsconfig.build.json"];
process.exitCode = spawnSync(process.execPath, args, { stdio: "inherit" }).status ?? 1;
