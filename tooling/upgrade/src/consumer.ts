// A consumer's project: installed by one manager, upgraded in one order, and after each step compiled under `strict` and run
// against real servers that hold what its earlier versions stored.

import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { CommandError, must } from "./command.ts";
import type { Installer } from "./managers.ts";

const CORE = "@memory/core";
const ADAPTERS = ["@memory/pgvector", "@memory/postgres", "@memory/redis", "@memory/routed"];
const fixture = fileURLToPath(new URL("../fixture/consumer", import.meta.url));

/** Which of the two is upgraded first. */
export type Order = "core first" | "adapters first";

/** Where a consumer keeps things, and what else it needs. */
export interface ConsumerPlan {
  readonly installer: Installer;
  readonly order: Order;
  readonly folder: string;
  /** The compiler's script. */
  readonly tsc: string;
  /** An adapter that is not ours: its name and version. */
  readonly stranger: { readonly name: string; readonly version: string };
  readonly servers: { readonly redis: string; readonly postgres: string };
}

/** What a run saw. */
export interface ConsumerRun {
  readonly core: string;
  readonly adapters: string;
  /** The codes of the deprecations that the process was told of, one for each time. */
  readonly warnings: readonly string[];
}

/** Installs at `before`, then upgrades to `after` in two steps; what each run saw, in order. @throws {CommandError} */
export async function useConsumer(plan: ConsumerPlan, before: string, after: string): Promise<readonly ConsumerRun[]> {
  mkdirSync(plan.folder, { recursive: true });
  cpSync(fixture, plan.folder, { recursive: true });
  const halfway = plan.order === "core first" ? [after, before] : [before, after];
  const runs: ConsumerRun[] = [];
  for (const [core = "", adapters = ""] of [[before, before], halfway, [after, after]]) {
    runs.push(await runOnce(plan, core, adapters, runs.length === 0));
  }
  return runs;
}

/** Goes on to the version without the old name: it does not compile until the new one stands there. */
export async function leaveOldName(
  plan: ConsumerPlan,
  version: string,
  before: string,
  after: string,
): Promise<ConsumerRun> {
  const path = join(plan.folder, "memory.ts");
  const refused = await runOnce(plan, version, version, false).then(
    () => "it compiled",
    (error: unknown) => String(error),
  );
  if (!new RegExp(`TS2305.*'${before}'|TS2724.*'${before}'`).test(refused)) throw new CommandError(refused);
  writeFileSync(path, readFileSync(path, "utf8").replaceAll(before, after));
  return runOnce(plan, version, version, false);
}

async function runOnce(plan: ConsumerPlan, core: string, adapters: string, isFirst: boolean): Promise<ConsumerRun> {
  const { folder, installer, order, servers, stranger, tsc } = plan;
  const dependencies = {
    [CORE]: core,
    ...Object.fromEntries(ADAPTERS.map((name) => [name, adapters])),
    [stranger.name]: stranger.version,
  };
  const manifest = {
    name: "consumer",
    private: true,
    type: "module",
    dependencies,
    devDependencies: { "@types/node": "^22.18.0" },
  };
  writeFileSync(join(folder, "package.json"), JSON.stringify(manifest, undefined, 2));
  await installer.install(folder);

  await must(process.execPath, [tsc, "-p", "tsconfig.json"], { cwd: folder });
  const env = {
    UPGRADE_TENANT: `${installer.manager} ${order}`,
    UPGRADE_REDIS: servers.redis,
    UPGRADE_POSTGRES: servers.postgres,
  };
  await must(process.execPath, ["out/stranger.js", "memory.db"], { cwd: folder });
  const args = ["out/memory.js", isFirst ? "begin" : "continue", "notes.json"];
  const { stdout } = await must(process.execPath, args, { cwd: folder, env });
  const { warnings }: { warnings: readonly string[] } = JSON.parse(stdout.trim().split("\n").slice(-1)[0] ?? "{}");
  return { core, adapters, warnings };
}
