// The client processes of a run, from outside: started, killed, stopped, told what to do, and listened to. Whatever they
// print is kept.

import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { holdsCanary } from "./canary.ts";
import { monotonicMs, type Recorder } from "./history.ts";
import type { ClientPlan, News, Order, Remains } from "./orders.ts";

const SCRIPT = fileURLToPath(new URL("client.ts", import.meta.url));

/** How long a process may take to end when its stores are closed, in milliseconds. */
const END_MS = 3_000;
/** How long it may take to say what keeps it, in milliseconds. */
const REPORT_MS = 1_000;
const REPORTING = [
  "--report-on-signal",
  "--report-signal=SIGUSR2",
  `--report-directory=${tmpdir()}`,
  "--report-compact",
];

/** Everything about a client but its name and life. */
export type ClientBase = Omit<ClientPlan, "client">;

/** One client of a run, through all of its lives. */
export class CrewMember {
  readonly #name: string;
  readonly #base: ClientBase;
  readonly #record: Recorder;
  #life = 0;
  #process: ChildProcess | undefined;
  #output = "";
  /** It was asked what keeps it, which Node says aloud. */
  #isAsked = false;

  constructor(name: string, base: ClientBase, record: Recorder) {
    this.#name = name;
    this.#base = base;
    this.#record = record;
  }

  /** Starts its process; resolves when it is calling. */
  async begin(): Promise<void> {
    // Only flags of its own: those of a test runner would come along.
    const execArgv = ["--conditions=@memory/source", "--expose-gc", ...REPORTING];
    const child = fork(SCRIPT, { execArgv, silent: true });
    this.#process = child;
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding("utf8").on("data", (text: string) => this.#hear(text));
    }
    const client = `${this.#name}${this.#life}`;
    child.on("exit", (code, signal) => {
      if (this.#process === child && signal !== "SIGKILL" && code !== 0)
        this.#flaw("died", `${client} ended with ${code}`);
    });
    await this.#tell({ order: "begin", plan: { ...this.#base, client } }, "begun");
  }

  /** SIGKILL, and after so long a new life. */
  async kill(ms: number): Promise<void> {
    const child = this.#process;
    if (child === undefined) return;
    this.#record({ line: "killed", at: monotonicMs(), client: `${this.#name}${this.#life}` });
    const gone = exitOf(child);
    child.kill("SIGKILL");
    await gone;
    await new Promise((resolve) => setTimeout(resolve, ms));
    this.#life += 1;
    await this.begin();
  }

  /** SIGSTOP and SIGCONT. */
  signal(name: "SIGSTOP" | "SIGCONT"): void {
    this.#process?.kill(name);
  }

  order(order: Order): void {
    if (this.#process?.connected === true) this.#process.send(order);
  }

  /** Ends its callers; what did not settle is written down. */
  async quiet(): Promise<void> {
    const news = await this.#tell({ order: "stop" }, "quiet");
    for (const id of news?.news === "quiet" ? news.unsettled : []) this.#flaw("unsettled", `${id} did not settle`);
  }

  /** Lets it look at everything; the last look erases it. */
  async audit(isLast: boolean): Promise<void> {
    await this.#tell({ order: "audit", isLast }, "audited");
  }

  /** Closes its stores and ends its process. */
  async close(): Promise<Remains | undefined> {
    const child = this.#process;
    if (child === undefined) return undefined;
    const gone = exitOf(child);
    const news = await this.#tell({ order: "close" }, "closed");
    const timer = setTimeout(async () => {
      this.#isAsked = true;
      this.#flaw("handles", `${this.#name} does not end when its stores are closed: ${await whatHolds(child)}`);
      child.kill("SIGKILL");
    }, END_MS);
    await gone;
    clearTimeout(timer);
    this.#process = undefined;
    return news?.news === "closed" ? news.remains : undefined;
  }

  /** Ends its process, whatever it does. */
  end(): void {
    const child = this.#process;
    this.#process = undefined;
    child?.kill("SIGKILL");
  }

  #tell(order: Order, awaited: News["news"]): Promise<News | undefined> {
    const child = this.#process;
    if (child === undefined || !child.connected) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      const leave = (news: News | undefined): void => {
        child.off("message", hear).off("exit", end);
        resolve(news);
      };
      const hear = (news: News): void => {
        if (news.news === awaited) leave(news);
      };
      const end = (): void => leave(undefined);
      child.on("message", hear).once("exit", end);
      child.send(order);
    });
  }

  #hear(text: string): void {
    const isFirst = this.#output === "" && !this.#isAsked;
    this.#output = (this.#output + text).slice(-4_096);
    if (holdsCanary(this.#base.canary, this.#output)) this.#flaw("leak", `${this.#name} printed the canary`);
    else if (isFirst) this.#flaw("printed", `${this.#name} printed ${JSON.stringify(text.slice(0, 300))}`);
  }

  #flaw(what: string, detail: string): void {
    this.#record({ line: "flaw", at: monotonicMs(), what, detail });
  }
}

// One that died by itself has no exit to come.
async function exitOf(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
}

// The handles that are waited for, from the report that Node writes at a signal.
async function whatHolds(child: ChildProcess): Promise<string> {
  const before = new Set(await reportsOf(child));
  child.kill("SIGUSR2");
  await new Promise((resolve) => setTimeout(resolve, REPORT_MS));
  const [path] = (await reportsOf(child)).filter((one) => !before.has(one));
  if (path === undefined) return "it says nothing";
  try {
    const { libuv }: { libuv: readonly UvHandle[] } = JSON.parse(await readFile(path, "utf8"));
    return libuv
      .filter((one) => one.is_active && one.is_referenced)
      .map(({ type, firesInMsFromNow: ms }) => (ms === undefined ? type : `${type} that fires in ${ms} ms`))
      .join(", ");
  } catch {
    return "what it says cannot be read";
  } finally {
    await rm(path, { force: true });
  }
}

interface UvHandle {
  readonly type: string;
  readonly is_active: boolean;
  readonly is_referenced: boolean;
  readonly firesInMsFromNow?: number;
}

async function reportsOf({ pid }: ChildProcess): Promise<readonly string[]> {
  const names = await readdir(tmpdir());
  return names
    .filter((name) => name.startsWith("report.") && name.includes(`.${pid}.`))
    .map((name) => join(tmpdir(), name));
}
