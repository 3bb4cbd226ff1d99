// `npm run chaos -- --runs 200 --seconds 20`: seeded runs, one after the other or side by side, and what they came to.
// `--replay SEED` repeats one; `--soak 15m` is one long run at a steady load.

import { join } from "node:path";
import { canMountDisk } from "@tooling/servers";
import { type RunsWish, readArguments, type SoakWish } from "./arguments.ts";
import { deploymentOf } from "./plan.ts";
import { describeRun, describeSummary, keepFigures, RESULTS, summarise } from "./report.ts";
import { type RunReport, run } from "./run.ts";
import { soak } from "./soak.ts";

const wish = readArguments(process.argv.slice(2));
if ("runs" in wish) await runAll(wish.runs);
else await soakAll(wish.soak);

async function runAll({ runs, ms, seed, stores, parallel, keeps }: RunsWish): Promise<void> {
  const hasSmallDisk = canMountDisk();
  const reports: RunReport[] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < runs) {
      const own = seed + next;
      next += 1;
      const deployment = deploymentOf(own, stores, hasSmallDisk);
      const report = await run({
        ...{ seed: own, ms, stores, deployment },
        keepIn: join(RESULTS, "histories"),
        keepsAll: keeps,
      });
      reports.push(report);
      console.log(describeRun(report));
      if (Object.keys(report.counts).length > 0) console.log(`    again: ${again(own, ms, stores)}`);
    }
  };
  await Promise.all(Array.from({ length: Math.min(parallel, runs) }, work));
  const summary = summarise(reports);
  const path = keepFigures(`runs-${seed}`, { seed, seconds: ms / 1_000, stores, parallel, summary, runs: reports });
  console.log(`\n${describeSummary(summary)}\n${path}`);
  if (summary.seeds.length > 0) process.exitCode = 1;
}

async function soakAll(wish: SoakWish): Promise<void> {
  const failures = await soak(wish);
  for (const failure of failures) console.log(`NOT MET: ${failure}`);
  if (failures.length > 0) process.exitCode = 1;
}

function again(seed: number, ms: number, stores: readonly string[]): string {
  return `npm run chaos -- --replay ${seed} --seconds ${ms / 1_000} --only ${stores.join(",")}`;
}
