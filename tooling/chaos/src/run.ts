// One run: servers and clients are started, faults come as planned, everything is healed, a process of its own looks at
// what is there, erases it and looks again, and the history of all that is judged.

import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { canaryOf } from "./canary.ts";
import { type Judgement, judge } from "./checker/judge.ts";
import { type ClientBase, CrewMember } from "./crew.ts";
import type { PlannedFault } from "./faults.ts";
import { type Line, monotonicMs, readHistory, recordTo } from "./history.ts";
import { coverOf, type Deployment, type Known, knownOf, planOf } from "./plan.ts";
import { startPostgresRig } from "./servers/postgres.ts";
import { startRedisRig } from "./servers/redis.ts";
import { startClusterRig } from "./servers/redis-cluster.ts";
import { startSentinelRig } from "./servers/redis-sentinel.ts";
import type { Loss, Rig } from "./servers/rig.ts";
import { SETTINGS, type ServerName, storeNamed } from "./stores.ts";

/** What a run is. */
export interface RunPlan {
  readonly seed: number;
  /** How long faults come. */
  readonly ms: number;
  readonly stores: readonly string[];
  readonly deployment: Deployment;
  /** These kinds of fault once each, for as long as it takes, instead of what the seed draws; `all`: that are known. */
  readonly covers?: "all" | Known;
  /** Where the history stays if there is something wrong with it. */
  readonly keepIn: string;
  /** It stays in any case. */
  readonly keepsAll?: boolean;
}

/** What a run came to. */
export interface RunReport extends Judgement {
  readonly seed: number;
  readonly deployment: Deployment;
  readonly faults: Readonly<Record<string, number>>;
  /** Growth of the clients' heaps over their lives, the largest, in bytes. */
  readonly heapGrowth: number;
  readonly tookMs: number;
  readonly history: string | undefined;
}

const CLIENTS = ["a", "b"];
/** Callers of each client, over all of its stores. */
const CALLERS = 8;
const THINK_MS = 18;
/** Code that is compiled and caches that are filled are no leak; a run's records held on to would be. */
const HEAP_GROWTH = 48 * 1024 * 1024;

/** Runs it. */
export async function run(plan: RunPlan): Promise<RunReport> {
  const began = monotonicMs();
  const folder = mkdtempSync(join(tmpdir(), "memory-chaos-"));
  const rigs: Rig[] = [];
  const conductor = new Conductor(plan, folder, rigs);
  try {
    await conductor.orBreakOff(async () => {
      await startRigs(plan, rigs);
      await conductor.conduct();
    });
    const lines = conductor.lines();
    const judgement = judge(lines, canaryOf(plan.seed));
    const isKept = plan.keepsAll === true || judgement.violations.length > 0;
    const history = isKept ? keep(plan, lines) : undefined;
    const { heapGrowth } = conductor;
    const { seed, deployment } = plan;
    return {
      seed,
      deployment,
      faults: countFaults(lines),
      heapGrowth,
      ...judgement,
      tookMs: monotonicMs() - began,
      history,
    };
  } finally {
    conductor.end();
    await Promise.allSettled(rigs.map((rig) => rig.stop()));
    rmSync(folder, { recursive: true, force: true });
  }
}

async function startRigs({ seed, deployment, stores }: RunPlan, rigs: Rig[]): Promise<void> {
  const canary = canaryOf(seed);
  const { redis, postgres } = deployment;
  if (redis === "standalone") rigs.push(await startRedisRig(canary));
  if (redis === "sentinel") rigs.push(await startSentinelRig(canary));
  if (redis === "cluster") rigs.push(await startClusterRig(canary));
  const hasVectors = stores.some((name) => storeNamed(name).isSemantic === true);
  if (postgres !== undefined) rigs.push(await startPostgresRig(canary, postgres, hasVectors));
}

class Conductor {
  heapGrowth = 0;
  readonly #plan: RunPlan;
  readonly #folder: string;
  readonly #rigs: readonly Rig[];
  readonly #log: ReturnType<typeof recordTo>;
  readonly #crew: CrewMember[] = [];

  constructor(plan: RunPlan, folder: string, rigs: readonly Rig[]) {
    this.#plan = plan;
    this.#folder = folder;
    this.#rigs = rigs;
    this.#log = recordTo(join(folder, "conductor"));
  }

  /** Everything that was recorded, by all processes. */
  lines(): readonly Line[] {
    this.#log.close();
    return ["conductor", ...CLIENTS, "audit"]
      .map((name) => join(this.#folder, name))
      .flatMap((path) => (existsSync(path) ? readHistory(path) : []));
  }

  /** A run that cannot go on is no run without a violation. */
  async orBreakOff(body: () => Promise<void>): Promise<void> {
    try {
      await body();
    } catch (error) {
      this.#flaw(
        "broken off",
        error instanceof Error ? `${error.message} ${String(error.cause ?? "")}` : String(error),
      );
    }
  }

  end(): void {
    for (const member of this.#crew) member.end();
  }

  async conduct(): Promise<void> {
    const { seed, ms, covers } = this.#plan;
    const known = knownOf(this.#rigs);
    const lanes = covers === undefined ? planOf(seed, ms, known) : coverOf(seed, covers === "all" ? known : covers);
    const callers = Math.max(2, Math.round(CALLERS / this.#plan.stores.length));
    const clients = CLIENTS.map((name) => this.#hire(name, callers));
    await Promise.all(clients.map((client) => client.begin()));
    const until = monotonicMs() + (covers === undefined ? ms : Number.POSITIVE_INFINITY);
    await Promise.all(Object.values(lanes).map((lane) => this.#drive(lane, clients, until)));
    await Promise.all(this.#rigs.map((rig) => rig.heal()));
    await pause(300);
    for (const client of clients) client.signal("SIGCONT");
    await Promise.all(clients.map((client) => client.quiet()));
    await this.#expectNothingStuck("idle", CLIENTS.length);
    await this.#closeAll(clients);
    const auditor = this.#hire("audit", 0);
    await auditor.begin();
    await auditor.audit(false);
    await auditor.audit(true);
    await this.#closeAll([auditor]);
    await this.#expectNothingStuck("closed", 0);
    await this.#expectNothingLeft();
  }

  #hire(name: string, callers: number): CrewMember {
    const { seed, stores } = this.#plan;
    const addresses = Object.fromEntries(this.#rigs.map((rig) => [rig.server, rig.dsn]));
    const base: ClientBase = {
      ...{ seed, stores, addresses, callers, thinkMs: THINK_MS },
      canary: canaryOf(seed),
      history: join(this.#folder, name),
      prepare: this.#rigs.every((rig) => rig.prepare),
    };
    // The auditor has one life, and its calls say that they are its.
    const member = new CrewMember(name, base, this.#log.record);
    this.#crew.push(member);
    return member;
  }

  async #drive(lane: readonly PlannedFault[], clients: readonly CrewMember[], until: number): Promise<void> {
    for (const fault of lane) {
      await pause(fault.waitMs);
      if (monotonicMs() + fault.ms > until) return;
      await this.#inflict(fault, clients);
    }
  }

  async #inflict(fault: PlannedFault, clients: readonly CrewMember[]): Promise<void> {
    const at = monotonicMs();
    const rig = this.#rigs.find(({ server }) => server === fault.lane);
    const line = { line: "fault", at, kind: fault.kind, target: fault.lane } as const;
    try {
      const loss =
        rig === undefined
          ? await this.#disturb(fault, clients)
          : await rig.faults[fault.kind]?.(fault.ms, fault.number);
      if (loss !== undefined && rig !== undefined) this.#admit(rig, at, loss);
      this.#log.record({ ...line, to: monotonicMs() });
    } catch (error) {
      // A fault that could not be mended is told, and mended by what comes after.
      const failed = error instanceof Error ? `${error.message} ${String(error.cause ?? "")}` : String(error);
      this.#log.record({ ...line, to: monotonicMs(), failed });
      await rig?.heal();
    }
  }

  async #disturb({ kind, ms, number }: PlannedFault, clients: readonly CrewMember[]): Promise<undefined> {
    const client = clients[number % clients.length];
    if (kind === "kill-client") await client?.kill(ms);
    if (kind === "pause-client") {
      client?.signal("SIGSTOP");
      await pause(ms);
      client?.signal("SIGCONT");
    }
    if (kind === "clock-back" || kind === "clock-forth") {
      const sizes = [50, 1_000, 60_000, 86_400_000];
      const size = sizes[Math.floor(number / 2) % sizes.length] ?? 50;
      client?.order({ order: "clock", offsetMs: kind === "clock-back" ? -size : size });
      await pause(ms);
      client?.order({ order: "clock", offsetMs: 0 });
    }
    if (kind === "index-down") {
      for (const one of clients) one.order({ order: "index", isDown: true });
      await pause(ms);
      for (const one of clients) one.order({ order: "index", isDown: false });
    }
    return undefined;
  }

  #admit(rig: Rig, at: number, loss: Loss): void {
    const stores = this.#plan.stores.filter((name) => storeNamed(name).needs.includes(rig.server));
    this.#log.record({ line: "loss", at, stores, ...loss });
  }

  async #closeAll(members: readonly CrewMember[]): Promise<void> {
    for (const remains of await Promise.all(members.map((member) => member.close()))) {
      if (remains === undefined) continue;
      const growth = remains.heapBytesAfter - remains.heapBytesBefore;
      this.heapGrowth = Math.max(this.heapGrowth, growth);
      if (remains.handles.length > 0) this.#flaw("handles", remains.handles.join(", "));
      if (growth > HEAP_GROWTH) this.#flaw("memory", `the heap grew by ${Math.round(growth / 1_048_576)} MB`);
    }
  }

  // A store of SQL has a pool; one of Redis has a connection to each node, and a cluster one more to learn its nodes.
  #mostConnections(server: ServerName): number {
    const pools = this.#plan.stores.flatMap((name) => storeNamed(name).needs.filter((one) => one === server));
    return pools.length * (server === "redis" ? 2 : SETTINGS.poolSize);
  }

  async #expectNothingStuck(when: string, clients: number): Promise<void> {
    // What was given up is cancelled or closed in the moments after.
    let stuck: readonly string[] = [];
    for (let tries = 0; tries < 50; tries += 1) {
      stuck = (
        await Promise.all(this.#rigs.map((rig) => rig.stuck(clients, this.#mostConnections(rig.server))))
      ).flat();
      if (stuck.length === 0) return;
      await pause(100);
    }
    for (const one of stuck) this.#flaw("connections", `${when}: ${one}`);
  }

  async #expectNothingLeft(): Promise<void> {
    const lines = readHistory(join(this.#folder, "conductor"));
    const isLoose = lines.some((line) => line.line === "loss" && line.loosens);
    for (const rig of this.#rigs) {
      // Rows that eviction cut loose are not found by an erasure (docs/redis.md, Eviction).
      if (isLoose && rig.server === "redis") continue;
      for (const one of await rig.leftovers()) this.#flaw("left", `${rig.server}: ${one} after everything was erased`);
    }
  }

  #flaw(what: string, detail: string): void {
    this.#log.record({ line: "flaw", at: monotonicMs(), what, detail });
  }
}

function countFaults(lines: readonly Line[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const line of lines) {
    if (line.line !== "fault") continue;
    const name = `${line.target} ${line.kind}${line.failed === undefined ? "" : " (failed)"}`;
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

function keep({ keepIn, seed }: RunPlan, lines: readonly Line[]): string {
  mkdirSync(keepIn, { recursive: true });
  const path = join(keepIn, `${seed}.jsonl`);
  rmSync(path, { force: true });
  const file = recordTo(path);
  for (const line of lines) file.record(line);
  file.close();
  return path;
}
