// A client process of a run: opens the stores that it is told, calls them, and writes down what it does before it does it.
// It is killed, stopped and started again by the conductor, which also moves its clock.

import { setTimeout as pause } from "node:timers/promises";
import type { MemoryStore } from "@memory/core";
import { audit } from "./audit.ts";
import { openHandles, surplus } from "./handles.ts";
import { monotonicMs, recordTo } from "./history.ts";
import type { ClientPlan, News, Order } from "./orders.ts";
import { placesOf } from "./outcome.ts";
import { followParent, partFromParent } from "./parent.ts";
import { StepsClock } from "./steps-clock.ts";
import { CALL_BUDGET_MS, type Opening, PATIENT, SETTINGS, storeNamed } from "./stores.ts";
import { type RemoteIndex, Workload } from "./workload.ts";
import { worldOf } from "./world.ts";

const LAG_MS = 150;
const HANDLES_MS = 3_000;

/** A store, its callers, and what they wait for. */
interface Bench {
  readonly name: string;
  readonly store: MemoryStore;
  readonly workload: Workload;
}

class Client {
  readonly #plan: ClientPlan;
  readonly #clock: StepsClock = new StepsClock();
  readonly #index: RemoteIndex = { isDown: false };
  readonly #history: ReturnType<typeof recordTo>;
  readonly #benches: readonly Bench[];
  readonly #handles: readonly string[] = openHandles();
  readonly #heapBytes: number = heapBytes();
  readonly #lag: NodeJS.Timeout;
  #running: Promise<unknown> = Promise.resolve();

  constructor(plan: ClientPlan) {
    this.#plan = plan;
    this.#history = recordTo(plan.history);
    this.#benches = plan.stores.map((name) => this.#open(name));
    this.#lag = this.#watch();
  }

  obey(order: Order): Promise<void> | void {
    if (order.order === "clock") this.#clock.offsetMs = order.offsetMs;
    else if (order.order === "index") this.#index.isDown = order.isDown;
    else if (order.order === "stop") return this.#stop();
    else if (order.order === "audit") return this.#audit(order.isLast);
    else if (order.order === "close") return this.#close();
  }

  work(): void {
    this.#running = Promise.all(this.#benches.map(({ workload, store }) => workload.run(store)));
  }

  note(what: string, detail: string): void {
    this.#history.record({ line: "flaw", at: monotonicMs(), what, detail });
  }

  #open(name: string): Bench {
    const { canary, seed, client, addresses, prepare, callers, thinkMs } = this.#plan;
    const { record } = this.#history;
    const workload = new Workload({ seed, name, client, callers, thinkMs, record, world: worldOf(canary, name) });
    const options = { ...workload.optionsFor(this.#index), clock: this.#clock };
    const opening: Opening = {
      dsn: (server) => addresses[server] ?? "",
      prepare,
      settings: callers === 0 ? PATIENT : SETTINGS,
    };
    return { name, workload, store: storeNamed(name).open(opening, options) };
  }

  async #stop(): Promise<void> {
    for (const { workload } of this.#benches) workload.stop();
    // An erasure in several chunks may take several budgets; what takes longer is told by its name.
    await Promise.race([this.#running, pause(CALL_BUDGET_MS * 4, undefined, { ref: false })]);
    tell({ news: "quiet", unsettled: this.#benches.flatMap(({ workload }) => [...workload.pending]) });
  }

  async #audit(isLast: boolean): Promise<void> {
    const { canary } = this.#plan;
    for (const { name, store, workload } of this.#benches) await audit(store, worldOf(canary, name), workload, isLast);
    tell({ news: "audited" });
  }

  async #close(): Promise<void> {
    for (const { name, store } of this.#benches) {
      const began = monotonicMs();
      await store.close().catch((error: unknown) => this.note("close", `${name}: ${placesOf(error)}`));
      const tookMs = monotonicMs() - began;
      if (tookMs > CALL_BUDGET_MS) this.note("unsettled", `${name}: close took ${Math.round(tookMs)} ms`);
    }
    clearInterval(this.#lag);
    const until = monotonicMs() + HANDLES_MS;
    while (surplus(openHandles(), this.#handles).length > 0 && monotonicMs() < until) await pause(20);
    const left = surplus(openHandles(), this.#handles);
    const remains = { handles: left, heapBytesBefore: this.#heapBytes, heapBytesAfter: heapBytes() };
    this.#history.close();
    tell({ news: "closed", remains });
    partFromParent();
  }

  #watch(): NodeJS.Timeout {
    const { record } = this.#history;
    let last = monotonicMs();
    return setInterval(() => {
      const now = monotonicMs();
      if (now - last > LAG_MS) record({ line: "lag", at: last, to: now, client: this.#plan.client });
      last = now;
    }, 40).unref();
  }
}

let client: Client | undefined;

process.on("message", (order: Order) => {
  if (order.order === "begin") {
    client = new Client(order.plan);
    if (order.plan.callers > 0) client.work();
    tell({ news: "begun" });
  } else void client?.obey(order);
});
followParent();
process.on("unhandledRejection", (reason) => client?.note("unhandled rejection", placesOf(reason)));
process.on("uncaughtException", (error) => {
  client?.note("uncaught exception", placesOf(error));
  process.exitCode = 70;
});
process.on("warning", ({ name }) => {
  if (name !== "ExperimentalWarning") client?.note("warning", name);
});

function tell(news: News): void {
  process.send?.(news);
}

function heapBytes(): number {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}
