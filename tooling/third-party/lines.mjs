// Writes into this README how many lines the adapter has beside ours: lines of code, without blank ones and comments.

import { globSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));
const readme = new URL("README.md", import.meta.url);

const rows = [
  ["this adapter", "working, profile, episodic, semantic", ["tooling/third-party/src"]],
  ["`@memory/redis`", "working", ["packages/redis/src"]],
  ["`@memory/postgres`", "profile, episodic", ["packages/postgres/src"]],
  ["`@memory/pgvector`", "semantic", ["packages/pgvector/src"]],
  ["what these two share in `@memory/core`", "", ["packages/core/src/sql", "packages/core/src/postgres-js"]],
  ["the in-memory reference", "working, profile, episodic, semantic", ["packages/core/src/in-memory"]],
].map(([name, kinds, folders]) => {
  const files = folders
    .flatMap((folder) => globSync(`${folder}/**/*.ts`, { cwd: root }))
    .filter((path) => !path.endsWith(".test.ts"));
  const lines = files.reduce((sum, path) => sum + linesOf(readFileSync(`${root}/${path}`, "utf8")), 0);
  return [name, kinds, String(files.length), lines.toLocaleString("en")];
});

const table = [["", "kinds", "files", "lines of code"], ["---", "---", "---:", "---:"], ...rows]
  .map((cells) => `| ${cells.join(" | ")} |`)
  .join("\n");
const text = readFileSync(readme, "utf8");
writeFileSync(readme, text.replace(/(<!-- lines.*-->\n)[\s\S]*(\n<!-- \/lines -->)/, `$1\n${table}\n$2`));

function linesOf(source) {
  const withoutBlocks = source.replaceAll(/^\s*\/\*[\s\S]*?\*\//gm, "");
  return withoutBlocks.split("\n").filter((line) => line.trim() !== "" && !line.trim().startsWith("//")).length;
}
