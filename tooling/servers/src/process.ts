// One server process, tied to this one: it dies with it, also when this process is killed with SIGKILL, where the
// system can tie them (Linux: a signal on the parent's death, set by util-linux's setpriv).

import { type ChildProcess, spawn } from "node:child_process";
import { findOnPath } from "./binaries.ts";

/** How to start a server process, and by which line of its output it says that it is ready. */
export interface ProcessPlan {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly ready: RegExp;
  readonly user?: { readonly uid: number; readonly gid: number };
  /** Called when this process exits with the server still running. */
  readonly onExit?: () => void;
}

/** A server process that said it is ready. */
export interface ServerProcess {
  readonly pid: number;
  readonly isRunning: boolean;
  /** Resolves when the process has ended; until then it keeps this process alive, which it otherwise does not. */
  waitForEnd(): Promise<void>;
  /** The last lines it printed. */
  output(): string;
  signal(name: NodeJS.Signals): void;
}

const readyTimeoutMs = 30_000;
const keptOutput = 8_192;

/**
 * Starts the process and waits for its ready line.
 *
 * @throws {Error} when it ended before, or said nothing of the kind within 30 s; the message carries its output.
 */
export async function startProcess(plan: ProcessPlan): Promise<ServerProcess> {
  const setpriv = process.platform === "linux" ? findOnPath("setpriv") : undefined;
  const [command, args] =
    setpriv === undefined
      ? [plan.command, plan.args]
      : [setpriv, ["--pdeathsig", "KILL", "--", plan.command, ...plan.args]];
  const child = spawn(command, args, { cwd: plan.cwd, stdio: ["ignore", "pipe", "pipe"], ...plan.user });
  const started = tie(child, plan.onExit);
  await started.waitForLine(plan.ready, plan.command);
  child.unref();
  return started.server;
}

function tie(child: ChildProcess, onExit: (() => void) | undefined) {
  let output = "";
  let isRunning = true;
  const heard = new Set<() => void>();
  const end = Promise.withResolvers<void>();
  const hear = (): void => {
    for (const listener of [...heard]) listener();
  };
  const atExit = (): void => {
    child.kill("SIGKILL");
    onExit?.();
  };
  const atSignal = (name: NodeJS.Signals): void => {
    atExit();
    // Without another listener the signal would have ended this process: it still has to.
    if (process.listenerCount(name) === 0) process.kill(process.pid, name);
  };
  const leave = (): void => {
    isRunning = false;
    process.off("exit", atExit).off("SIGINT", atSignal).off("SIGTERM", atSignal);
    end.resolve();
    hear();
  };
  // Three listeners a server, and a cluster has six: more than the ten of Node's warning, and none of them is a leak.
  process.setMaxListeners(Math.max(process.getMaxListeners(), 64));
  process.once("exit", atExit).once("SIGINT", atSignal).once("SIGTERM", atSignal);
  child.once("exit", leave).once("error", (error) => {
    output += error.message;
    leave();
  });
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding("utf8").on("data", (text: string) => {
      output = (output + text).slice(-keptOutput);
      hear();
    });
    if (stream !== null && "unref" in stream && typeof stream.unref === "function") stream.unref();
  }
  const server: ServerProcess = {
    pid: child.pid ?? -1,
    get isRunning() {
      return isRunning;
    },
    waitForEnd: () => {
      if (isRunning) child.ref();
      return end.promise;
    },
    output: () => output,
    signal: (name) => {
      if (isRunning) child.kill(name);
    },
  };
  return { server, waitForLine };

  async function waitForLine(ready: RegExp, name: string): Promise<void> {
    const parts = Promise.withResolvers<void>();
    const fail = (what: string) => parts.reject(new Error(`${name} ${what}. It printed:\n${output}`));
    const look = (): void => {
      if (ready.test(output)) parts.resolve();
      else if (!isRunning) fail("ended before it was ready");
    };
    const timer = setTimeout(() => fail(`was not ready within ${readyTimeoutMs} ms`), readyTimeoutMs);
    heard.add(look);
    look();
    try {
      await parts.promise;
    } catch (error) {
      child.kill("SIGKILL");
      throw error;
    } finally {
      heard.delete(look);
      clearTimeout(timer);
    }
  }
}
