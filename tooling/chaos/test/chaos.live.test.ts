// Every kind of fault once, against every deployment, in a few short runs: the part of chaos that is always run. The rest
// is `npm run chaos`.

import { tmpdir } from "node:os";
import { join } from "node:path";
import { canMountDisk, canStartLocally, findPgBouncer, findPostgres } from "@tooling/servers";
import { beforeAll, describe, expect, it } from "vitest";
import { FAULTS } from "../src/faults.ts";
import { describeRun } from "../src/report.ts";
import { type RunReport, run } from "../src/run.ts";
import { defaultStores } from "../src/stores.ts";

const isMissing = !canStartLocally() || findPostgres().isMissing;
const hasSmallDisk = canMountDisk();
const hasPooler = !findPgBouncer().isMissing;
const keepIn = join(tmpdir(), "memory-chaos-histories");

// What each run covers; the first all that its servers know.
const RUNS = {
  alone: {
    deployment: { redis: "standalone", postgres: hasSmallDisk ? "small" : "single" },
    covers: "all",
  },
  replicated: {
    deployment: { redis: "sentinel", postgres: "pair" },
    covers: {
      redis: ["failover", "split", "mute"],
      postgres: ["swallow", "promote", "restart"],
      client: ["kill-client"],
    },
  },
  spread: {
    deployment: { redis: "cluster", postgres: hasPooler ? "pooled" : "single" },
    covers: {
      redis: ["failover", "pause"],
      postgres: ["swallow", "kill", ...(hasPooler ? ["pooler"] : [])],
      client: ["pause-client"],
    },
  },
} as const;

describe.skipIf(isMissing)("stores under fire keep their promises", () => {
  const reports: Partial<Record<keyof typeof RUNS, RunReport>> = {};

  // Side by side: most of their time they wait.
  beforeAll(async () => {
    const suffer = async (name: keyof typeof RUNS, seed: number): Promise<void> => {
      const { deployment, covers } = RUNS[name];
      const report = await run({ seed, ms: 0, stores: defaultStores(), deployment, covers, keepIn });
      console.log(describeRun(report));
      reports[name] = report;
    };
    await Promise.all([suffer("alone", 1), suffer("replicated", 2), suffer("spread", 3)]);
  }, 180_000);

  it("on one server each, through every fault that one can have", () => {
    expect(reports.alone?.violations).toEqual([]);
    expect(reports.alone?.acknowledged).toBeGreaterThan(300);
  });

  it("over failovers of Sentinels and the promotion of a standby", () => {
    expect(reports.replicated?.violations).toEqual([]);
  });

  it("over the failover of a cluster's master, and behind a pooler", () => {
    expect(reports.spread?.violations).toEqual([]);
  });

  it("and no kind of fault was left out, or could not be done", () => {
    const seen = new Set(Object.values(reports).flatMap(({ faults }) => Object.keys(faults)));
    const all = Object.entries(FAULTS).flatMap(([lane, kinds]) => Object.keys(kinds).map((kind) => `${lane} ${kind}`));
    const cannot = [...(hasSmallDisk ? [] : ["postgres disk-full"]), ...(hasPooler ? [] : ["postgres pooler"])];
    const missed = all.filter((name) => !seen.has(name) && !cannot.includes(name));
    expect(missed).toEqual([]);
    expect([...seen].filter((name) => name.endsWith("(failed)"))).toEqual([]);
  });
});
