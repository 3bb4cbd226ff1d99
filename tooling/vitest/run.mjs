// The `test` script of every package: Vitest with the shared configuration, then what is bound to `node:test`
// (test/**/*.node-test.ts). Both leave a machine-readable report in reports/. Arguments go to Vitest; a path that
// ends in .node-test.ts goes to `node --test`. Live tests (x.live.test.ts) start their servers themselves
// (tooling/servers); MEMORY_LIVE=1, which `npm run test:live` sets, lets them use servers that the person names.

import { spawnSync } from "node:child_process";
import { existsSync, globSync, mkdirSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const args = process.argv.slice(2).filter((arg) => arg !== "--");
const nodeTestArgs = args.filter((arg) => arg.endsWith(".node-test.ts"));
const vitestArgs = args.filter((arg) => !nodeTestArgs.includes(arg));

mkdirSync("reports", { recursive: true });
for (const report of ["reports/vitest.json", "reports/node-test.tap"]) rmSync(report, { force: true });

let failed = false;
if (vitestArgs.length > 0 || nodeTestArgs.length === 0) {
  const vitest = join(dirname(createRequire(import.meta.url).resolve("vitest/package.json")), "vitest.mjs");
  run([vitest, "run", "--config", join(here, "vitest.config.ts"), ...vitestArgs]);
}
const nodeTests = nodeTestArgs.length > 0 ? nodeTestArgs : args.length > 0 ? [] : globSync("test/**/*.node-test.ts");
if (nodeTests.length > 0) {
  run([
    "--conditions=@memory/source",
    "--test",
    "--test-reporter=dot",
    "--test-reporter-destination=stdout",
    "--test-reporter=tap",
    "--test-reporter-destination=reports/node-test.tap",
    ...nodeTests.sort(),
  ]);
  if (existsSync("reports/node-test.tap")) console.log(`\nnode:test ran ${nodeTests.length} file(s)`);
}
process.exit(failed ? 1 : 0);

function run(nodeArgs) {
  // The task runner asks for colour whatever its own output is; a wish for none goes first.
  const { FORCE_COLOR: forced, ...env } = process.env;
  if (forced !== undefined && env.NO_COLOR === undefined) env.FORCE_COLOR = forced;
  const result = spawnSync(process.execPath, nodeArgs, { env, stdio: "inherit" });
  if (result.status !== 0) failed = true;
}
