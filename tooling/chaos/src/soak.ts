// A soak: many callers at a steady pace for minutes, first in peace, then with a failover of Redis and of PostgreSQL at
// every interval; what they wait, and whether memory and handles stay.

import { fork } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { SoakWish } from "./arguments.ts";
import { canaryOf, holdsCanary } from "./canary.ts";
import { monotonicMs } from "./history.ts";
import { draw } from "./plot.ts";
import { keepFigures, RESULTS } from "./report.ts";
import { startPostgresLine } from "./servers/postgres-line.ts";
import { startSentinelRig } from "./servers/redis-sentinel.ts";
import type { Sample, SoakNews, SoakOrder } from "./soak-client.ts";
import { failuresOf, figuresOf, type Phase, type Point, quantileOf } from "./soak-figures.ts";
import { storeNamed } from "./stores.ts";

const SCRIPT = fileURLToPath(new URL("soak-client.ts", import.meta.url));
const DOCS = join(dirname(fileURLToPath(import.meta.url)), "..", "..", "..", "docs");
/** A soak of this length is worth showing. */
const SHOWN_MS = 15 * 60_000;
/** After a failover callers are in their last attempts for so long. */
const SETTLING_MS = 4_000;
/** Seconds of a line in the series. */
const STEP = 5;

/** Soaks; gives what must hold and does not. */
export async function soak(wish: SoakWish): Promise<readonly string[]> {
  const { ms, callers, failoverEveryMs, stores, seed } = wish;
  const canary = canaryOf(seed);
  const hasVectors = stores.some((name) => storeNamed(name).isSemantic === true);
  const postgres = await startPostgresLine(canary, hasVectors);
  const redis = await startSentinelRig(canary);
  const points: Point[] = [];
  let phase: Phase = "warm-up";
  let output = "";
  const client = new SoakClient(
    (sample) => points.push({ ...sample, phase, second: points.length }),
    (text) => {
      output += text;
    },
  );
  try {
    const addresses = { redis: redis.dsn, postgres: postgres.dsn };
    await client.begin({ order: "begin", plan: { seed, canary, stores, addresses, callers } });
    const began = monotonicMs();
    // A fifth of the time in peace; a quarter of that to get warm.
    await pause(ms * 0.05);
    phase = "calm";
    await pause(ms * 0.15);
    let failovers = 0;
    while (monotonicMs() - began < ms) {
      const at = monotonicMs();
      phase = "failing";
      await Promise.all([postgres.failover(), redis.faults["failover"]?.(0, 0)]);
      failovers += 1;
      await pause(SETTLING_MS);
      phase = "healthy";
      console.log(
        `${Math.round((monotonicMs() - began) / 1_000)} s: failover ${failovers} took ${Math.round(monotonicMs() - at - SETTLING_MS)} ms`,
      );
      await pause(Math.max(1_000, failoverEveryMs - (monotonicMs() - at)));
    }
    const handles = await client.end();
    const figures = figuresOf(points, failovers);
    const printed =
      output === ""
        ? []
        : [`the client printed${holdsCanary(canary, output) ? " the canary" : ""}: ${output.slice(0, 200)}`];
    const failures = [...failuresOf(figures), ...printed, ...handles.map((name) => `a handle is left: ${name}`)];
    const setting = { seed, stores, callers, seconds: ms / 1_000, failoverEverySeconds: failoverEveryMs / 1_000 };
    const series = points.map((point) => {
      const { durations: _, ...rest } = point;
      return { ...rest, p50Ms: quantileOf(point, 0.5), p99Ms: quantileOf(point, 0.99) };
    });
    const path = keepFigures(`soak-${seed}`, { setting, figures, failures, series });
    show(
      points,
      ms >= SHOWN_MS ? DOCS : RESULTS,
      `${callers} callers over ${stores.join(", ")}; a failover of Redis and of PostgreSQL every ${failoverEveryMs / 1_000} s`,
    );
    console.log(JSON.stringify({ setting, figures, failures }, null, 2), `\n${path}`);
    return failures;
  } finally {
    client.kill();
    await redis.stop();
    await postgres.stop();
  }
}

/** The client process, from outside. */
class SoakClient {
  readonly #child: ReturnType<typeof fork>;
  readonly #onSample: (sample: Sample) => void;

  constructor(onSample: (sample: Sample) => void, onOutput: (text: string) => void) {
    this.#onSample = onSample;
    this.#child = fork(SCRIPT, { execArgv: ["--conditions=@memory/source"], silent: true });
    for (const stream of [this.#child.stdout, this.#child.stderr]) stream?.setEncoding("utf8").on("data", onOutput);
    this.#child.on("message", (news: SoakNews) => {
      if (news.news === "sample") this.#onSample(news.sample);
    });
  }

  async begin(order: SoakOrder): Promise<void> {
    await this.#tell(order, "begun");
  }

  /** Ends it; gives the handles that are left. */
  async end(): Promise<readonly string[]> {
    const news = await this.#tell({ order: "end" }, "closed");
    return news?.news === "closed" ? news.handles : ["the process died"];
  }

  kill(): void {
    this.#child.kill("SIGKILL");
  }

  #tell(order: SoakOrder, awaited: SoakNews["news"]): Promise<SoakNews | undefined> {
    return new Promise((resolve) => {
      this.#child.once("exit", () => resolve(undefined));
      this.#child.on("message", (news: SoakNews) => {
        if (news.news === awaited) resolve(news);
      });
      this.#child.send(order);
    });
  }
}

/** Writes the picture, and the series that it shows, a line for each five seconds. */
function show(points: readonly Point[], folder: string, title: string): void {
  mkdirSync(folder, { recursive: true });
  const groups = [...Map.groupBy(points, ({ second }) => Math.floor(second / STEP)).values()];
  const worst = (part: number) => groups.map((group) => Math.max(...group.map((point) => quantileOf(point, part))));
  const most = (what: (point: Point) => number) => groups.map((group) => Math.max(...group.map(what)));
  const [p50, p99] = [worst(0.5), worst(0.99)];
  const [rss, heap] = [most(({ rssBytes }) => rssBytes / 1_048_576), most(({ heapBytes }) => heapBytes / 1_048_576)];
  const handles = most((point) => point.handles);
  const marked = points.flatMap(({ phase, second }): readonly (readonly [number, number])[] => {
    return phase === "failing" ? [[second / points.length, (second + 1) / points.length]] : [];
  });
  const latency = {
    title: "Waiting, each second's worst of five",
    unit: "ms, logarithmic",
    isLogarithmic: true,
  } as const;
  const panels = [
    { ...latency, curves: [curve("p99", "#b22", p99), curve("p50", "#27b", p50)] },
    { title: "Memory", unit: "MB", curves: [curve("resident", "#27b", rss), curve("heap", "#292", heap)] },
    { title: "Open handles", unit: "without timers", curves: [curve("handles", "#27b", handles)] },
  ];
  writeFileSync(join(folder, "soak.svg"), draw(title, points.length, panels, marked));
  const rows = groups.map(([first], at) => {
    const values = [p50, p99, rss, heap, handles].map((list) => Number((list[at] ?? 0).toFixed(2)));
    return [at * STEP, first?.phase ?? "", ...values].join(",");
  });
  writeFileSync(join(folder, "soak.csv"), `second,phase,p50_ms,p99_ms,rss_mb,heap_mb,handles\n${rows.join("\n")}\n`);
}

function curve(name: string, colour: string, values: readonly number[]) {
  return { name, colour, values };
}
