// The watch: exact deadlines under an injected clock, and the native timer's effect on the process, seen from a child.

import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { HandClock, turn } from "../../test/hand-clock.ts";
import { type Clock, SystemClock } from "../clock.ts";
import { createWatch, type Watch, Watched } from "./watch.ts";

class Wait extends Watched {
  isOver = false;
  readonly over: Promise<void>;
  #end: () => void = () => undefined;
  constructor() {
    super();
    this.over = new Promise((resolve) => {
      this.#end = resolve;
    });
  }
  override expire(): void {
    this.isOver = true;
    this.#end();
  }
}

function begin(watch: Watch): Wait {
  const wait = new Wait();
  watch.add(wait);
  return wait;
}

describe("a watch under an injected clock", () => {
  test("ends each wait exactly when its time has passed", async () => {
    const clock = new HandClock();
    const watch = createWatch(clock, 100, { keepsAlive: true });
    const first = begin(watch);
    await clock.advance(30);
    const second = begin(watch);
    await clock.advance(69);
    expect([first.isOver, second.isOver]).toEqual([false, false]);
    await clock.advance(1);
    expect([first.isOver, second.isOver]).toEqual([true, false]);
    await clock.advance(30);
    expect(second.isOver).toBe(true);
  });

  test("leaves a removed wait alone, wherever it stood", async () => {
    const clock = new HandClock();
    const watch = createWatch(clock, 100, { keepsAlive: true });
    const waits = [begin(watch), begin(watch), begin(watch), begin(watch)];
    for (const index of [0, 2, 2, 3]) {
      const wait = waits[index];
      if (wait !== undefined) watch.remove(wait);
    }
    await clock.advance(100);
    expect(waits.map((wait) => wait.isOver)).toEqual([false, true, false, false]);
  });

  test("sleeps once for many waits, and not at all when nothing waits any more", async () => {
    const clock = new HandClock();
    const watch = createWatch(clock, 100, { keepsAlive: true });
    for (let count = 0; count < 100; count++) watch.remove(begin(watch));
    const waits = Array.from({ length: 100 }, () => begin(watch));
    expect(clock.sleeps).toEqual([100]);
    for (const wait of waits) watch.remove(wait);
    await turn();
    expect(clock.sleepers).toBe(0);
    const late = begin(watch);
    await clock.advance(100);
    expect(late.isOver).toBe(true);
  });

  test("takes a sleep that ended for time passed, whatever the clock says, and comes to an end", async () => {
    const fixed: Clock = { now: () => 0, sleep: () => Promise.resolve() };
    const watch = createWatch(fixed, 100, { keepsAlive: true });
    await Promise.all([begin(watch).over, begin(watch).over]);
  });
});

describe("a watch under the machine's clock", () => {
  test("ends waits that stay, in their order, and leaves removed ones alone", async () => {
    const watch = createWatch(new SystemClock(), 5, { keepsAlive: true });
    const order: string[] = [];
    const first = begin(watch);
    const removed = begin(watch);
    await turn();
    const second = begin(watch);
    watch.remove(removed);
    first.over.then(() => order.push("first"));
    second.over.then(() => order.push("second"));
    await second.over;
    expect(order).toEqual(["first", "second"]);
    expect(removed.isOver).toBe(false);
    watch.remove(begin(watch));
    await begin(watch).over;
  });
});

const guardUrl = new URL("guard.ts", import.meta.url).href;
const clockUrl = new URL("../clock.ts", import.meta.url).href;
const packageFolder = fileURLToPath(new URL("../..", import.meta.url));

/** Runs a program with a guarded driver `store` (attempts of `timeoutMs`) in a process of its own; gives what it printed. */
function runChild(timeoutMs: number, program: string): Promise<string> {
  const source = `
    import { guardDriver, OperationCall } from ${JSON.stringify(guardUrl)};
    import { SystemClock } from ${JSON.stringify(clockUrl)};
    let get = async () => null;
    const settings = { maxAttempts: 1, attemptTimeoutMs: ${timeoutMs}, queueTimeoutMs: 50, backoffMs: 1, maxQueued: 5 };
    const driver = {
      name: "child", concurrency: 1, working: { get: (...all) => get(...all) },
      isTransient: () => false, isExhausted: () => false, close: async () => undefined,
    };
    const store = guardDriver(driver, { clock: new SystemClock(), entropy: () => 0, settings });
    const read = (signal) => store.working.get({}, new OperationCall({ now: 0, budgetMs: 0, signal }));
    ${program}`;
  const args = ["--disable-warning=ExperimentalWarning", "--input-type=module", "--eval", source];
  return new Promise((resolve, reject) => {
    // An hour's attempt that held the process would end in this limit, and in an error.
    execFile(process.execPath, args, { cwd: packageFolder, timeout: 30_000 }, (error, stdout, stderr) => {
      if (error === null) resolve(stdout.trim() + stderr.trim());
      else reject(new Error(stderr, { cause: error }));
    });
  });
}

describe("a process with a guarded driver", () => {
  test("exits by itself once its operations are settled, long before their timeout", async () => {
    const program = `
      await read();
      get = () => new Promise((resolve) => setTimeout(resolve, 20, null));
      await Promise.all([read(), read()]);
      console.log("settled");`;
    expect(await runChild(3_600_000, program)).toBe("settled");
  });

  test("stays until an operation on a silent peer, and one that queues behind it, have failed", async () => {
    const program = `
      get = () => new Promise(() => undefined);
      for (const attempt of [read(), read()]) attempt.catch((error) => console.log(error.code));`;
    expect(await runChild(200, program)).toBe("POOL_EXHAUSTED\nMEMORY_UNAVAILABLE");
  });

  test("stays for a silent peer also after operations that were answered", async () => {
    const program = `
      get = () => new Promise((resolve) => setTimeout(resolve, 20, null));
      await read();
      get = () => new Promise(() => undefined);
      read().catch((error) => console.log(error.code));`;
    expect(await runChild(300, program)).toBe("MEMORY_UNAVAILABLE");
  });

  test("takes an answer that came in time while the event loop was blocked", async () => {
    const program = `
      import { stat } from "node:fs/promises";
      const block = (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
      const later = (step) => setImmediate(() => setImmediate(step));
      get = () => new Promise((resolve) => later(() => {
        stat(".").then(() => resolve(null));
        block(600);
      }));
      await read();
      console.log("answered");`;
    expect(await runChild(200, program)).toBe("answered");
  });

  test("is not held by attempts that were given up", async () => {
    const program = `
      get = () => new Promise(() => undefined);
      const controller = new AbortController();
      const attempt = read(controller.signal).catch((error) => console.log(error));
      setTimeout(() => controller.abort("given up"), 20);
      await attempt;
      await new Promise((resolve) => setTimeout(resolve, 20));`;
    expect(await runChild(3_600_000, program)).toBe("given up");
  });

  test("hears nothing of many operations under one signal, nor of answers that come late", async () => {
    const program = `
      process.on("unhandledRejection", () => console.log("unhandled"));
      const controller = new AbortController();
      let fail = [];
      get = () => new Promise((_, reject) => fail.push(reject));
      const free = guardDriver({ ...driver, concurrency: Infinity, client: {} }, { clock: new SystemClock(), entropy: () => 0, settings });
      const call = () => new OperationCall({ now: 0, budgetMs: 0, signal: controller.signal });
      const attempts = Array.from({ length: 50 }, () => free.working.get({}, call()).catch((error) => error));
      controller.abort("stop");
      const reasons = new Set(await Promise.all(attempts));
      for (const reject of fail) reject(new Error("late"));
      await new Promise((resolve) => setTimeout(resolve, 20));
      console.log([...reasons].join());`;
    expect(await runChild(3_600_000, program)).toBe("stop");
  });
});
