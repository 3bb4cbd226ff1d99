// Measures every published package and writes the table of its README; with --check the tables are compared and nothing is
// written. The packages have to be built (`npm run sizes` does). Exit code 1 on a difference, and where an import that
// uses nothing of a door leaves something in a bundle.

import { globSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { bundle } from "./bundled.ts";
import { measureInstalled } from "./installed.ts";
import { compareTable, type SizeRow, writeTable } from "./table.ts";

const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..", "..");
const isCheck = process.argv.includes("--check");

for (const path of globSync("packages/*/package.json", { cwd: root }).sort()) {
  const folder = join(root, dirname(path));
  const manifest: { name: string; exports: Record<string, unknown> } = JSON.parse(
    readFileSync(join(root, path), "utf8"),
  );
  const doors = Object.keys(manifest.exports).filter((door) => door !== "./package.json");
  const names = doors.map((door) => `${manifest.name}${door.slice(1)}`);

  const rows = await measure(folder, names);
  const readmePath = join(folder, "README.md");
  const readme = readFileSync(readmePath, "utf8");
  const problems = [...(isCheck ? compareTable(readme, rows) : []), ...(await findLeftovers(folder, names))];
  if (!isCheck) writeFileSync(readmePath, writeTable(readme, rows));
  console.log(`${problems.length === 0 ? "passed" : "failed"}  ${manifest.name}`);
  for (const problem of problems) console.error(`        ${problem}`);
  if (problems.length > 0) process.exitCode = 1;
}
if (isCheck && process.exitCode === 1) console.error("        `npm run sizes` writes the tables anew");

async function measure(folder: string, names: readonly string[]): Promise<readonly SizeRow[]> {
  const installed = measureInstalled(root, folder);
  const rows: SizeRow[] = [
    { what: "installed: this package", bytes: installed.own },
    { what: "installed: with all that it brings", bytes: installed.withAll },
  ];
  for (const name of names) {
    const source = `export * from "${name}";`;
    const alone = await bundle(source, folder, { isAlone: true });
    const whole = await bundle(source, folder);
    rows.push({ what: `\`${name}\` bundled: its own code`, bytes: alone.minified, gzipped: alone.gzipped });
    rows.push({ what: `\`${name}\` bundled: with all that it brings`, bytes: whole.minified, gzipped: whole.gzipped });
  }
  return rows;
}

async function findLeftovers(folder: string, names: readonly string[]): Promise<readonly string[]> {
  const problems: string[] = [];
  for (const name of names) {
    const { minified } = await bundle(`import "${name}";`, folder);
    if (minified > 0) problems.push(`an import of ${name} that uses nothing leaves ${minified} bytes in a bundle`);
  }
  return problems;
}
