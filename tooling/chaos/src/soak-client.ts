// The client process of a soak: many callers at a steady pace over every store, and once a second what that costs.

import { setTimeout as pause } from "node:timers/promises";
import type { MemoryStore } from "@memory/core";
import { openHandles, surplus } from "./handles.ts";
import { Histogram } from "./histogram.ts";
import type { Line } from "./history.ts";
import { operationNamed } from "./operations/all.ts";
import { mayBe, placesOf } from "./outcome.ts";
import { followParent, partFromParent } from "./parent.ts";
import { type Addresses, type Opening, SETTINGS, storeNamed } from "./stores.ts";
import { Workload } from "./workload.ts";
import { type World, worldOf } from "./world.ts";

/** How a soak's client begins. */
export interface SoakPlan {
  readonly seed: number;
  readonly canary: string;
  readonly stores: readonly string[];
  readonly addresses: Addresses;
  /** Over all stores. */
  readonly callers: number;
}

/** One second of a soak. */
export interface Sample {
  /** Durations of the calls that settled in it. */
  readonly durations: readonly (readonly [ms: number, count: number])[];
  readonly acknowledged: number;
  readonly refused: number;
  readonly rssBytes: number;
  readonly heapBytes: number;
  /** Sockets and whatever else is open; timers stand apart, as each caller that waits has one. */
  readonly handles: number;
  readonly timers: number;
  /** What must not be, since the second before. */
  readonly flaws: readonly string[];
}

/** What it says. */
export type SoakNews =
  | { readonly news: "begun" }
  | { readonly news: "sample"; readonly sample: Sample }
  | { readonly news: "closed"; readonly handles: readonly string[] };

/** What it is told. */
export type SoakOrder = { readonly order: "begin"; readonly plan: SoakPlan } | { readonly order: "end" };

// A connection for each caller that may be in the middle of something, as a service of this size would have.
const POOL = 8;
const THINK_MS = 60;

let flaws: string[] = [];
let durations = new Histogram();
let acknowledged = 0;
let refused = 0;
const ops = new Map<string, string>();
const workloads: Workload[] = [];
const stores: MemoryStore[] = [];
let running: Promise<unknown> = Promise.resolve();
let sampling: NodeJS.Timeout | undefined;
const before = openHandles();

process.on("message", (order: SoakOrder) => {
  if (order.order === "begin") begin(order.plan);
  else void end();
});
followParent();
process.on("unhandledRejection", (reason) => flaws.push(`unhandled rejection: ${placesOf(reason)}`));
process.on("uncaughtException", (error) => flaws.push(`uncaught exception: ${placesOf(error)}`));
process.on("warning", ({ name }) => name !== "ExperimentalWarning" && flaws.push(`warning: ${name}`));

function begin({ seed, canary, stores: names, addresses, callers }: SoakPlan): void {
  const opening: Opening = {
    dsn: (server) => addresses[server] ?? "",
    prepare: true,
    settings: { ...SETTINGS, poolSize: POOL },
  };
  const runs = names.map((name) => {
    const world = worldOf(canary, name);
    // Everything is erased now and then, so that what is stored stays as much as it is.
    const steady: World = { ...world, fates: world.fates.map(() => "erased") };
    const workload = new Workload({
      ...{ seed, name, client: "soak", world: steady, record: hear, thinkMs: THINK_MS },
      callers: Math.round(callers / names.length),
      onSettled: (_op, tookMs, isOk) => {
        durations.add(tookMs);
        if (isOk) acknowledged += 1;
        else refused += 1;
      },
    });
    const store = storeNamed(name).open(opening, workload.optionsFor({ isDown: false }));
    workloads.push(workload);
    stores.push(store);
    return workload.run(store);
  });
  running = Promise.all(runs);
  sampling = setInterval(sample, 1_000);
  tell({ news: "begun" });
}

// Of the history only what must not be is kept: it would be hundreds of megabytes.
function hear(line: Line): void {
  if (line.line === "flaw") flaws.push(`${line.what}: ${line.detail}`);
  if (line.line === "call") ops.set(line.id, line.op);
  if (line.line !== "end") return;
  const op = ops.get(line.id) ?? "";
  ops.delete(line.id);
  if (line.code !== undefined && !mayBe(line.code, op, true)) flaws.push(`${operationNamed(op).name}: ${line.code}`);
  for (const flaw of line.answer?.flaws ?? []) flaws.push(flaw);
}

function sample(): void {
  const resources = openHandles();
  const timers = resources.filter((name) => name === "Timeout" || name === "Immediate").length;
  const { rss, heapUsed } = process.memoryUsage();
  tell({
    news: "sample",
    sample: {
      ...{ durations: durations.entries(), acknowledged, refused, rssBytes: rss, heapBytes: heapUsed, flaws, timers },
      handles: resources.length - timers,
    },
  });
  [flaws, durations, acknowledged, refused] = [[], new Histogram(), 0, 0];
}

async function end(): Promise<void> {
  for (const workload of workloads) workload.stop();
  await running;
  clearInterval(sampling);
  await Promise.all(stores.map((store) => store.close()));
  for (let tries = 0; tries < 100 && surplus(openHandles(), before).length > 0; tries += 1) await pause(20);
  tell({ news: "closed", handles: surplus(openHandles(), before) });
  partFromParent();
}

function tell(news: SoakNews): void {
  process.send?.(news);
}
